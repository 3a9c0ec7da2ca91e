"""Whether two runs of the same networks agree, as far as training can be repeated at all.

Two means are compared with the variance between seeds by the moderated t-test (G. K. Smyth,
Statistical Applications in Genetics and Molecular Biology 3, 2004). docs/trust.md has the formula
and how often it is wrong.
"""

from collections.abc import Collection, Iterable, Mapping

import numpy as np
import pandas as pd
from pandas.core.groupby import DataFrameGroupBy
from scipy import optimize, stats

FALSE_ALARMS = 0.005
"""Largest probability that chance alone makes a difference: a third each for cells, means, NADs."""

MATTERS = 0.01
"""Smallest difference in accuracy that counts."""

SIMILAR, FURTHER = 16, 0.1
"""How many cells tell the spread of another that is like them; how much further off in accuracy a
cell counts that is of another experiment, and again of another architecture."""

DIRECTIONS = 1.0
"""Standard deviation between NADs of other networks, in units of that between seeds (choice)."""

DIGITS = 1e-3
"""Relative error of singular values that are written with four digits."""

PART = ["experiment", "architecture", "test_set"]
PLACE = [*PART, "place"]
"""Columns that tell apart groups of cells, and cells."""

FREEDOM, SCALES = 2.0 ** np.arange(5), 2.0 ** np.arange(-10, 10.5, 0.5)
"""Degrees of freedom, and scales relative to the median, of the distribution of variances: all are
equally likely beforehand."""


def cells(
    ours: pd.DataFrame, theirs: pd.DataFrame, other_nads: Collection[tuple[str, str]] = ()
) -> pd.DataFrame:
    """The cells that two tables of results share, one row per cell and test set.

    ours, theirs: columns `PLACE`, seed, accuracy, n; other_nads: (experiment, architecture) whose
    NADs the two runs estimated from other networks. The columns of the result: `PLACE`; mean
    accuracy of both runs; difference, ours minus theirs; seeds of ours, seeds_there; variance
    between seeds, at least `floor`, the binomial one, with `dof` degrees of freedom; factor, the
    difference's variance in its units, with `nads`, the part of other NADs; unit, 1.
    """
    rows = _compared(*(run.groupby(PLACE, sort=False) for run in (ours, theirs)))
    share = (rows["accuracy"] * rows["n"] + 0.5) / (rows["n"] + 1)
    rows["floor"] = share * (1 - share) / rows["n"]
    rows["variance"] = rows["variance"].clip(lower=rows["floor"])
    rows["nads"] = [2 * DIRECTIONS**2 * (place[:2] in other_nads) for place in rows.index]
    rows["factor"] += rows["nads"]
    return rows.assign(unit=1.0).reset_index()


def _compared(here: DataFrameGroupBy, there: DataFrameGroupBy) -> pd.DataFrame:
    sums = {name: ("accuracy", name) for name in ("mean", "var", "count")} | {"n": ("n", "min")}
    one, other = here.agg(**sums).align(there.agg(**sums), join="inner", axis=0)
    dof = one["count"] + other["count"] - 2
    squares = sum(run["var"].fillna(0.0) * (run["count"] - 1) for run in (one, other))
    columns = {
        "accuracy": (one["mean"] + other["mean"]) / 2,
        "difference": one["mean"] - other["mean"],
        "variance": squares / dof.clip(lower=1),
        "dof": dof,
        "factor": 1 / one["count"] + 1 / other["count"],
        "n": np.minimum(one["n"], other["n"]),
        "seeds": one["count"],
        "seeds_there": other["count"],
    }
    return pd.DataFrame(columns)


def means(ours: pd.DataFrame, theirs: pd.DataFrame, shared: pd.DataFrame) -> pd.DataFrame:
    """The means over the cells of every group (`PART`) of `shared`, what `cells` gave: as there.

    The variance is that of the seeds' means; unit is what it would be if the cells of a seed had
    nothing in common. Seeds that lack a cell are left out.
    """
    variances, dof = shared["variance"].to_numpy(), shared["dof"].to_numpy()
    typical = [
        np.average(variances[like], weights=dof[like] if dof[like].any() else None)
        for like in similar(shared, range(len(shared)))
    ]
    groups = shared.assign(typical=typical).groupby(PART, sort=False)
    sizes = groups.size()

    def of_seeds(run):
        sums = run.merge(shared[PLACE], on=PLACE).groupby([*PART, "seed"], sort=False)
        seeds = sums.agg(accuracy=("accuracy", "mean"), n=("n", "min"), count=("n", "count"))
        seeds = seeds.reset_index("seed")
        return seeds[seeds["count"] == sizes.reindex(seeds.index)].groupby(PART, sort=False)

    rows = _compared(of_seeds(ours), of_seeds(theirs))
    sums = groups[["floor", "typical"]].sum().reindex(rows.index)
    sums = sums.div(sizes.reindex(rows.index) ** 2, axis=0)
    rows["variance"] = rows["variance"].clip(lower=sums["floor"])
    rows["factor"] += groups["nads"].mean().reindex(rows.index)
    return rows.assign(unit=sums["typical"]).reset_index()


def similar(rows: pd.DataFrame, positions: Iterable[int]) -> list[np.ndarray]:
    """For each of some rows its position, then those of at most `SIMILAR` others most like it."""
    accuracy, known = rows["accuracy"].to_numpy(), np.flatnonzero(rows["dof"] > 0)
    names = [pd.factorize(rows[column])[0] for column in ("experiment", "architecture")]
    like = []
    for position in positions:
        others = known[known != position]
        distance = np.abs(accuracy[others] - accuracy[position])
        for name in names:
            distance += FURTHER * (name[others] != name[position])
        like.append(np.append(position, others[np.argsort(distance, kind="stable")[:SIMILAR]]))
    return like


def chance(difference: float, factor: float, variances: np.ndarray, dof: np.ndarray) -> float:
    """The probability that chance alone makes a difference of means as large as this one.

    variances, dof: between seeds, with their degrees of freedom, of the cell and then of those like
    it; factor: the difference's variance in units of that. NaN of a cell of one seed in both runs.
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


def _chance(rows: pd.DataFrame, like: np.ndarray, difference: float) -> float:
    unit, some = rows["unit"].iloc[like[0]], rows.iloc[like]
    variances, dof = (some["variance"] / some["unit"]).to_numpy(), some["dof"].to_numpy()
    return chance(difference / unit**0.5, some["factor"].iloc[0], variances, dof)


def judged(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the columns chance (1 for a difference below `MATTERS`) and differs."""
    chances, difference = np.ones(len(rows)), rows["difference"].to_numpy()
    for like in similar(rows, np.flatnonzero(np.abs(difference) >= MATTERS)):
        chances[like[0]] = _chance(rows, like, difference[like[0]])
    return rows.assign(chance=chances, differs=too_large(chances))


def too_large(chances: np.ndarray) -> np.ndarray:
    """Which of so many differences are beyond chance (bool), by Bonferroni's bound."""
    return chances < FALSE_ALARMS / 3 / max(len(chances), 1)


def tolerance(rows: pd.DataFrame, position: int) -> float:
    """The difference from which on one row is `too_large`; inf where no difference is."""
    (like,), limit = similar(rows, [position]), FALSE_ALARMS / 3 / len(rows)
    above = lambda difference: _chance(rows, like, difference) - limit
    if not above(1.0) < 0:
        return float("inf")
    return MATTERS if above(MATTERS) < 0 else optimize.brentq(above, MATTERS, 1.0, xtol=1e-6)


def singular_values(ours: Mapping[str, Mapping], theirs: Mapping[str, Mapping]) -> pd.DataFrame:
    """The first singular values that two runs' nads.json share, compared: a row each.

    Columns: name; ratio, ours to theirs; error, its standard error, half that of C; chance.
    """
    rows = []
    for name in [name for name in ours if name in theirs]:
        pair = ours[name], theirs[name]
        if None in [one.get("relative_error") for one in pair]:
            continue
        ratio = pair[0]["first_singular_value"] / pair[1]["first_singular_value"]
        error = np.sqrt(sum((one["relative_error"] / 2) ** 2 for one in pair) + DIGITS**2)
        freedom = max(min(one["networks"] for one in pair) - 1, 1)
        rows.append((name, ratio, error, 2 * stats.t.sf(abs(np.log(ratio)) / error, freedom)))
    return pd.DataFrame(rows, columns=["name", "ratio", "error", "chance"])
