"""`nad_sweep` against paper 1, §4: D(uᵢ) along the network's own NADs, of both estimands."""

import math

import numpy as np
from small_grids import SQUARE, nads_of, orthonormal, plan_of, table

from pipeline import experiments

EXPERIMENT = experiments.find("nad_sweep")
SETTINGS = {"eps": 1.0, "sigma": {"lenet": 1.0, "mlp": 3.0}}
BOTH = ("secant", "gradient")
GRIDS = {"lenet": {"indices": (0, 10)}, "mlp": {"indices": (7,)}}
PLAN = plan_of(
    "nad_sweep",
    SETTINGS,
    {name: grid | {"compare": True} for name, grid in GRIDS.items()},
    estimands=BOTH,
)
COLUMNS = ("architecture", "seed", "estimand", "index", "accuracy", "train_accuracy")
BASES = {"secant": orthonormal(0), "gradient": orthonormal(1)}


def test_the_grid_is_every_index_of_every_estimand_with_each_networks_own_noise():
    expected = [
        ("lenet", s, estimand, index, 1.0) for s in (0, 1) for estimand in BOTH for index in (0, 10)
    ]
    expected += [("mlp", s, estimand, 7, 3.0) for s in (0, 1) for estimand in BOTH]
    cells = EXPERIMENT.cells(PLAN)
    assert cells == [
        dict(zip((*COLUMNS[:4], "sigma"), place)) | {"eps": 1.0} | SQUARE for place in expected
    ]
    directions = EXPERIMENT.directions(PLAN, nads_of(BASES))
    assert len(directions) == 3 * 2 + 2 * 2, "with all eigenvalues of every estimand"
    for cell in cells:
        (name,) = EXPERIMENT.uses(cell)
        assert np.array_equal(directions[name], BASES[cell["estimand"]][cell["index"]])
    alone = plan_of("nad_sweep", SETTINGS, GRIDS, estimands=BOTH)
    assert {cell["estimand"] for cell in EXPERIMENT.cells(alone)} == {"secant"}


def test_metrics():
    """Indices 1 and 2 share an eigenvalue but for rounding, so their order does not count; the
    second of six epochs is early."""
    accuracies = {
        ("lenet", "secant"): {0: 1.01, 1: 0.91, 2: 0.71, 5: 0.51},
        ("lenet", "gradient"): {0: 0.5, 1: 0.5},
        ("densenet", "secant"): {0: 0.98764, 1: 1 / 3},
        ("vgg", "secant"): {0: 0.9, 1: 1.0, 2: 0.5, 5: 0.7},
    }
    rows = [
        (name, s, estimand, i, a + 0.02 * s - 0.01, 1 - 0.004 * i)
        for (name, estimand), found in accuracies.items()
        for s in (0, 1)
        for i, a in found.items()
    ]
    losses = [
        ("lenet", estimand, i, epoch, (0.1 * i if epoch == 2 else -i * epoch) * sign)
        for estimand, sign in (("secant", 1), ("gradient", -1))
        for i in (0, 1, 2, 5)
        for epoch in range(1, 7)
    ]
    eigenvalues = {
        "lenet-secant": [4.0, 2.0, 2.0 + 1e-14, 0.5, 0.4, 0.3],
        "lenet-gradient": [4.0, 2.0],
        "vgg-secant": [6.0, 5.0, 4.0, 3.0, 2.0, 1.0],
        "densenet-secant": [4.0, 2.0],
    }
    tables = {
        "results": table(rows, COLUMNS),
        "losses": table(losses, ("architecture", "estimand", "index", "epoch", "loss")),
    }
    found = EXPERIMENT.metrics(
        tables, {f"{name}-eigenvalues": np.array(values) for name, values in eigenvalues.items()}
    )
    assert [(name, estimand) for name in found for estimand in found[name]] == [*accuracies]
    # Ranks of the eigenvalues 4, 2.5, 2.5, 1 against 4, 3, 2, 1: covariance 4.5/3, variances 4.5/3
    # and 5/3.
    rho = round(math.sqrt(4.5 / 5), 4)
    keys = ("accuracy_index", "accuracy_eigenvalue", "early_loss_index")
    assert found["lenet"]["secant"] == {
        # All but those at index 5, with a training accuracy of 98 %.
        "cells": 8,
        "fitted": 6,
        "first": 1.01,
        "last": 0.51,
        "spearman": dict(zip(keys, (-1.0, rho, 1.0))),
        # One order of 24 and its reverse are as far from none.
        "p_value": dict.fromkeys(keys, 0.083),
    }
    assert found["lenet"]["gradient"]["spearman"] == dict(zip(keys, (None, None, -1.0)))
    assert found["lenet"]["gradient"]["p_value"]["accuracy_index"] is None
    densenet, vgg = found["densenet"]["secant"], found["vgg"]["secant"]
    assert (densenet["first"], densenet["last"]) == (0.9876, 0.3333)
    assert densenet["p_value"]["accuracy_index"] == 1, "of two indices there are but two orders"
    # Ranks 3, 4, 1, 2 against 1, 2, 3, 4; with two degrees of freedom p = 1 − |ρ|.
    assert (vgg["spearman"]["accuracy_index"], vgg["p_value"]["accuracy_index"]) == (-0.6, 0.4)
