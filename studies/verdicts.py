"""How often `pipeline.verify` is wrong, by simulated pairs of runs of one network.

    python -m studies.verdicts [PAIRS]

Some pairs differ by chance alone, and in others some cells were shifted. A run has 30
cells, tested on 4,000 samples: a third are saturated (99.9 per cent), a third are at
chance (50 per cent), and a third are between (60 to 95 per cent) with a standard
deviation of 2 points between seeds, times a log-normal factor.
"""

import sys

import numpy as np
import pandas as pd

from pipeline.verify.agreement import DIFFERS, compare

TEST_SAMPLES = 4000
CELLS = 30
SATURATED = "saturated"
CHANCE = "chance"
BETWEEN = "between"
KINDS = (SATURATED, CHANCE, BETWEEN)

SETTINGS = (
    (0.0, (3, 3), 0.0),
    (0.7, (3, 3), 0.0),
    (0.7, (1, 3), 0.0),
    (0.7, (2, 2), 0.0),
    (0.7, (3, 3), 0.7),
)
"""Spread of the cells' deviations (standard deviation of the factor's logarithm), seeds
of both runs, and correlation between the cells of one seed."""

SHIFTS = (
    (SATURATED, 1, -0.3),
    (SATURATED, 1, -0.5),
    (BETWEEN, 1, -0.2),
    (BETWEEN, 1, -0.3),
    (BETWEEN, 10, -0.05),
    (BETWEEN, 10, -0.1),
)
"""A kind of cells, how many of them are shifted, and by how much."""


def draw_cells(rng: np.random.Generator, spread: float) -> pd.DataFrame:
    """Draw the cells of a network: columns kind, mean, and deviation between seeds."""
    rows = []
    for number in range(CELLS):
        kind = KINDS[number % len(KINDS)]
        if kind == SATURATED:
            rows.append((kind, 0.999, 0.0005))
        elif kind == CHANCE:
            rows.append((kind, 0.5, 0.0))
        else:
            mean = rng.uniform(0.6, 0.95)
            deviation = 0.02 * np.exp(spread * rng.standard_normal())
            rows.append((kind, mean, min(deviation, 0.2)))
    cells = pd.DataFrame(rows, columns=["kind", "mean", "deviation"])
    return cells.assign(coordinates=cells.index.astype(str), test_set="all", nads="")


def draw_run(
    rng: np.random.Generator, cells: pd.DataFrame, seeds: int, correlation: float = 0.0
) -> pd.DataFrame:
    """Draw the results of a run on these cells.

    Args:
        rng: the source of random numbers.
        cells: as `draw_cells` returns them.
        seeds: number of seeds.
        correlation: correlation between the cells of one seed.
    """
    tables = []
    for seed in range(seeds):
        own = rng.standard_normal(len(cells))
        shared = rng.standard_normal()
        errors = np.sqrt(1 - correlation) * own + np.sqrt(correlation) * shared
        probability = (cells["mean"] + cells["deviation"] * errors).clip(0, 1)
        accuracy = rng.binomial(TEST_SAMPLES, probability) / TEST_SAMPLES
        tables.append(cells.assign(seed=seed, accuracy=accuracy, n=TEST_SAMPLES))
    return pd.concat(tables, ignore_index=True)


def shift(cells: pd.DataFrame, kind: str, count: int, by: float) -> pd.DataFrame:
    """Shift the means of the `count` highest cells of a kind."""
    chosen = cells[cells["kind"] == kind].nlargest(count, "mean").index
    shifted = cells.copy()
    shifted.loc[chosen, "mean"] += by
    return shifted


def count_false_alarms(
    rng: np.random.Generator,
    pairs: int,
    spread: float,
    seeds: tuple[int, int],
    correlation: float,
) -> int:
    """Count the pairs of runs that are said to differ by chance alone."""
    count = 0
    for _ in range(pairs):
        cells = draw_cells(rng, spread)
        ours = draw_run(rng, cells, seeds[0], correlation)
        theirs = draw_run(rng, cells, seeds[1], correlation)
        count += compare(ours, theirs).verdict == DIFFERS
    return count


def count_found(
    rng: np.random.Generator,
    pairs: int,
    spread: float,
    kind: str,
    cells: int,
    by: float,
) -> int:
    """Count the pairs of runs of three seeds that are said to differ after a shift."""
    count = 0
    for _ in range(pairs):
        before = draw_cells(rng, spread)
        ours = draw_run(rng, shift(before, kind, cells, by), seeds=3)
        theirs = draw_run(rng, before, seeds=3)
        count += compare(ours, theirs).verdict == DIFFERS
    return count


def main(pairs: int) -> None:
    """Print both rates."""
    for spread, seeds, correlation in SETTINGS:
        rng = np.random.default_rng(11)
        wrong = count_false_alarms(rng, pairs, spread, seeds, correlation)
        setting = f"spread {spread}, seeds {seeds}, correlation {correlation}"
        print(f"{setting}: {wrong} of {pairs} differ by chance", flush=True)
    few = pairs // 5
    for kind, cells, by in SHIFTS:
        for spread in (0.0, 0.7):
            found = count_found(np.random.default_rng(12), few, spread, kind, cells, by)
            shifted = f"spread {spread}, {cells} cells {kind} shifted by {by}"
            print(f"{shifted}: found in {found} of {few}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
