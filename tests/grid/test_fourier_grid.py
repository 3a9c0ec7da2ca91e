"""`fourier` against paper 1, §2: D(v) along every different vector of the Fourier basis."""

import contextlib

import numpy as np
import pytest
from small_grids import plan_of, separable, table

from pipeline import experiments
from pipeline.datasets.fourier import fourier

EXPERIMENT = experiments.find("fourier")
PLAN = plan_of("fourier", {"eps": 1.5, "sigma": 3.0}, {"lenet": {"step": 8}, "logreg": {"step": 16}}, estimands=())


def test_all_grids_steps_have_their_directions():
    plan = plan_of("fourier", {"eps": 1.0, "sigma": 3.0}, {"lenet": {"step": 16}, "logreg": {"step": 8}})
    assert len(EXPERIMENT.directions(plan, None)) == 10


def test_the_data_are_separable_along_the_wave():
    draw = EXPERIMENT.draw(PLAN, 1, None)
    cell = next(cell for cell in EXPERIMENT.cells(PLAN) if (cell["k_row"], cell["k_col"]) == (-8, 8))
    ((name, x, classes),) = EXPERIMENT.test_sets(cell, draw, [fourier(-8, 8)])
    y = draw["test_labels"]
    assert name == "all" and x.shape == (30, 1, 32, 32) and classes.tolist() == [int(label == 1) for label in y]
    expected = separable(draw["test_normal"][:, 0], y, fourier(-8, 8).astype(float), 1.5, 3.0)
    np.testing.assert_allclose(x.flatten(1), expected, atol=5e-5)
    assert EXPERIMENT.plane(cell, draw, []) is None


@pytest.mark.parametrize("step", [0, -2, 3, 32])
def test_a_step_divides_16(step):
    with pytest.raises(ValueError, match="step must divide 16, so that 0 and −16 are in"):
        EXPERIMENT.Grid(step).check((32, 32))


@pytest.mark.parametrize("step", [1, 2, 4, 8, 16])
def test_every_divisor_of_16_is_a_step(step):
    EXPERIMENT.Grid(step).check((32, 32))


@pytest.mark.parametrize(
    ("step", "pixels", "sentence"),
    [
        (16, (64, 48), "step must divide 24, so that 0 and −24 are in"),
        (8, (64, 48), None),
        (32, (64, 64), None),
        (1, (64, 33), "frequencies go up to half of each side, so give it inputs of even sides, not 33"),
    ],
)
def test_a_step_divides_half_of_every_side(step, pixels, sentence):
    with contextlib.nullcontext() if sentence is None else pytest.raises(ValueError, match=sentence):
        EXPERIMENT.Grid(step).check(pixels)


def test_only_square_inputs_can_do_without_transposes():
    EXPERIMENT.Grid(8, transposes=False).check((64, 64))
    with pytest.raises(ValueError, match="only inputs as high as they are wide can do without transposes, not 64×48"):
        EXPERIMENT.Grid(8, transposes=False).check((64, 48))


def test_metrics():
    columns = ("architecture", "seed", "k_row", "k_col", "test_set", "accuracy", "train_accuracy")
    rows = [
        # Of these all are fitted but the second seed at (0, 0).
        ("lenet", seed, k, k_col, "all", a + 0.01 * seed, 0.9899 if seed and not k else 0.99)
        for k, k_col, a in ((0, 0, 0.9), (8, 0, 0.5), (-16, 0, 0.745), (-8, 0, 0.5), (-8, 8, 0.75))
        for seed in (0, 1)
    ]
    # Means over seeds: 0.905, 0.505, 0.75 (not above), 0.505, 0.755.
    rows += [("densenet", 0, k, 0, "all", a, 1.0) for k, a in ((0, 2 / 3), (8, 0.77777), (-8, 0.5))]
    rows.append(("logreg", 0, 0, 0, "all", 1 / 3, 0.5))
    found = EXPERIMENT.metrics({"results": table(rows, columns)}, {})
    assert list(found) == ["lenet", "densenet", "logreg"]
    assert found.pop("densenet") == {
        "cells": 3,
        "fitted": 3,
        "mean": 0.6481,
        "lowest": 0.5,
        "highest": 0.7778,
        "fraction_above_75": 0.3333,
    }
    assert found == {
        "lenet": {
            "cells": 10,
            "fitted": 9,
            "mean": 0.684,
            "lowest": 0.505,
            "highest": 0.905,
            "fraction_above_75": 0.4,
        },
        "logreg": {
            "cells": 1,
            "fitted": 0,
            "mean": 0.3333,
            "lowest": 0.3333,
            "highest": 0.3333,
            "fraction_above_75": 0.0,
        },
    }
