"""How often `pipeline.verify` is wrong: simulated pairs of runs that differ by chance alone, and
pairs of which a part was shifted.

    python -m studies.verdicts [PAIRS]

A run has three panels of 30 cells, tested on 4,000 samples: a third are saturated (99.9 per cent),
a third guess (50 per cent), and a third lie between (60 to 95 per cent) with a standard deviation
of 2 points between seeds, times a log-normal factor.
"""

import sys

import numpy as np
import pandas as pd

from pipeline.verify import agreement

TEST_SAMPLES = 4000
PANELS = (("fourier", "lenet"), ("fourier", "mlp_100_20"), ("linear_pairs", "lenet"))
KINDS = {"saturated": (0.999, 0.0005), "guessing": (0.5, 0.0), "between": (None, 0.02)}
"""Mean accuracy, and standard deviation between seeds besides that of counting, of three kinds of
cells."""

CHANCE = (
    (0.0, (3, 3), 0.0),
    (0.7, (3, 3), 0.0),
    (0.7, (1, 3), 0.0),
    (0.7, (3, 3), 0.7),
    (0.7, (2, 2), 0.0),
)
"""How unlike the cells between are (standard deviation of the factor's logarithm), seeds of both
runs, correlation within a seed."""

SMALL = (1, 2, 3, 5)
"""Numbers of cells between of smaller runs, of one and of two seeds, as unlike as 0.7."""

SHIFTS = {
    "saturated": (-0.02, -0.03),
    "guessing": (0.05, 0.08),
    "between": (-0.15, -0.2, -0.3),
    "panel": (-0.015, -0.02, -0.03),
}
"""By how much one cell is shifted, by its kind, or all cells of a panel but for the saturated."""


def grid(rng: np.random.Generator, unlike: float) -> pd.DataFrame:
    """The cells of a run: columns `agreement.CELL`, mean, and deviation between seeds."""
    rows = []
    for panel in PANELS:
        for number in range(30):
            kind = list(KINDS)[number % len(KINDS)]
            mean, deviation = KINDS[kind]
            if mean is None:
                mean = rng.uniform(0.6, 0.95)
                deviation *= np.exp(unlike * rng.standard_normal())
            rows.append((*panel, "all", f"{kind} {number}", mean, min(deviation, 0.2)))
    return pd.DataFrame(rows, columns=[*agreement.CELL, "mean", "deviation"])


def run(
    rng: np.random.Generator, cells: pd.DataFrame, seeds: int = 3, common: float = 0.0
) -> pd.DataFrame:
    """Results of a run on these cells; common: correlation between the cells of one seed."""
    tables = []
    for seed in range(seeds):
        own, shared = rng.standard_normal(len(cells)), rng.standard_normal()
        errors = np.sqrt(1 - common) * own + np.sqrt(common) * shared
        probability = (cells["mean"] + cells["deviation"] * errors).clip(0, 1)
        accuracy = rng.binomial(TEST_SAMPLES, probability) / TEST_SAMPLES
        tables.append(cells.assign(seed=seed, accuracy=accuracy, n=TEST_SAMPLES, nads=""))
    return pd.concat(tables, ignore_index=True)


def differing(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """The rows of `agreement.compared` that are too far apart to be chance."""
    rows = agreement.compared(ours, theirs)
    return rows[rows["excess"] > 1]


def false_alarms(
    rng: np.random.Generator,
    pairs: int,
    unlike: float,
    seeds: tuple[int, int],
    common: float,
    between: int | None = None,
) -> int:
    """The number of pairs of runs that are said to differ, though by chance alone; between: number
    of their cells, all between chance and saturation, or None for those of `grid`."""
    count = 0
    for _ in range(pairs):
        cells = grid(rng, unlike)
        if between:
            cells = cells[cells["coordinates"].str.startswith("between")].head(between)
        count += len(differing(*(run(rng, cells, some, common) for some in seeds))) > 0
    return count


def shifted(
    rng: np.random.Generator, unlike: float, shift: float, kind: str
) -> tuple[pd.DataFrame, list[str], pd.DataFrame]:
    """A run of which one cell of a kind, or one panel, is shifted; its `CELL`; and another run."""
    cells = grid(rng, unlike)
    if kind == "panel":
        chosen = (cells["experiment"] == PANELS[-1][0]) & (
            cells["deviation"] != KINDS["saturated"][1]
        )
        cell = [*PANELS[-1], "all", agreement.MEAN]
    else:
        high = (cells["mean"] > 0.8) | (kind == "guessing")
        chosen = cells.index == (cells["coordinates"].str.startswith(kind) & high).idxmax()
        cell = cells.loc[chosen, agreement.CELL].iloc[0].tolist()
    return run(rng, cells.assign(mean=cells["mean"] + shift * chosen)), cell, run(rng, cells)


def detections(rng: np.random.Generator, pairs: int, unlike: float, shift: float, kind: str) -> int:
    """The number of pairs of runs, of three seeds each, whose shift of a cell or panel is found."""
    count = 0
    for _ in range(pairs):
        ours, cell, theirs = shifted(rng, unlike, shift, kind)
        count += cell in differing(ours, theirs)[agreement.CELL].values.tolist()
    return count


def main(pairs: int) -> None:
    """Print both rates."""
    for unlike, seeds, common in CHANCE:
        wrong = false_alarms(np.random.default_rng(11), pairs, unlike, seeds, common)
        setting = f"unlike {unlike}, seeds {seeds}, correlation {common}"
        print(f"{setting}: {wrong} of {pairs} differ by chance", flush=True)
    for between in SMALL:
        wrong = false_alarms(np.random.default_rng(13), pairs, 0.7, (1, 2), 0.0, between)
        print(f"of {between} cells, seeds (1, 2): {wrong} of {pairs} differ by chance", flush=True)
    rng, few = np.random.default_rng(12), pairs // 5
    for kind, shift in [(kind, shift) for kind, shifts in SHIFTS.items() for shift in shifts]:
        like, unlike = (detections(rng, few, unlike, shift, kind) for unlike in (0.0, 0.7))
        found = f"found in {like} (unlike 0.0), {unlike} (unlike 0.7) of {few}"
        print(f"{kind} shifted by {shift}: {found}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
