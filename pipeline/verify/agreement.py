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
"""Number of cells from which the spread of a cell like them is told; and what being of another
experiment, or of another architecture, counts for in a cell's distance in accuracy."""

DIRECTIONS = 1.0
"""Standard deviation of an accuracy between the NADs of two estimates, in units of its standard
deviation between seeds (a choice)."""

DIGITS = 1e-3
"""Relative error of singular values that are written with four digits."""

PART = ["experiment", "architecture", "test_set"]
PLACE = [*PART, "place"]
"""Columns that tell apart groups of cells, and cells."""

FREEDOM, SCALES = 2.0 ** np.arange(5), 2.0 ** np.arange(-10, 10.5, 0.5)
"""Degrees of freedom d₀, and scales s₀² relative to the median variance, of the distribution of
variances: all are equally likely beforehand."""


def cells(
    ours: pd.DataFrame, theirs: pd.DataFrame, other_nads: Collection[tuple[str, str]] = ()
) -> pd.DataFrame:
    """The cells that two tables of results share, one row per cell and test set.

    ours, theirs: columns `PLACE`, seed, accuracy, n; other_nads: (experiment, architecture) whose
    NADs the two runs estimated from other networks. Columns of the result: `PLACE`; accuracy, the
    mean of both runs; difference, ours minus theirs; seeds of our run, and seeds_there; variance
    between seeds, at least `floor`, the binomial one, with `dof` degrees of freedom; factor, the
    difference's variance in units of that, with `nads`, its part for other NADs.
    """
    rows = _compared(*(run.groupby(PLACE, sort=False) for run in (ours, theirs)))
    share = (rows["accuracy"] * rows["n"] + 0.5) / (rows["n"] + 1)
    rows["floor"] = share * (1 - share) / rows["n"]
    rows["variance"] = rows["variance"].clip(lower=rows["floor"])
    rows["nads"] = [2 * DIRECTIONS**2 * (place[:2] in other_nads) for place in rows.index]
    rows["factor"] += rows["nads"]
    return rows.reset_index()


def _compared(here: DataFrameGroupBy, there: DataFrameGroupBy) -> pd.DataFrame:
    columns = {name: ("accuracy", name) for name in ("mean", "var", "count")} | {"n": ("n", "min")}
    a, b = here.agg(**columns).align(there.agg(**columns), join="inner", axis=0)
    dof = a["count"] + b["count"] - 2
    squares = sum(run["var"].fillna(0.0) * (run["count"] - 1) for run in (a, b))
    rows = {
        "accuracy": (a["mean"] + b["mean"]) / 2,
        "difference": a["mean"] - b["mean"],
        "variance": squares / dof.clip(lower=1),
        "dof": dof,
        "factor": 1 / a["count"] + 1 / b["count"],
        "n": np.minimum(a["n"], b["n"]),
        "seeds": a["count"],
        "seeds_there": b["count"],
    }
    return pd.DataFrame(rows)


def means(ours: pd.DataFrame, theirs: pd.DataFrame, shared: pd.DataFrame) -> pd.DataFrame:
    """The means over the cells of every experiment, architecture and test set (`PART`).

    shared: the table of `cells`, whose columns the result has. The variance is that between the
    seeds' means, relative to what it would be if the cells of a seed had nothing in common, and the
    factor is larger by as much, so that the variances of small and large groups are alike. A seed
    that lacks a cell is left out.
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
    sums = groups[["floor", "typical"]].sum().div(sizes**2, axis=0).reindex(rows.index)
    rows["variance"] = rows["variance"].clip(lower=sums["floor"]) / sums["typical"]
    rows["factor"] = (rows["factor"] + groups["nads"].mean()) * sums["typical"]
    return rows.reset_index()


def similar(rows: pd.DataFrame, positions: Iterable[int]) -> list[np.ndarray]:
    """The positions of the rows most like each row at `positions`: its own, then at most `SIMILAR`.

    Rows without a spread, of one seed in both runs, are like no other.
    """
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

    variances, dof: the variances between the seeds of a cell, and then of the cells like it, with
    their degrees of freedom; factor: the difference's variance in units of the cell's. NaN for a
    cell of one seed in both runs.
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
    factor, variances, dof = (rows[name].to_numpy()[like] for name in ("factor", "variance", "dof"))
    return chance(difference, factor[0], variances, dof)


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
    """The difference from which on that of one row is `too_large`; inf where none is."""
    (like,), limit = similar(rows, [position]), FALSE_ALARMS / 3 / len(rows)
    excess = lambda difference: _chance(rows, like, difference) - limit
    if not excess(1.0) < 0:  # NaN, of one seed, is not, either
        return float("inf")
    return MATTERS if excess(MATTERS) < 0 else optimize.brentq(excess, MATTERS, 1.0, xtol=1e-6)


def singular_values(ours: Mapping[str, Mapping], theirs: Mapping[str, Mapping]) -> pd.DataFrame:
    """The first singular values that two runs' nads.json share, compared: a row each.

    Columns: name; ratio, ours to theirs; error, the ratio's standard error from half the relative
    errors of C; chance.
    """
    rows = []
    for name in [name for name in ours if name in theirs]:
        pair = ours[name], theirs[name]
        if None in [nads.get("relative_error") for nads in pair]:
            continue
        ratio = pair[0]["first_singular_value"] / pair[1]["first_singular_value"]
        error = np.sqrt(sum((nads["relative_error"] / 2) ** 2 for nads in pair) + DIGITS**2)
        freedom = max(min(nads["networks"] for nads in pair) - 1, 1)
        rows.append((name, ratio, error, 2 * stats.t.sf(abs(np.log(ratio)) / error, freedom)))
    return pd.DataFrame(rows, columns=["name", "ratio", "error", "chance"])
