"""Whether two runs of the same networks agree, as far as training can be repeated at all.

Training is chaotic: another seed, or another processor, gives other accuracies, and single cells move by many points where others
do not move at all. How much, the seeds of both runs tell. The variance of a cell's accuracy between seeds is taken to come from a
distribution that the cell shares with those most like it (same experiment, same architecture, same mean accuracy): a scaled inverse
χ², whose scale and degrees of freedom follow from their variances. So a difference of two means follows Student's t, with more degrees
of freedom the more alike the cells are. This is the moderated t-test (G. K. Smyth, Statistical Applications in Genetics and Molecular
Biology 3, 2004), but that scale and degrees of freedom are averaged over, not fitted, since the cells are few. Besides single cells,
the means over an architecture's cells are compared, by the same test: their variance is that of the seeds' means, so it counts that
cells of one seed share its data. The probability that two runs which differ by chance alone are said to differ is bounded by
`FALSE_ALARMS` where variances are so distributed; docs/verify.md has what simulated runs give where they are not.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

import numpy as np
import pandas as pd
from pandas.core.groupby import DataFrameGroupBy
from scipy import stats

FALSE_ALARMS = 0.005
"""Probability that two runs which differ by chance alone are said to differ, at most: a third each for cells, means and NADs."""

MATTERS = 0.01
"""Smallest difference in accuracy that counts: no statement here rests on less than a point."""

SIMILAR = 16
"""How many cells tell the spread of another that is like them."""

FURTHER = 0.1
"""How much further off in mean accuracy a cell counts that is of another experiment, and again one of another architecture."""

DIRECTIONS = 1.0
"""Standard deviation of a cell's accuracy between NADs estimated from other networks, in units of that between seeds (choice)."""

DIGITS = 1e-3
"""Relative error of singular values that are written with four digits."""

PART = ["experiment", "architecture", "test_set"]
PLACE = [*PART, "place"]
"""Columns that tell apart the groups of cells whose means are compared, and cells; `place` says where in its grid a cell stands."""

FREEDOM = 2.0 ** np.arange(5)
SCALES = 2.0 ** np.arange(-10, 10.5, 0.5)
"""Degrees of freedom, and scales relative to the median, of the distribution of variances: all equally likely beforehand.

Cells are never taken to be more alike than 16 degrees of freedom make them: variances at their binomial floor look equal.
"""


def cells(ours: pd.DataFrame, theirs: pd.DataFrame, other_nads: Collection[tuple[str, str]] = ()) -> pd.DataFrame:
    """The cells that two tables of results share, one row per cell and test set.

    ours, theirs: columns `PLACE`, seed, accuracy and n; other_nads: (experiment, architecture) whose directions are NADs that the
    two runs estimated from other networks. Columns: `PLACE`; accuracy, mean of both runs; difference, ours minus theirs; seeds,
    seeds_there; variance between seeds, at least `floor`, that of counting n test samples, with `dof` degrees of freedom; factor, of
    the difference's variance in units of it, of which `nads` is the part that other NADs make; unit, 1.
    """
    found = _compared(*(run.groupby(PLACE, sort=False) for run in (ours, theirs)))
    share = (found["accuracy"] * found["n"] + 0.5) / (found["n"] + 1)
    found["floor"] = share * (1 - share) / found["n"]
    found["variance"] = found["variance"].clip(lower=found["floor"])
    found["nads"] = [2 * DIRECTIONS**2 * (place[:2] in other_nads) for place in found.index]
    found["factor"] += found["nads"]
    return found.assign(unit=1.0).reset_index()


def _compared(here: DataFrameGroupBy, there: DataFrameGroupBy) -> pd.DataFrame:
    """Means over the rows of each group of two runs, compared: the columns of `cells` that need no more."""
    sums = {"mean": ("accuracy", "mean"), "var": ("accuracy", "var"), "seeds": ("accuracy", "count"), "n": ("n", "min")}
    both = here.agg(**sums).join(there.agg(**sums), how="inner", suffixes=("", "_there"))
    both = both.fillna({"var": 0.0, "var_there": 0.0})
    dof = both["seeds"] + both["seeds_there"] - 2
    squares = both["var"] * (both["seeds"] - 1) + both["var_there"] * (both["seeds_there"] - 1)
    columns = {
        "accuracy": (both["mean"] + both["mean_there"]) / 2,
        "difference": both["mean"] - both["mean_there"],
        "variance": squares / dof.clip(lower=1),
        "dof": dof,
        "factor": 1 / both["seeds"] + 1 / both["seeds_there"],
        "n": both[["n", "n_there"]].min(axis=1),
    }
    return pd.DataFrame(columns).join(both[["seeds", "seeds_there"]])


def means(ours: pd.DataFrame, theirs: pd.DataFrame, shared: pd.DataFrame) -> pd.DataFrame:
    """The means over the cells of every group (`PART`) of `shared`, what `cells` gives of these tables: a row each, columns as there.

    The variance is that of the seeds' means, so it counts what the cells of a seed have in common; unit is what it would be if they
    had nothing in common. Seeds that lack a cell are left out.
    """
    variances, dof = shared["variance"].to_numpy(), shared["dof"].to_numpy()
    typical = [
        np.average(variances[like], weights=dof[like] if dof[like].any() else None)
        for like in similar(shared, range(len(shared)))
    ]
    groups = shared.assign(typical=typical).groupby(PART, sort=False)
    sizes = groups.size()
    of_seeds = []
    for run in (ours, theirs):
        sums = run.merge(shared[PLACE], on=PLACE).groupby([*PART, "seed"], sort=False)
        seeds = sums.agg(accuracy=("accuracy", "mean"), n=("n", "min"), count=("accuracy", "count")).reset_index("seed")
        of_seeds.append(seeds[seeds["count"] == sizes.reindex(seeds.index)].groupby(PART, sort=False))
    found = _compared(*of_seeds)
    squares = sizes.reindex(found.index) ** 2
    found["floor"], found["unit"] = (
        groups[column].sum().reindex(found.index) / squares for column in ("floor", "typical")
    )
    found["variance"] = found["variance"].clip(lower=found["floor"])
    found["factor"] += groups["nads"].mean().reindex(found.index)
    return found.reset_index()


def similar(rows: pd.DataFrame, positions: Iterable[int]) -> list[np.ndarray]:
    """For each of some rows its own position, then those of at most `SIMILAR` others with several seeds that are most like it."""
    accuracy, known = rows["accuracy"].to_numpy(), np.flatnonzero(rows["dof"] > 0)
    names = [pd.factorize(rows[column])[0] for column in ("experiment", "architecture")]
    found = []
    for position in positions:
        others = known[known != position]
        distance = np.abs(accuracy[others] - accuracy[position])
        for name in names:
            distance += FURTHER * (name[others] != name[position])
        found.append(np.append(position, others[np.argsort(distance, kind="stable")[:SIMILAR]]))
    return found


def chance(difference: float, factor: float, variances: np.ndarray, dof: np.ndarray) -> float:
    """The probability that chance alone makes a difference of means as large as this one.

    variances, dof: between seeds, with their degrees of freedom, of the cell itself and then of cells that are like it; factor: the
    variance of the difference in units of that between seeds. nan where the cell has one seed in both runs: whether it is one of
    those that move by many points, no other cell tells.
    """
    if not dof[0]:
        return float("nan")
    freedom, scale = (grid.ravel() for grid in np.meshgrid(FREEDOM, SCALES * np.median(variances)))
    ratios = variances / scale[:, None]
    likelihood = (stats.f.logpdf(ratios, dof, freedom[:, None]) - np.log(scale)[:, None]).sum(1)
    weights = np.exp(likelihood - likelihood.max())
    pooled = (freedom * scale + dof[0] * variances[0]) / (freedom + dof[0])
    tails = 2 * stats.t.sf(abs(difference) / np.sqrt(factor * pooled), freedom + dof[0])
    return float(weights @ tails / weights.sum())


def chances(rows: pd.DataFrame) -> np.ndarray:
    """`chance` of every row of `cells` or of `means`; 1 for a difference that is smaller than `MATTERS`."""
    spread, difference = _spread(rows), (rows["difference"] / rows["unit"] ** 0.5).to_numpy()
    found, large = np.ones(len(rows)), np.flatnonzero(rows["difference"].abs() >= MATTERS)
    for position, like in zip(large, similar(rows, large)):
        found[position] = chance(difference[position], *spread(like))
    return found


def too_large(chances: np.ndarray) -> np.ndarray:
    """Which of so many differences, by their `chance`, are larger than chance makes any of them: bool, Bonferroni's bound."""
    return chances < FALSE_ALARMS / 3 / max(len(chances), 1)


def tolerance(rows: pd.DataFrame, position: int) -> float:
    """The difference from which on one row of `cells` or of `means` is `too_large`; inf where none between accuracies is."""
    spread, unit = _spread(rows)(similar(rows, [position])[0]), rows["unit"].iloc[position] ** 0.5
    accepted = lambda difference: not too_large(np.full(len(rows), chance(difference / unit, *spread)))[0]
    low, high = MATTERS, 1.0
    if accepted(high):
        return float("inf")
    for _ in range(20):
        low, high = ((low + high) / 2, high) if accepted((low + high) / 2) else (low, (low + high) / 2)
    return high


def _spread(rows: pd.DataFrame) -> Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]]:
    """What `chance` takes besides a difference, from the positions of a row and of those like it."""
    variances, dof, factor = (
        (rows["variance"] / rows["unit"]).to_numpy(),
        rows["dof"].to_numpy(),
        rows["factor"].to_numpy(),
    )
    return lambda like: (factor[like[0]], variances[like], dof[like])


def singular_values(ours: Mapping[str, Mapping], theirs: Mapping[str, Mapping]) -> pd.DataFrame:
    """The first singular values of the estimates that two runs (reports/nads.json) share and know the error of: a row each.

    Columns: name; ratio, ours to theirs; error, its standard error; chance, of a ratio as far from 1. The relative error of C, which
    the files hold, is at least about that of its first eigenvalue, which is the square.
    """
    rows = []
    for name in [name for name in ours if name in theirs]:
        pair = ours[name], theirs[name]
        if None in [one.get("relative_error") for one in pair]:
            continue
        ratio = pair[0]["first_singular_value"] / pair[1]["first_singular_value"]
        error = np.sqrt(sum((one["relative_error"] / 2) ** 2 for one in pair) + DIGITS**2)
        freedom = min(one["networks"] for one in pair) - 1
        rows.append((name, ratio, error, float(2 * stats.t.sf(abs(np.log(ratio)) / error, max(freedom, 1)))))
    return pd.DataFrame(rows, columns=["name", "ratio", "error", "chance"])
