"""Whether two runs of the same networks agree, as far as training can be repeated at all.

Training is chaotic: another seed, or another processor, gives other accuracies, and single cells move by many points where others
do not move at all. How much, the seeds of both runs tell. The variance of a cell's accuracy between seeds is taken to come from a
distribution that the cell shares with those most like it (same experiment, same architecture, same mean accuracy): a scaled inverse
χ², whose scale and degrees of freedom follow from their variances. So a difference of two means follows Student's t, with more degrees
of freedom the more alike the cells are, and something is known of a cell with one seed too. This is the moderated t-test (G. K. Smyth,
Statistical Applications in Genetics and Molecular Biology 3, 2004), but that scale and degrees of freedom are averaged over, not
fitted, since the cells are few. Besides single cells, the means over an architecture's cells are compared, by the same test: their
variance is that of the seeds' means, so it counts that cells of one seed share its data.
"""

import numpy as np
import pandas as pd
from pandas.core.groupby import DataFrameGroupBy
from scipy import stats

FALSE_ALARMS = 0.01
"""Probability, at most, that two runs which differ by chance alone are said to differ anywhere: half for cells, half for means."""

MATTERS = 0.01
"""Smallest difference in accuracy that counts: no statement here rests on less than a point."""

SIMILAR = 32
"""How many cells tell the spread of another that is like them."""

FURTHER = 0.1
"""How much further off in mean accuracy a cell counts that is of another experiment, and again one of another architecture."""

DIRECTIONS = 1.0
"""Standard deviation of a cell's accuracy between NADs that are estimated from other networks, in units of that between seeds."""

PART = ["experiment", "architecture", "test_set"]
"""Columns that tell apart the groups of cells whose means are compared."""

FREEDOM = 2.0 ** np.arange(8)
SCALES = 2.0 ** np.arange(-10, 10.5, 0.5)
"""Degrees of freedom, and scales relative to the median, of the distribution of variances: all equally likely beforehand."""


def cells(ours: pd.DataFrame, theirs: pd.DataFrame, places: list[str], other_nads: dict[str, bool]) -> pd.DataFrame:
    """The cells that two tables of results share, one row per cell and test set.

    ours, theirs: columns accuracy, n, seed and `places`, those that tell cells apart (with `PART`); other_nads: by architecture,
    whether its directions in the two runs are NADs estimated from different networks. Columns: `places`; accuracy, mean of both
    runs; difference, ours minus theirs; seeds, seeds_there; variance between seeds, at least `floor`, that of counting n test
    samples, with `dof` degrees of freedom; factor, of the difference's variance in units of it; unit, 1.
    """
    found = _compared(*(run.groupby(places, sort=False) for run in (ours, theirs)))
    share = (found["accuracy"] * found["n"] + 0.5) / (found["n"] + 1)
    found["floor"] = share * (1 - share) / found["n"]
    found["variance"] = found["variance"].clip(lower=found["floor"])
    names = found.index.get_level_values("architecture")
    found["nads"] = 2 * DIRECTIONS**2 * names.map(other_nads).to_numpy(dtype=float)
    found["factor"] += found["nads"]
    return found.assign(unit=1.0).reset_index()


def _compared(here: DataFrameGroupBy, there: DataFrameGroupBy) -> pd.DataFrame:
    """Means over the rows of each group of two runs, compared: the columns of `cells` that need no more."""
    sums = {"mean": ("accuracy", "mean"), "var": ("accuracy", "var"), "seeds": ("accuracy", "count"), "n": ("n", "min")}
    both = (
        here.agg(**sums).join(there.agg(**sums), how="inner", rsuffix="_there").fillna({"var": 0.0, "var_there": 0.0})
    )
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


def means(ours: pd.DataFrame, theirs: pd.DataFrame, shared: pd.DataFrame, places: list[str]) -> pd.DataFrame:
    """The means over the cells of every group (`PART`) of `shared`, what `cells` gives of these tables: a row each, columns as there.

    The variance is that of the seeds' means, so it counts what the cells of a seed have in common; unit is what it would be if they
    had nothing in common. Seeds that lack a cell are left out.
    """
    variances, dof = shared["variance"].to_numpy(), shared["dof"].to_numpy()
    typical = [np.average(variances[like], weights=dof[like] if dof[like].any() else None) for like in similar(shared)]
    groups = shared.assign(typical=typical).groupby(PART, sort=False)
    sizes = groups.size()
    of_seeds = []
    for run in (ours, theirs):
        sums = run.merge(shared[places], on=places).groupby([*PART, "seed"], sort=False)
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


def similar(rows: pd.DataFrame) -> list[np.ndarray]:
    """For every row its own position, then those of at most `SIMILAR` others with several seeds that are most like it."""
    accuracy, known = rows["accuracy"].to_numpy(), np.flatnonzero(rows["dof"] > 0)
    names = [pd.factorize(rows[column])[0] for column in ("experiment", "architecture")]
    found = []
    for position in range(len(rows)):
        others = known[known != position]
        distance = np.abs(accuracy[others] - accuracy[position])
        for name in names:
            distance += FURTHER * (name[others] != name[position])
        found.append(np.append(position, others[np.argsort(distance, kind="stable")[:SIMILAR]]))
    return found


def chance(difference: float, factor: float, variances: np.ndarray, dof: np.ndarray) -> float:
    """The probability that chance alone makes a difference of means as large as this one; nan where no spread is known.

    variances, dof: between seeds, with their degrees of freedom, of the cell itself (0 degrees where it has one seed) and then of
    cells that are like it; factor: the variance of the difference in units of that between seeds.
    """
    if not dof.any():
        return float("nan")
    known = dof > 0
    freedom, scale = (grid.ravel() for grid in np.meshgrid(FREEDOM, SCALES * np.median(variances[known])))
    ratios = variances[known] / scale[:, None]
    likelihood = (stats.f.logpdf(ratios, dof[known], freedom[:, None]) - np.log(scale)[:, None]).sum(1)
    weights = np.exp(likelihood - likelihood.max())
    pooled = (freedom * scale + dof[0] * variances[0]) / (freedom + dof[0])
    tails = 2 * stats.t.sf(abs(difference) / np.sqrt(factor * pooled), freedom + dof[0])
    return float(weights @ tails / weights.sum())


def chances(rows: pd.DataFrame) -> np.ndarray:
    """`chance` of every row of `cells` or of `means`; 1 for a difference that is smaller than `MATTERS`."""
    variances, dof = (rows["variance"] / rows["unit"]).to_numpy(), rows["dof"].to_numpy()
    difference, factor = (rows["difference"] / rows["unit"] ** 0.5).to_numpy(), rows["factor"].to_numpy()
    return np.array(
        [
            1.0 if small else chance(difference[like[0]], factor[like[0]], variances[like], dof[like])
            for like, small in zip(similar(rows), rows["difference"].abs() < MATTERS)
        ]
    )
