"""Whether two runs of one network agree within the spread of training between seeds.

docs/trust.md states the rule, and how often it is wrong.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

AGREES = "agrees"
DIFFERS = "differs"
UNJUDGED = "not judged"

FALSE_ALARMS = 0.001
"""Probability with which chance alone may make a network differ in one experiment."""

MATTERS = 0.01  # differences in accuracy below one point never count

LOST = 0.5
"""What an accuracy loses if a network does not learn a cell: from 100 % to chance, 50
%.

Runs are judged only if the loss of one cell would exceed the tolerance.
"""

CELL = ["test_set", "coordinates"]
"""The columns that tell the cells of one network apart."""


@dataclasses.dataclass(frozen=True)
class Agreement:
    """How one network's accuracies in one experiment compare between two runs.

    Attributes:
        cells: One row for each cell that both runs have, indexed by `CELL`, with the
            columns difference (ours minus theirs), seeds and seeds_there.
        rms: Root mean square of the differences.
        tolerance: The largest rms that chance makes, infinite if no cell has two seeds
            in one run.
    """

    cells: pd.DataFrame
    rms: float
    tolerance: float

    @property
    def is_equal(self) -> bool:
        """Whether no difference is large enough to count, whatever the seeds say."""
        return bool(self.cells["difference"].abs().max() < MATTERS)

    @property
    def verdict(self) -> str:
        """Whether the runs agree; not judged if the seeds differ too much to tell."""
        if self.is_equal:
            return AGREES
        if self.rms > self.tolerance:
            return DIFFERS
        if self.tolerance < LOST / np.sqrt(len(self.cells)):
            return AGREES
        return UNJUDGED


def compare(ours: pd.DataFrame, theirs: pd.DataFrame) -> Agreement:
    """Compare the accuracies of one network in one experiment between two runs.

    Args:
        ours: Results of our run, with the columns of `CELL`, seed, accuracy, n (number
            of test samples) and nads (equal where the directions are the same).
        theirs: Results of the other run.
    """
    cells = _summarise(ours).join(_summarise(theirs).add_suffix("_there"), how="inner")
    cells["difference"] = cells["mean"] - cells["mean_there"]
    rms = float(np.sqrt((cells["difference"] ** 2).mean()))
    return Agreement(cells, rms, _tolerance(cells))


def _summarise(results: pd.DataFrame) -> pd.DataFrame:
    return results.groupby(CELL).agg(
        mean=("accuracy", "mean"),
        variance=("accuracy", "var"),
        seeds=("accuracy", "count"),
        n=("n", "min"),
        nads=("nads", "first"),
    )


def _tolerance(cells: pd.DataFrame) -> float:
    """The rms difference that chance exceeds with probability `FALSE_ALARMS`.

    The variance between seeds is pooled over the cells. A few cells often make most of
    it, so its degrees of freedom are counted by the Welch–Satterthwaite formula.
    """
    repeated = cells[cells["seeds"] + cells["seeds_there"] > 2]
    if repeated.empty:
        return np.inf
    variance, freedom = _pool_variance(repeated)
    total_freedom = variance.sum() ** 2 / (variance**2 / freedom).sum()
    limit = stats.t.isf(FALSE_ALARMS / 2, total_freedom)

    # NADs of other networks are assumed to move an accuracy as another seed does.
    other_nads = 2 * (cells["nads"] != cells["nads_there"])
    factor = 1 / cells["seeds"] + 1 / cells["seeds_there"] + other_nads
    return float(limit * np.sqrt(factor.mean() * variance.mean()))


def _pool_variance(cells: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """The variance between seeds, pooled over both runs, and its degrees of freedom."""
    freedom = cells["seeds"] - 1
    freedom_there = cells["seeds_there"] - 1
    squares = (freedom * cells["variance"]).fillna(0)
    squares_there = (freedom_there * cells["variance_there"]).fillna(0)
    freedom = freedom + freedom_there
    # Seeds can agree by luck. No variance is below that of counting n test samples.
    n = cells[["n", "n_there"]].min(axis=1)
    share = (cells["mean"] + cells["mean_there"]) / 2
    share = (n * share + 0.5) / (n + 1)
    binomial = share * (1 - share) / n
    variance = (squares + squares_there) / freedom
    return variance.clip(lower=binomial), freedom


SIGMAS = 4
"""Standard errors beyond which two first singular values differ.

Chance exceeds them in one of 16,000 comparisons.
"""


def compare_singular_values(
    ours: Mapping[str, Mapping[str, Any]], theirs: Mapping[str, Mapping[str, Any]]
) -> pd.DataFrame:
    """Compare the first singular values of the NADs that two runs share.

    NADs are compared if they have the same name, estimand and input.

    Args:
        ours: The contents of our nads.json, by architecture.
        theirs: The contents of the other run's nads.json.

    Returns:
        One row for each name, with the columns ratio (ours to theirs), error (the
        standard error of its logarithm) and sigmas (the logarithm in standard errors).
    """
    rows = {}
    for name in sorted(ours.keys() & theirs.keys()):
        here = ours[name]
        there = theirs[name]
        if here.get("estimand") != there.get("estimand"):
            continue
        if here.get("input") != there.get("input"):
            continue
        ratio = here["first_singular_value"] / there["first_singular_value"]
        # A singular value is the root of an eigenvalue.
        sampling = np.hypot(here["relative_error"], there["relative_error"]) / 2
        error = np.hypot(sampling, 1e-3)  # both values are written with four digits
        rows[name] = (ratio, error, abs(np.log(ratio)) / error)
    columns = ["ratio", "error", "sigmas"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)
