"""The grid over spatial frequencies that `fourier` and `convergence` share: every different vector of the Fourier basis."""

import contextlib

import numpy as np
import pytest
from small_grids import SQUARE, plan_of

from pipeline import experiments
from pipeline.datasets.fourier import fourier, frequencies

NAMES = ("fourier", "convergence")


@pytest.mark.parametrize("name", NAMES)
def test_what_it_is(name):
    experiment = experiments.find(name)
    assert experiment.name == name and experiment.coordinates == ("k_row", "k_col")
    assert (experiment.channels, experiment.outputs, experiment.schedule) == (1, 2, "linear")
    assert (experiment.needs_nads, experiment.needs_images, experiment.at_top_level) == (False, False, False)


@pytest.mark.parametrize("name", NAMES)
def test_the_grid_is_every_different_frequency(name):
    experiment, lines = experiments.find(name), {"lenet": {"step": 8}, "logreg": {"step": 16}}
    plan = plan_of(name, {"eps": 1.5, "sigma": 3.0}, lines, estimands=())
    expected = [("lenet", seed, *k) for seed in (0, 1) for k in frequencies(8)]
    expected += [("logreg", seed, *k) for seed in (0, 1) for k in ((-16, -16), (-16, 0), (0, -16), (0, 0))]
    assert experiment.cells(plan) == [
        {"architecture": architecture, "seed": seed, "k_row": row, "k_col": column, "eps": 1.5, "sigma": 3.0} | SQUARE
        for architecture, seed, row, column in expected
    ]
    directions = experiment.directions(plan, None)
    assert sorted(directions) == sorted(f"32x32_{row}_{column}" for row, column in frequencies(8))
    assert {used for cell in experiment.cells(plan) for used in experiment.uses(cell)} == set(directions)
    assert np.array_equal(directions["32x32_-8_0"], fourier(-8, 0))


@pytest.mark.parametrize("name", NAMES)
def test_one_of_each_direction_and_its_transpose_can_be_left_out(name):
    experiment = experiments.find(name)
    plan = plan_of(name, {"eps": 1.5, "sigma": 3.0}, {"lenet": {"step": 8, "transposes": False}}, estimands=())
    places = [(cell["k_row"], cell["k_col"]) for cell in experiment.cells(plan) if cell["seed"] == 1]
    assert places == frequencies(8, transposes=False)
    directions = experiment.directions(plan, None)
    assert {used for cell in experiment.cells(plan) for used in experiment.uses(cell)} < set(directions)


@pytest.mark.parametrize(
    ("stated", "transposes", "fits"),
    [("none", True, True), ("none", False, False), ("measured", False, False), ("transposition", False, True)],
)
def test_only_networks_that_state_the_symmetry_do_without_transposes(stated, transposes, fits):
    experiment = experiments.find("fourier")
    plan = plan_of("fourier", {"eps": 1.5, "sigma": 3.0}, {"lenet": {"step": 8, "transposes": transposes}})
    sentence = "lenet has transposes: false, but its class states no symmetry under transposition; train both"
    with contextlib.nullcontext() if fits else pytest.raises(ValueError, match=f"^{sentence}$"):
        experiment.check_networks(plan, lambda specification: stated)
