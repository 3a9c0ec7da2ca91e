"""What all experiments share: how they are found, what each is, what a plan is on disk, what a grid
and its settings may be."""

import pytest
import torch
from small_grids import SMALL, nads_of, orthonormal, plan_of

from pipeline import experiments
from pipeline.experiments.plan import Amplitude, AmplitudePerArchitecture, Indices
from pipeline.project.errors import InputError


@pytest.mark.parametrize("name", SMALL)
def test_an_experiment_is_found_by_the_name_of_its_file(name):
    assert experiments.names() == list(SMALL) and experiments.find(name).name == name


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("cats", "the experiment 'cats' is unknown; known are: convergence, flip, fourier, image"),
        ("linear_pair", r"'linear_pair' is unknown; did you mean 'linear_pairs'\?"),
    ],
)
def test_an_unknown_experiment_is_named(name, sentence):
    with pytest.raises(InputError, match=sentence):
        experiments.find(name)


LinearPairs = experiments.find("linear_pairs").Settings
Carriers = experiments.find("poison").Settings


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Indices((0, 48)).check((8, 6)), "NAD index 48 is out of range; indices run from"),
        (lambda: Amplitude(float("nan"), 1.0), "eps must not be negative, not nan"),
        (lambda: Amplitude(1.0, 0.0), "sigma must be positive, not 0.0"),
        (lambda: AmplitudePerArchitecture(-1.0, {}), "eps must not be negative"),
        (lambda: AmplitudePerArchitecture(1.0, {"a": -2.0}), "sigma.a must be positive, not -2.0"),
        (lambda: LinearPairs(-0.1, 0.5, 1.0), "eps1 must not be negative, not -0.1"),
        (lambda: Carriers(0.0), "size must be positive, not 0.0"),
    ],
)
def test_what_a_grid_and_its_settings_may_not_be(make, sentence):
    """What tests/test_mistakes.py does not show."""
    with pytest.raises(ValueError, match=f"^{sentence}"):
        make()


@pytest.mark.parametrize("name", SMALL)
def test_names_of_arrays_that_decide_only_the_test_begin_with_test(name, images):
    """What a cell's key leaves out is what its training set does not depend on."""
    experiment, (values, grid) = experiments.find(name), SMALL[name]
    plan = plan_of(name, values, {"lenet": grid}, samples=(8, 4))
    draw = experiment.draw(plan, 0, images)
    trained = {key: array for key, array in draw.items() if not key.startswith("test")}
    directions = experiment.directions(plan, nads_of({"secant": orthonormal()}))
    assert any(key.startswith("train") for key in trained)
    for cell in experiment.cells(plan):
        used = [directions[direction] for direction in experiment.uses(cell)]
        (x, y), (full, same) = (
            experiment.dataset(cell, "train", arrays, used) for arrays in (trained, draw)
        )
        assert torch.equal(x, full) and torch.equal(y, same)
        assert x.shape == (8, experiment.channels, 32, 32)
        assert x.dtype == torch.float32 and y.dtype == torch.int64
