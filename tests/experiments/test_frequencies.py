"""`fourier` and `convergence` (paper 1, §2 and fig. 2): D(v) along every different vector of the
Fourier basis."""

import contextlib

import numpy as np
import pandas as pd
import pytest
from small_grids import SQUARE, plan_of, separable, table

from pipeline import experiments
from pipeline.cells.fourier import fourier, frequencies

LINES = {"lenet": {"step": 8}, "logreg": {"step": 16}}


@pytest.fixture(params=["fourier", "convergence"])
def experiment(request):
    return experiments.find(request.param)


def plan_with(experiment, lines=LINES):
    return plan_of(experiment.name, {"eps": 1.5, "sigma": 3.0}, lines, estimands=())


def test_the_grid_is_every_different_frequency(experiment):
    cells = experiment.cells(plan_with(experiment))
    expected = [("lenet", seed, *k) for seed in (0, 1) for k in frequencies(8)]
    expected += [
        ("logreg", seed, *k) for seed in (0, 1) for k in ((-16, -16), (-16, 0), (0, -16), (0, 0))
    ]
    columns = ("architecture", "seed", "k_row", "k_col")
    values = {"eps": 1.5, "sigma": 3.0} | SQUARE
    assert cells == [dict(zip(columns, place)) | values for place in expected]
    directions = experiment.directions(plan_with(experiment), None)
    assert sorted(directions) == sorted(f"32x32_{row}_{column}" for row, column in frequencies(8))
    assert {used for cell in cells for used in experiment.uses(cell)} == set(directions)
    assert np.array_equal(directions["32x32_-8_0"], fourier(-8, 0))


def test_one_of_each_direction_and_its_transpose_can_be_left_out(experiment):
    plan = plan_with(experiment, {"lenet": {"step": 8, "transposes": False}})
    places = [(cell["k_row"], cell["k_col"]) for cell in experiment.cells(plan)]
    assert places == 2 * frequencies(8, transposes=False)


@pytest.mark.parametrize(
    ("stated", "transposes", "fits"),
    [("none", True, True), ("measured", False, False), ("transposition", False, True)],
)
def test_only_networks_that_state_the_symmetry_do_without_transposes(stated, transposes, fits):
    fourier = experiments.find("fourier")
    plan = plan_with(fourier, {"lenet": {"step": 8, "transposes": transposes}})
    sentence = "^lenet has transposes: false, but its class states no symmetry under transposition"
    with contextlib.nullcontext() if fits else pytest.raises(ValueError, match=sentence):
        fourier.check_networks(plan, lambda specification: stated)


@pytest.mark.parametrize(
    ("step", "pixels", "transposes", "sentence"),
    [
        (16, (32, 32), True, None),
        *((step, (32, 32), True, "step must divide 16, so that 0 and −16") for step in (0, 3, 32)),
        (16, (64, 48), True, "step must divide 24, so that 0 and −24 are in"),
        (1, (64, 33), True, "frequencies go up to half of each side, so sides must be even, no"),
        (8, (64, 48), False, "only square inputs can do without transposes, not 64×48"),
    ],
)
def test_what_a_step_may_be(step, pixels, transposes, sentence):
    grid = experiments.find("fourier").Grid(step, transposes)
    with pytest.raises(ValueError, match=sentence) if sentence else contextlib.nullcontext():
        grid.check(pixels)


def test_the_data_are_separable_along_the_wave(experiment):
    plan = plan_with(experiment)
    draw = experiment.draw(plan, 1, None)
    (cell,) = (
        cell
        for cell in experiment.cells(plan)
        if (cell["seed"], cell["k_row"], cell["k_col"]) == (1, -8, 8)
    )
    ((name, x, classes),) = experiment.test_sets(cell, draw, [fourier(-8, 8)])
    y = draw["test_labels"]
    assert name == "all" and x.shape == (30, 1, 32, 32) and classes.tolist() == (y == 1).tolist()
    expected = separable(draw["test_normal"][:, 0], y, fourier(-8, 8).astype(float), 1.5, 3.0)
    np.testing.assert_allclose(x.flatten(1), expected, atol=5e-5)


COLUMNS = ("architecture", "seed", "k_row", "k_col", "test_set", "accuracy", "train_accuracy")


def test_metrics_of_fourier():
    rows = [
        # Of these all are fitted but the second seed at (0, 0).
        ("lenet", seed, k, k_col, "all", a + 0.01 * seed, 0.9899 if seed and not k else 0.99)
        for k, k_col, a in ((0, 0, 0.9), (8, 0, 0.5), (-16, 0, 0.745), (-8, 0, 0.5), (-8, 8, 0.75))
        for seed in (0, 1)
    ]
    # Means over seeds: 0.905, 0.505, 0.75 (not above), 0.505, 0.755.
    rows += [("densenet", 0, k, 0, "all", a, 1.0) for k, a in ((0, 2 / 3), (8, 0.77777), (-8, 0.5))]
    found = experiments.find("fourier").metrics({"results": table(rows, COLUMNS)}, {})
    keys = ("cells", "fitted", "mean", "lowest", "highest", "fraction_above_75")
    assert list(found) == ["lenet", "densenet"]
    assert found == {
        "lenet": dict(zip(keys, (10, 9, 0.684, 0.505, 0.905, 0.4))),
        "densenet": dict(zip(keys, (3, 3, 0.6481, 0.5, 0.7778, 0.3333))),
    }


# As `evaluate` has the column, and as CSV gives it back.
@pytest.mark.parametrize("kind", [pd.Int64Dtype(), float])
def test_metrics_of_convergence(kind):
    steps = {
        (0, 4): (30, 50),
        (8, 0): (100, 101),
        (0, 0): (200, 210),
        (-8, 8): (90, None),
        (-16, 0): (None, None),
    }
    rows = [
        ("lenet", seed, *k, "all", 0.9, 1.0 if found[seed] else 0.5, found[seed])
        for seed in (0, 1)
        for k, found in steps.items()
    ]
    rows += [("logreg", 0, 0, 0, "all", 0.9, 0.98, None), ("mlp", 0, 0, 0, "all", 0.9, 0.99, 7)]
    results = table(rows, (*COLUMNS, "steps")).astype({"steps": kind})
    keys = ("cells", "fitted", "directions", "learned", "fastest", "median", "slowest")
    assert experiments.find("convergence").metrics({"results": results}, {}) == {
        # Means of those that both seeds learned: 40, 100.5, 205.
        "lenet": dict(zip(keys, (10, 7, 5, 3, 40.0, 100.5, 205.0))),
        "logreg": dict(zip(keys, (1, 0, 1, 0, None, None, None))),
        "mlp": dict(zip(keys, (1, 1, 1, 1, 7.0, 7.0, 7.0))),
    }
