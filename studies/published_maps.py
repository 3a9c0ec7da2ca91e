"""LeNet's accuracies on Fourier directions and along its NADs beside the published ones.

    python -m studies.published_maps reports/kept/fourier/lenet/results.csv
    reports/kept/nad_sweep/lenet_as_published/results.csv

Published are LeNet's columns of `pipeline/report/published/`. LeNet's law is the same under
transposition, and under flips, which turn a wave into one that is shifted by a pixel, so accuracies
on Fourier directions are compared at |k_row|, |k_col| in either order, with the mean over all
published runs of such a pair. The published row k_row = 0 lies above its transpose, which that law
does not allow, so it is compared apart.
"""

import argparse
import collections
from collections.abc import Iterable, Iterator
from typing import TypeVar

import numpy as np
import pandas as pd

from pipeline.report import published

SPREAD = 2.4
"""Points by which repeated published runs of LeNet differ on Fourier directions."""

BANDS = (0, 12, 70, 200, 400, 700, 1024)
"""Bounds of the bands of NAD indices over which the two curves are averaged."""

Key = TypeVar("Key")
Row = tuple[Key, list[float], list[float]]
"""A key, our values in per cent, and the published ones."""


def pair(k_row: int, k_col: int) -> tuple[int, int]:
    """The sizes of two frequencies, the smaller one first."""
    return tuple(sorted((abs(k_row), abs(k_col))))


def published_maps() -> tuple[
    dict[tuple[int, int], list[float]], dict[tuple[int, int], list[float]]
]:
    """`pair` → the published runs in per cent: without the row k_row = 0, and in it alone."""
    maps = collections.defaultdict(list), collections.defaultdict(list)
    for cell in published.table("fourier").itertuples():
        maps[cell.k_row == 0][pair(cell.k_row, cell.k_col)].append(cell.lenet)
    return dict(maps[0]), dict(maps[1])


def compared(
    results: pd.DataFrame, keys: Iterable[Key], known: dict[Key, list[float]]
) -> list[Row]:
    """A row for every key that both have; keys: of each row (a training run) of the results."""
    ours = collections.defaultdict(list)
    for key, accuracy in zip(keys, results["accuracy"]):
        ours[key].append(100 * accuracy)
    return [(key, ours[key], known[key]) for key in sorted(ours) if key in known]


def lines(rows: list[Row], name: str) -> Iterator[str]:
    """A Markdown table of `compared` rows, and what it comes to."""
    yield f"| {name} | ours (%) | runs | published (%) | runs | difference |"
    yield "|---|---|---|---|---|---|"
    differences = []
    for key, ours, known in rows:
        differences.append(np.mean(ours) - np.mean(known))
        spreads = [
            f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
            for values in (ours, known)
        ]
        yield (
            f"| {key} | {np.mean(ours):.1f}{spreads[0]} | {len(ours)} | "
            f"{np.mean(known):.1f}{spreads[1]} | {len(known)} | {differences[-1]:+.1f} |"
        )
    runs, beyond = sum(len(ours) for _, ours, _ in rows), np.abs(differences) > 3 * SPREAD
    yield ""
    yield (
        f"{len(rows)} directions, {runs} runs; mean difference {np.mean(differences):+.2f} points, "
        f"root mean square {np.sqrt(np.mean(np.square(differences))):.2f}; by more than "
        f"{3 * SPREAD:.1f} points: {beyond.sum()}"
    )


def in_bands(rows: list[Row]) -> list[Row]:
    """Rows of NAD indices put together in `BANDS`: mean accuracies, and the published ones."""
    bands = collections.defaultdict(lambda: ([], []))
    for index, ours, known in rows:
        first, last = next((a, b - 1) for a, b in zip(BANDS, BANDS[1:]) if a <= index < b)
        bands[first, last][0].append(np.mean(ours))
        bands[first, last][1].append(np.mean(known))
    return [(f"{first}–{last}", *values) for (first, last), values in bands.items()]


def main(fourier: str, sweep: str) -> None:
    """Print the comparisons."""
    results = pd.read_csv(fourier)
    results = results[results["architecture"] == "lenet"]
    keys = [pair(row, column) for row, column in zip(results["k_row"], results["k_col"])]
    usual, odd = published_maps()
    print(
        "\n".join(lines(compared(results, keys, usual), "frequencies, either order and sign")),
        end="\n\n",
    )
    print("\n".join(lines(compared(results, keys, odd), "published row k_row = 0")), end="\n\n")
    results = pd.read_csv(sweep)
    results = results[(results["architecture"] == "lenet") & (results["estimand"] == "secant")]
    curve = published.table("nad_sweep").set_index("index")["lenet"]
    known = {index: [value] for index, value in curve.items()}
    rows = compared(results, results["index"], known)
    print("\n".join(lines(rows, "NAD index")), end="\n\n")
    print("\n".join(lines(in_bands(rows), "NAD indices, means over them")))


if __name__ == "__main__":
    reader = argparse.ArgumentParser(
        "python -m studies.published_maps", description=__doc__.partition("\n")[0]
    )
    reader.add_argument("fourier", help="results.csv of fourier")
    reader.add_argument("sweep", help="results.csv of nad_sweep")
    asked = reader.parse_args()
    main(asked.fourier, asked.sweep)
