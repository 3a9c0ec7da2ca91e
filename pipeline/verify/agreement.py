"""Whether two runs of the same networks agree, as far as training can be repeated at all.

The variance between seeds says so, in a moderated t-test (G. K. Smyth, Statistical Applications in
Genetics and Molecular Biology 3, 2004); docs/trust.md has the formula and how often it is wrong.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import stats

FALSE_ALARMS = 0.005
"""Largest probability that chance alone makes a difference: a third each for cells, means, NADs."""

SIMILAR = 5  # cells that are most like a cell, with itself
FURTHER = 0.1
"""What being of another experiment or architecture adds to the distance of two mean accuracies."""

FREEDOM = 4
"""Degrees of freedom as which the largest of their variances counts beside a cell's own, or as many
as there are other cells. With five the false alarms exceed the rate above
(studies/verdicts.py)."""

MATTERS = 0.01  # smallest difference in accuracy that counts

# Columns that tell apart groups of cells, and cells.
PART = ["experiment", "architecture", "test_set"]
CELL = [*PART, "coordinates"]

MEAN = "mean over cells"  # the coordinates of the mean over all shared cells of a `PART`


def compared(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """The accuracies that two tables of results share, and their means over cells: a row each.

    ours, theirs: columns `CELL`, seed, accuracy, n, and nads, equal where the directions are the
    same. Columns of the result: `CELL`; seeds, seeds_there; difference, ours minus theirs;
    tolerance, beyond which it is no chance, inf where one seed on both sides, or a large spread,
    leaves no such difference; excess, the difference in units of the tolerance.
    """
    shared = ours[CELL].merge(theirs[CELL]).drop_duplicates()
    cells = [run.merge(shared) for run in (ours, theirs)]
    mean = {"accuracy": ("accuracy", "mean"), "n": ("n", "sum"), "nads": ("nads", "first")}
    seeds = [run.groupby([*PART, "seed"], as_index=False).agg(**mean) for run in cells]
    means = [run.assign(coordinates=MEAN) for run in seeds]
    return pd.concat([_judged(*cells), _judged(*means)], ignore_index=True)


def _judged(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    columns = {name: ("accuracy", name) for name in ("mean", "var", "count")}
    columns |= {"n": ("n", "min"), "nads": ("nads", "first")}
    here, there = (run.groupby(CELL).agg(**columns) for run in (ours, theirs))
    accuracy, dof = (here["mean"] + there["mean"]) / 2, here["count"] + there["count"] - 2
    squares = sum(run["var"].fillna(0.0) * (run["count"] - 1) for run in (here, there))
    n = np.minimum(here["n"], there["n"])
    share = (accuracy * n + 0.5) / (n + 1)
    variance = (squares / dof.clip(lower=1)).clip(lower=share * (1 - share) / n)
    freedom = np.clip((dof > 0).sum() - 1, 0, FREEDOM)
    moderated = (freedom * _largest(accuracy, variance, dof) + dof * variance) / (freedom + dof)
    # NADs of other networks are taken to move an accuracy as much as another seed does (a choice).
    factor = 1 / here["count"] + 1 / there["count"] + 2 * (here["nads"] != there["nads"])
    tolerance = _limit(len(dof), freedom + dof) * np.sqrt(factor * moderated)
    tolerance = tolerance.clip(lower=MATTERS).where((dof > 0) & (tolerance < 1), np.inf)
    difference = here["mean"] - there["mean"]
    rows = {"seeds": here["count"], "seeds_there": there["count"], "difference": difference}
    rows |= {"tolerance": tolerance, "excess": difference.abs() / tolerance}
    return pd.DataFrame(rows).reset_index()


def _largest(accuracy: pd.Series, variance: pd.Series, dof: pd.Series) -> np.ndarray:
    """The largest variance of the `SIMILAR` cells most like each cell; one seed tells none."""
    figure = accuracy.groupby(level=["experiment", "architecture"]).ngroup().to_numpy()
    distance = np.abs(np.subtract.outer(accuracy.to_numpy(), accuracy.to_numpy()))
    distance += FURTHER * np.not_equal.outer(figure, figure)
    distance[:, dof == 0] = np.inf
    like = distance.argsort(axis=1, kind="stable")[:, :SIMILAR]
    # Two runs without a cell in common have no variance at all.
    return variance.where(dof > 0, 0.0).to_numpy()[like].max(axis=1, initial=0.0)


def _limit(tests: int, dof: pd.Series) -> np.ndarray:
    """The |t| that chance exceeds in one of so many tests with a third of `FALSE_ALARMS`."""
    return stats.t.isf(FALSE_ALARMS / 3 / max(tests, 1) / 2, dof)


def singular_values(ours: Mapping[str, Mapping], theirs: Mapping[str, Mapping]) -> pd.DataFrame:
    """The first singular values that two runs' nads.json share, compared: a row each of one name,
    estimand and input.

    Columns: name; ratio, ours to theirs; error, the ratio's standard error from half the relative
    errors of C; excess, the ratio's logarithm in units of the largest that chance makes.
    """
    rows = []
    for name in [name for name in ours if name in theirs]:
        pair = ours[name], theirs[name]
        if any(pair[0].get(key) != pair[1].get(key) for key in ("estimand", "input")):
            continue
        ratio = pair[0]["first_singular_value"] / pair[1]["first_singular_value"]
        dof = max(min(nads["networks"] for nads in pair) - 1, 1)
        errors = [nads["relative_error"] for nads in pair]
        # The values are written with four digits.
        rows.append((name, ratio, np.hypot(np.hypot(*errors) / 2, 1e-3), dof))
    values = pd.DataFrame(rows, columns=["name", "ratio", "error", "dof"])
    chance = _limit(len(values), values["dof"]) * values["error"]
    return values.assign(excess=np.log(values["ratio"].astype(float)).abs() / chance)
