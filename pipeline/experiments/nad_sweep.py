"""`nad_sweep` (paper 1, §4, fig 6): test accuracy on D(uᵢ) along the network's own NADs; does it fall with the index?

Both estimands' NADs are swept where both are estimated (`estimator.compare`), so that one sees which predicts training
better; the training loss of the first epochs tells how fast each direction is learned.
"""

import numpy as np
import torch

from pipeline import datasets
from pipeline.measures.ranks import early, spearman
from pipeline.params import Amplitudes

COORDINATES = ("estimand", "index")
CHANNELS = 1
OUTPUTS = 2
SCHEDULE = "linear"
NEEDS_IMAGES, NEEDS_NADS = False, True

Settings = Amplitudes


def check(params):
    """Raise InputError unless every architecture of the grid has its σ."""
    params.settings.check(params.grid.networks)


def estimands(params, name):
    """The estimands whose NADs of an architecture there are, params.yaml's own first."""
    estimator, source = params.estimator, params.nads[name]
    both = estimator.compare and source.file is None and source.first is None
    return [estimator.estimand, *([estimator.other().estimand] if both else [])]


def cells(params):
    """Rows of the grid: architecture, seed, estimand, index, eps, sigma."""
    return [
        {
            "architecture": name,
            "seed": params.seed + offset,
            "estimand": estimand,
            "index": index,
            "eps": params.settings.eps,
            "sigma": params.settings.sigma[name],
        }
        for name, plan in params.grid.networks.items()
        for offset in range(params.grid.seeds)
        for estimand in estimands(params, name)
        for index in plan.indices
    ]


def directions(params, nads):
    """The NADs at the grid's indices, by '{architecture}-{estimand}-{index}', and all eigenvalues, by '…-eigenvalues'."""
    found = {}
    for name, plan in params.grid.networks.items():
        for estimand in estimands(params, name):
            arrays = nads(name, estimand)
            found |= {f"{name}-{estimand}-{index}": arrays["directions"][index] for index in plan.indices}
            found[f"{name}-{estimand}-eigenvalues"] = arrays["eigenvalues"]
    return found


def uses(cell):
    """uᵢ."""
    return [f"{cell['architecture']}-{cell['estimand']}-{cell['index']}"]


def draw(params, seed, images):
    """Labels (N,) and draws (N, 1, D) of both splits, for one seed; `images` is not used."""
    return datasets.draws(seed, "nad_sweep", params.grid.train_samples, params.grid.test_samples, CHANNELS)


def dataset(cell, split, draw, directions, images):
    """Inputs (N, 1, 32, 32) and class numbers (N,) of a cell's `split`; directions: uᵢ alone, (D,)."""
    y, normal, (v,) = draw[f"{split}_labels"], draw[f"{split}_normal"], directions
    x = datasets.linearly_separable(normal[:, 0], y, v, cell["eps"], cell["sigma"])
    return x, torch.as_tensor(y > 0).long()


def test_sets(cell, draw, directions, images):
    """New samples of the same D(uᵢ)."""
    yield "all", *dataset(cell, "test", draw, directions, images)


def metrics(tables, directions):
    """Per architecture and estimand: accuracies at the ends, and Spearman's ρ of accuracy and of early loss with the index.

    The same with the eigenvalue, which differs where eigenvalues are equal. ρ is null where a quantity does not vary.
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
            "spearman": {key: None if np.isnan(rho) else round(rho, 4) for key, rho in found.items()},
        }
    return summary
