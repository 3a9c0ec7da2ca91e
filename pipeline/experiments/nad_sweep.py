"""`nad_sweep` (paper 1, §4, fig 6): test accuracy on D(uᵢ) along the network's own NADs; does it fall with the index?

Both estimands' NADs are swept where both are estimated (`estimator.compare`), so that one sees which predicts training
better; the training loss of the first epochs tells how fast each direction is learned.
"""

import numpy as np

from pipeline.grid.experiment import AmplitudePerArchitecture, OfDirections, check_every_noise
from pipeline.measures.ranks import early, spearman


class NADSweep(OfDirections):
    """One linearly separable channel along single NADs."""

    coordinates = ("estimand", "index")
    schedule = "linear"
    Settings = AmplitudePerArchitecture

    def check(self, plan):
        """Every architecture has its σ."""
        check_every_noise(plan)

    def places(self, member):
        """Every index of every estimand."""
        for estimand in member.estimands:
            for index in member.grid.indices:
                yield {"estimand": estimand, "index": index}

    def values(self, plan, architecture):
        """ε and the architecture's σ."""
        return {"eps": plan.settings.eps, "sigma": plan.settings.sigma[architecture]}

    def directions(self, plan, nads):
        """The NADs at the grid's indices, by '{architecture}-{estimand}-{index}', and all eigenvalues, by '…-eigenvalues'."""
        found = {}
        for name, member in plan.members.items():
            for estimand in member.estimands:
                arrays = nads(name, estimand)
                for index in member.grid.indices:
                    found[f"{name}-{estimand}-{index}"] = arrays["directions"][index]
                found[f"{name}-{estimand}-eigenvalues"] = arrays["eigenvalues"]
        return found

    def uses(self, cell):
        """uᵢ."""
        return [f"{cell['architecture']}-{cell['estimand']}-{cell['index']}"]

    def metrics(self, tables, directions):
        """Per estimand: accuracies at the ends, and Spearman's ρ of accuracy and of early loss with the index.

        The same with the eigenvalue, which differs where eigenvalues are equal. `p_value` is that of no correlation. Both are
        null where a quantity does not vary.
        """
        summary, losses = {}, early(tables["losses"])
        for (name, estimand), rows in tables["results"].groupby(["architecture", "estimand"], sort=False):
            accuracy = rows.groupby("index")["accuracy"].mean()
            mine = losses[(losses["architecture"] == name) & (losses["estimand"] == estimand)]
            loss = mine.groupby("index")["loss"].mean()
            # Equal but for rounding, as the pairs that a symmetry exchanges are, is equal.
            values = np.round(directions[f"{name}-{estimand}-eigenvalues"], 12)[accuracy.index]
            found = {
                "accuracy_index": spearman(accuracy.index, accuracy),
                "accuracy_eigenvalue": spearman(values, accuracy),
                "early_loss_index": spearman(loss.index, loss),
            }
            summary.setdefault(name, {})[estimand] = {
                "first": round(float(accuracy.iloc[0]), 4),
                "last": round(float(accuracy.iloc[-1]), 4),
                "spearman": {key: None if np.isnan(rho) else round(rho, 4) for key, (rho, _) in found.items()},
                "p_value": {key: None if np.isnan(p) else float(f"{p:.2g}") for key, (_, p) in found.items()},
            }
        return summary
