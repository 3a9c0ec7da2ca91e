"""How often `pipeline.verify` is wrong: simulated pairs of runs that differ by chance alone, and
pairs of which a part was shifted.

    python -m benchmarks.verdicts [PAIRS]

A run has three panels of 30 cells, tested on 4,000 samples: a third are saturated (99.9 per cent),
a third guess (50 per cent), and a third lie between (60 to 95 per cent) with a standard deviation
of 2 points between seeds, times a log-normal factor.
"""

import sys

import numpy as np
import pandas as pd

from pipeline.verify import agreement

TEST_SAMPLES = 4000
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

SHIFTS = {"saturated": (-0.02, -0.03), "guessing": (0.05, 0.08), "between": (-0.15, -0.2, -0.3)}
"""By how much one cell is shifted, by its kind."""

SHIFTED_PANEL = (-0.015, -0.02, -0.03)
"""By how much the cells of one panel are shifted, but for the saturated."""


def grid(rng: np.random.Generator, unlike: float) -> pd.DataFrame:
    """The cells of a run: columns `agreement.PLACE`, mean, and deviation between seeds."""
    rows = []
    for panel in (("fourier", "lenet"), ("fourier", "mlp_100_20"), ("linear_pairs", "lenet")):
        for number in range(30):
            kind = list(KINDS)[number % len(KINDS)]
            mean, deviation = KINDS[kind]
            if mean is None:
                mean, deviation = (
                    rng.uniform(0.6, 0.95),
                    deviation * np.exp(unlike * rng.standard_normal()),
                )
            rows.append((*panel, "all", f"{kind} {number}", mean, min(deviation, 0.2)))
    return pd.DataFrame(rows, columns=[*agreement.PLACE, "mean", "deviation"])


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
        tables.append(cells.assign(seed=seed, accuracy=accuracy, n=TEST_SAMPLES))
    return pd.concat(tables, ignore_index=True)


def differing(ours: pd.DataFrame, theirs: pd.DataFrame) -> list[pd.DataFrame]:
    """The cells, and the means, that are too far apart to be chance."""
    cells = agreement.cells(ours, theirs)
    tables = cells, agreement.means(ours, theirs, cells)
    return [rows[rows["differs"]] for rows in map(agreement.judged, tables)]


def false_alarms(
    rng: np.random.Generator, pairs: int, unlike: float, seeds: tuple[int, int], common: float
) -> int:
    """The number of pairs of runs that are said to differ, though by chance alone."""
    count = 0
    for _ in range(pairs):
        cells = grid(rng, unlike)
        count += any(map(len, differing(*(run(rng, cells, some, common) for some in seeds))))
    return count


def shifted(
    rng: np.random.Generator, unlike: float, shift: float, kind: str | None
) -> tuple[pd.DataFrame, pd.Series]:
    """Cells, one of them shifted, and which one that is, bool.

    kind: the shifted cell's; None: all cells of one panel are shifted but for the saturated.
    """
    cells = grid(rng, unlike)
    if kind is None:
        chosen = (cells["experiment"] == "linear_pairs") & ~cells["place"].str.startswith(
            "saturated"
        )
    else:
        chosen = cells["place"].str.startswith(kind) & (
            (cells["mean"] > 0.8) | (kind == "guessing")
        )
        chosen &= cells.index == chosen.idxmax()
    return cells.assign(shifted=cells["mean"] + shift * chosen), chosen


def detections(
    rng: np.random.Generator, pairs: int, unlike: float, shift: float, kind: str | None
) -> int:
    """The number of pairs of runs, of three seeds each, whose shift of a cell or panel is found."""
    count = 0
    for _ in range(pairs):
        cells, chosen = shifted(rng, unlike, shift, kind)
        rows = differing(run(rng, cells.assign(mean=cells["shifted"])), run(rng, cells))[
            kind is None
        ]
        columns = agreement.PART if kind is None else agreement.PLACE
        count += len(rows.merge(cells.loc[chosen, columns].drop_duplicates(), on=columns)) > 0
    return count


def main(pairs: int) -> None:
    """Print both rates."""
    for unlike, seeds, common in CHANCE:
        wrong = false_alarms(np.random.default_rng(11), pairs, unlike, seeds, common)
        setting = f"unlike {unlike}, seeds {seeds}, correlation {common}"
        print(f"{setting}: {wrong} of {pairs} differ by chance", flush=True)
    rng = np.random.default_rng(12)
    cases = [(kind, shift) for kind, shifts in SHIFTS.items() for shift in shifts] + [
        (None, s) for s in SHIFTED_PANEL
    ]
    for kind, shift in cases:
        rates = [
            f"{detections(rng, pairs // 5, unlike, shift, kind)} (unlike {unlike})"
            for unlike in (0.0, 0.7)
        ]
        print(
            f"{kind or 'panel'} shifted by {shift}: found in {', '.join(rates)} of {pairs // 5}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
