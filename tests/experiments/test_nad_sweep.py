"""`nad_sweep` against paper 1, §4: D(uᵢ) along the network's own NADs, of both estimands."""

import math

import numpy as np
import pytest
from small_grids import SQUARE, nads_of, orthonormal, plan_of, separable, table

from pipeline import experiments

EXPERIMENT = experiments.find("nad_sweep")
SETTINGS = {"eps": 1.0, "sigma": {"lenet": 1.0, "mlp": 3.0}}
BOTH = ("secant", "gradient")
PLAN = plan_of(
    "nad_sweep", SETTINGS, {"lenet": {"indices": (0, 10)}, "mlp": {"indices": (7,)}}, estimands=BOTH
)
COLUMNS = ("architecture", "seed", "estimand", "index", "test_set", "accuracy", "train_accuracy")
BASES = {"secant": orthonormal(0), "gradient": orthonormal(1)}


def test_the_grid_is_every_index_of_every_estimand_with_each_networks_own_noise():
    expected = [
        ("lenet", s, estimand, index, 1.0) for s in (0, 1) for estimand in BOTH for index in (0, 10)
    ]
    expected += [("mlp", s, estimand, 7, 3.0) for s in (0, 1) for estimand in BOTH]
    assert EXPERIMENT.cells(PLAN) == [
        dict(zip((*COLUMNS[:4], "sigma"), place)) | {"eps": 1.0} | SQUARE for place in expected
    ]
    alone = plan_of("nad_sweep", SETTINGS, {"lenet": {"indices": (0, 10)}}, estimands=("gradient",))
    assert {cell["estimand"] for cell in EXPERIMENT.cells(alone)} == {"gradient"}


@pytest.mark.parametrize("number", [1, 3, 9])
def test_the_data_are_separable_along_the_cells_nad(number):
    cell = EXPERIMENT.cells(PLAN)[number]
    directions, draw = EXPERIMENT.directions(PLAN, nads_of(BASES)), EXPERIMENT.draw(PLAN, 0, None)
    assert len(directions) == 3 * 2 + 2 * 2, "with all eigenvalues of every estimand"
    used = [directions[name] for name in EXPERIMENT.uses(cell)]
    x, classes = EXPERIMENT.dataset(cell, "train", draw, used)
    y, v = draw["train_labels"], BASES[cell["estimand"]][cell["index"]]
    expected = separable(draw["train_normal"][:, 0], y, v, 1.0, cell["sigma"])
    np.testing.assert_allclose(x.flatten(1), expected, atol=3e-5)
    assert classes.tolist() == [int(label == 1) for label in y]


def test_metrics():
    """Indices 1 and 2 share an eigenvalue but for rounding, so their order does not count; the
    second of six epochs is early."""
    accuracy = {0: 1.0, 1: 0.9, 2: 0.7, 5: 0.5}
    rows = [
        ("lenet", s, "secant", i, "all", a + 0.02 * s, 1 - 0.004 * i)
        for s in (0, 1)
        for i, a in accuracy.items()
    ]
    rows += [("densenet", 0, "secant", i, "all", a, 1.0) for i, a in ((0, 0.98764), (1, 1 / 3))]
    rows += [
        ("vgg", 0, "secant", i, "all", a, 1.0) for i, a in ((0, 0.9), (1, 1.0), (2, 0.5), (5, 0.7))
    ]
    rows += [("lenet", 0, "gradient", i, "all", a, 0.5) for i, a in ((0, 0.5), (1, 0.5))]
    losses = [
        ("lenet", 0, estimand, i, epoch, (0.1 * i if epoch == 2 else -i * epoch) * sign)
        for estimand, sign in (("secant", 1), ("gradient", -1))
        for i in (0, 1, 2, 5)
        for epoch in range(1, 7)
    ]
    directions = {
        "lenet-secant-eigenvalues": np.array([4.0, 2.0, 2.0 + 1e-14, 0.5, 0.4, 0.3]),
        "lenet-gradient-eigenvalues": np.array([4.0, 2.0]),
        "vgg-secant-eigenvalues": np.array([6.0, 5.0, 4.0, 3.0, 2.0, 1.0]),
        "densenet-secant-eigenvalues": np.array([4.0, 2.0]),
    }
    losses = table(losses, ("architecture", "seed", "estimand", "index", "epoch", "loss"))
    found = EXPERIMENT.metrics({"results": table(rows, COLUMNS), "losses": losses}, directions)
    assert [(name, list(values)) for name, values in found.items()] == [
        ("lenet", ["secant", "gradient"]),
        ("densenet", ["secant"]),
        ("vgg", ["secant"]),
    ]
    assert (found["densenet"]["secant"]["first"], found["densenet"]["secant"]["last"]) == (
        0.9876,
        0.3333,
    )
    # Of two indices there are but two orders, one as far from none as the other.
    assert found["densenet"]["secant"]["p_value"]["accuracy_index"] == 1
    # Ranks 3, 4, 1, 2 against 1, 2, 3, 4; with two degrees of freedom p = 1 − |ρ|.
    assert found["vgg"]["secant"]["spearman"]["accuracy_index"] == -0.6
    assert found["vgg"]["secant"]["p_value"]["accuracy_index"] == 0.4
    # Ranks of the eigenvalues 4, 2.5, 2.5, 1 against 4, 3, 2, 1: covariance 4.5/3, variances 4.5/3
    # and 5/3.
    rho = math.sqrt(4.5 / 5)
    assert found["lenet"]["secant"] == {
        # All but those at index 5, with a training accuracy of 98 %.
        "cells": 8,
        "fitted": 6,
        "first": 1.01,
        "last": 0.51,
        "spearman": {
            "accuracy_index": -1.0,
            "accuracy_eigenvalue": round(rho, 4),
            "early_loss_index": 1.0,
        },
        "p_value": {
            # One order of 24 and its reverse are as far from none.
            "accuracy_index": 0.083,
            "accuracy_eigenvalue": 0.083,
            "early_loss_index": 0.083,
        },
    }
    assert (found["lenet"]["gradient"]["cells"], found["lenet"]["gradient"]["fitted"]) == (2, 0)
    assert found["lenet"]["gradient"]["spearman"] == {
        "accuracy_index": None,
        "accuracy_eigenvalue": None,
        "early_loss_index": -1.0,
    }
    assert found["lenet"]["gradient"]["p_value"]["accuracy_index"] is None
