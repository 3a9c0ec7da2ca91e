"""`nad_sweep` (paper 1, §4, fig 6): test accuracy on D(uᵢ) along the network's own NADs.

Where both estimands' NADs are estimated (`estimator.compare`), both are swept: which of the two
predicts training better? The loss of the first epochs tells how fast each direction is learned.
"""

import dataclasses
import math

import numpy as np

from pipeline.experiments.experiment import OfDirections
from pipeline.experiments.plan import AmplitudePerArchitecture, Indices
from pipeline.measures.fitted import counts
from pipeline.measures.ranks import early, spearman


@dataclasses.dataclass(frozen=True)
class Sweep(Indices):
    """The indices of one architecture; compare: whether the other estimand's NADs are swept too."""

    compare: bool = False


def swept(member):
    """The estimands whose NADs are swept, the chosen one first."""
    return member.estimands if member.grid.compare else member.estimands[:1]


class NADSweep(OfDirections):
    """D(u) along single NADs u, of one channel or of colour."""

    coordinates = ("estimand", "index")
    colours = (1, 3)
    schedule = "linear"
    Settings = AmplitudePerArchitecture
    Grid = Sweep

    def places(self, member):
        """Every index of every estimand."""
        for estimand in swept(member):
            for index in member.grid.indices:
                yield {"estimand": estimand, "index": index}

    def directions(self, plan, nads):
        """NADs by '{architecture}-{estimand}-{index}', and all eigenvalues, by '…-eigenvalues'."""
        vectors = {}
        for name, member in plan.members.items():
            for estimand in swept(member):
                arrays = nads(name, estimand)
                for index in member.grid.indices:
                    vectors[f"{name}-{estimand}-{index}"] = arrays["directions"][index]
                vectors[f"{name}-{estimand}-eigenvalues"] = arrays["eigenvalues"]
        return vectors

    def uses(self, cell):
        """The name of uᵢ."""
        return [f"{cell['architecture']}-{cell['estimand']}-{cell['index']}"]

    def summary(self, tables, directions):
        """By estimand: counts of cells, accuracies at the first and last index, and Spearman's ρ.

        ρ is taken of accuracy and early loss with the index. `p_value` is the probability of such
        a ρ without correlation. Both are null where a quantity does not vary. ρ is over all cells.
        """
        found = {}
        for estimand, rows in tables["results"].groupby("estimand", sort=False):
            accuracy = rows.groupby("index")["accuracy"].mean()
            losses = early(tables["losses"])
            loss = losses[losses["estimand"] == estimand].groupby("index")["loss"].mean()
            correlations = {
                "accuracy_index": spearman(accuracy.index, accuracy),
                "early_loss_index": spearman(loss.index, loss),
            }
            found[estimand] = counts(rows) | {
                "first": round(float(accuracy.iloc[0]), 4),
                "last": round(float(accuracy.iloc[-1]), 4),
                "spearman": {
                    key: None if np.isnan(rho) else round(rho, 4)
                    for key, (rho, _) in correlations.items()
                },
                "p_value": {
                    key: _p_value(rho, p, len(accuracy)) for key, (rho, p) in correlations.items()
                },
            }
        return found


def _p_value(rho: float, p: float, count: int) -> float | None:
    """The p-value of Spearman's ρ over `count` indices to two digits; None where there is no ρ.

    p: from Student's distribution, which ignores that few indices have few orders. Of the `count`!
    orders at least two, an order and its reverse, are as extreme as any, so 2/`count`! is the
    smallest p-value.
    """
    if np.isnan(rho):
        return None
    return float(f"{np.fmax(p, min(1, 2 / math.factorial(count))):.2g}")
