"""LeNet's accuracies on Fourier directions and along its NADs beside the published ones, cell by cell.

    python -m benchmarks.published_maps reports/fourier/results.csv reports/nad_sweep/results.csv

Published are the values of LeNet at multiples of 4 in the authors' table (column acc_ln of docs/data/dft_accuracies.csv in the
repository LTS4/neural-anisotropy-directions, its coordinates x, y standing for the frequencies 2(x − 8), 2(y − 8)), and
the curve of paper 1's fig. 6. That table is mirrored in x, so only |x − 8| counts; y and its opposite were trained apart, and
their difference shows how much runs differ. LeNet's law is the same under flips and transposition, so ours are compared at
|k_row|, |k_col|, with the published mean over signs.
"""

import argparse
import collections
from collections.abc import Iterable, Iterator
from typing import TypeVar

import numpy as np
import pandas as pd

from pipeline.report.published import curve

SPREAD = 2.4
"""Points by which repeated published runs of LeNet differ."""

MAP = {
    0: {-16: 51.13, -12: 77.45, -8: 50.41, -4: 81.02, 0: 72.46, 4: 79.43, 8: 50.06, 12: 75.23},
    4: {-16: 50.18, -12: 61.65, -8: 50.17, -4: 69.34, 0: 78.84, 4: 68.16, 8: 51.05, 12: 56.91},
    8: {-16: 51.00, -12: 50.95, -8: 50.91, -4: 50.12, 0: 50.46, 4: 50.24, 8: 50.36, 12: 50.23},
    12: {-16: 50.82, -12: 49.99, -8: 50.76, -4: 53.89, 0: 74.85, 4: 62.35, 8: 50.28, 12: 49.85},
    16: {-16: 50.27, -12: 49.66, -8: 50.79, -4: 50.01, 0: 49.61, 4: 50.67, 8: 50.65, 12: 50.12},
}
"""|k_row| → k_col → published accuracy of LeNet in per cent."""

Key = TypeVar("Key")
Row = tuple[Key, list[float], list[float]]
"""A key, our values in per cent, and the published ones."""


def published_map() -> dict[tuple[int, int], list[float]]:
    """{|k_row|, |k_col|} (as a sorted pair) → the published runs, in per cent."""
    runs = collections.defaultdict(list)
    for row, values in MAP.items():
        for column, value in values.items():
            runs[tuple(sorted((row, abs(column))))].append(value)
    return dict(runs)


def compared(results: pd.DataFrame, keys: Iterable[Key], published: dict[Key, list[float]]) -> list[Row]:
    """A row for every key that both have.

    results: one row per training run; keys: the key of each row.
    """
    ours = collections.defaultdict(list)
    for key, accuracy in zip(keys, results["accuracy"]):
        ours[key].append(100 * accuracy)
    return [(key, ours[key], published[key]) for key in sorted(ours) if key in published]


def lines(rows: list[Row], name: str) -> Iterator[str]:
    """A Markdown table of `compared` rows, and what it comes to."""
    yield f"| {name} | ours (%) | runs | published (%) | runs | difference | ÷ {SPREAD} |"
    yield "|---|---|---|---|---|---|---|"
    differences = []
    for key, ours, published in rows:
        differences.append(np.mean(ours) - np.mean(published))
        spreads = [f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else "" for values in (ours, published)]
        yield (
            f"| {key} | {np.mean(ours):.1f}{spreads[0]} | {len(ours)} | {np.mean(published):.1f}{spreads[1]} "
            f"| {len(published)} | {differences[-1]:+.1f} | {abs(differences[-1]) / SPREAD:.1f} |"
        )
    runs, beyond = sum(len(ours) for _, ours, _ in rows), np.abs(differences) > 3 * SPREAD
    yield ""
    yield (
        f"{runs} runs; mean difference {np.mean(differences):+.2f} points, root mean square "
        f"{np.sqrt(np.mean(np.square(differences))):.2f}; beyond three times the spread: {beyond.sum()} of {len(rows)}"
    )


def main(fourier: str, sweep: str) -> None:
    """Print both comparisons."""
    results = pd.read_csv(fourier)
    results = results[results["architecture"] == "lenet"]
    keys = [tuple(sorted((abs(row), abs(column)))) for row, column in zip(results["k_row"], results["k_col"])]
    print("\n".join(lines(compared(results, keys, published_map()), "|frequencies|")), end="\n\n")
    results = pd.read_csv(sweep)
    results = results[(results["architecture"] == "lenet") & (results["estimand"] == "secant")]
    published = {index: [value] for index, value in curve("nad_sweep", "lenet").items()}
    print("\n".join(lines(compared(results, results["index"], published), "NAD index")))


if __name__ == "__main__":
    reader = argparse.ArgumentParser("python -m benchmarks.published_maps", description=__doc__.partition("\n")[0])
    reader.add_argument("fourier", help="results.csv of fourier")
    reader.add_argument("sweep", help="results.csv of nad_sweep")
    asked = reader.parse_args()
    main(asked.fourier, asked.sweep)
