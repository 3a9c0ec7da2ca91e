"""`convergence` against paper 1, fig. 2: D(v) along every different vector of the Fourier basis, and how soon it is learned."""

import numpy as np
import pandas as pd
from small_grids import plan_of, separable, table

from pipeline import experiments
from pipeline.datasets.fourier import fourier

EXPERIMENT = experiments.find("convergence")
PLAN = plan_of("convergence", {"eps": 1.5, "sigma": 0.5}, {"lenet": {"step": 8}, "logreg": {"step": 16}}, estimands=())


def test_directions_are_those_of_fourier_and_draws_are_its_own():
    other = experiments.find("fourier")
    plan = plan_of("fourier", {"eps": 1.5, "sigma": 0.5}, {"lenet": {"step": 8}, "logreg": {"step": 16}}, estimands=())
    ours, theirs = EXPERIMENT.directions(PLAN, None), other.directions(plan, None)
    assert ours.keys() == theirs.keys() and all(np.array_equal(ours[name], theirs[name]) for name in ours)
    assert [EXPERIMENT.uses(cell) for cell in EXPERIMENT.cells(PLAN)] == [other.uses(c) for c in other.cells(plan)]
    assert abs(np.corrcoef(*(e.draw(PLAN, 0, None)["train_normal"].ravel() for e in (EXPERIMENT, other)))[0, 1]) < 0.05


def test_the_data_are_separable_along_the_wave():
    draw = EXPERIMENT.draw(PLAN, 1, None)
    cell = next(cell for cell in EXPERIMENT.cells(PLAN) if (cell["k_row"], cell["k_col"]) == (-8, 8))
    x, classes = EXPERIMENT.dataset(cell, "train", draw, [fourier(-8, 8)])
    y = draw["train_labels"]
    assert x.shape == (50, 1, 32, 32) and classes.tolist() == [int(label == 1) for label in y]
    expected = separable(draw["train_normal"][:, 0], y, fourier(-8, 8).astype(float), 1.5, 0.5)
    np.testing.assert_allclose(x.flatten(1), expected, atol=2e-5)


def test_metrics():
    columns = ("architecture", "seed", "k_row", "k_col", "test_set", "accuracy", "train_accuracy", "steps")
    steps = {(0, 4): (30, 50), (8, 0): (100, 101), (0, 0): (200, 210), (-8, 8): (90, None), (-16, 0): (None, None)}
    rows = [
        ("lenet", seed, *k, "all", 0.9, 1.0 if found[seed] else 0.5, found[seed])
        for seed in (0, 1)
        for k, found in steps.items()
    ]
    rows += [("logreg", 0, 0, 0, "all", 0.9, 0.98, None), ("mlp", 0, 0, 0, "all", 0.9, 0.99, 7)]
    # As `evaluate` has the column, and as CSV gives it back.
    for kind in (pd.Int64Dtype(), float):
        found = EXPERIMENT.metrics({"results": table(rows, columns).astype({"steps": kind})}, {})
        assert list(found) == ["lenet", "logreg", "mlp"]
        # Means of those that both seeds learned: 40, 100.5, 205.
        assert found == {
            "lenet": {
                "cells": 10,
                "fitted": 7,
                "directions": 5,
                "learned": 3,
                "fastest": 40.0,
                "median": 100.5,
                "slowest": 205.0,
            },
            "logreg": {
                "cells": 1,
                "fitted": 0,
                "directions": 1,
                "learned": 0,
                "fastest": None,
                "median": None,
                "slowest": None,
            },
            "mlp": {
                "cells": 1,
                "fitted": 1,
                "directions": 1,
                "learned": 1,
                "fastest": 7.0,
                "median": 7.0,
                "slowest": 7.0,
            },
        }
