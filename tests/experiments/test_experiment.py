"""What all experiments share: how they are found, what each is, what a plan is on disk, what a grid
and its settings may be."""

import dataclasses
import re

import numpy as np
import pytest
import torch
from small_grids import lay_down_plan, nads_of, orthonormal, plan_of

from pipeline import experiments, settings
from pipeline.experiments.experiment import Experiment, OfDirections
from pipeline.experiments.plan import Amplitude, AmplitudePerArchitecture, Indices, Plan
from pipeline.project.errors import InputError

# Coordinates; channels, outputs and schedule; what it needs; own values and grid of a small plan.
EXPERIMENTS = {
    "convergence": (
        ("k_row", "k_col"), (1, 2, "linear"), (), {"eps": 1.0, "sigma": 0.5}, {"step": 16}
    ),
    "flip": (("images",), (3, None, "triangular"), ("nads", "images", "networks"), {}, {}),
    "fourier": (
        ("k_row", "k_col"), (1, 2, "linear"), (), {"eps": 1.0, "sigma": 3.0}, {"step": 16}
    ),
    "image_pairs": (
        ("index",), (4, 2, "triangular"), ("nads", "images", "networks"),
        {"eps": 1.0, "sigma": {"lenet": 1.0}}, {"indices": (3,)},
    ),
    "linear_pairs": (
        ("index_1", "index_2"), (2, 2, "triangular"), ("nads", "networks"),
        {"eps1": 1.0, "eps2": 0.5, "sigma": 1.0}, {"indices": (3,)},
    ),
    "nad_sweep": (
        ("estimand", "index"), (1, 2, "linear"), ("nads",),
        {"eps": 1.0, "sigma": {"lenet": 1.0}}, {"indices": (3,)},
    ),
    "poison": (
        ("data", "index"), (3, None, "linear"), ("nads", "images"),
        {"size": 0.05}, {"indices": (3,), "mixture_indices": (3,)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_is_found_by_the_name_of_its_file(name):
    assert experiments.names() == list(EXPERIMENTS)
    experiment, (coordinates, shape, needs, *_) = experiments.find(name), EXPERIMENTS[name]
    assert experiment.name == name and experiment.coordinates == coordinates
    assert (experiment.channels, experiment.outputs, experiment.schedule) == shape
    for need in ("nads", "images", "networks"):
        assert getattr(experiment, f"needs_{need}") == (need in needs)
    assert experiment.at_top_level == (name == "linear_pairs")


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


def test_a_plan_comes_back_from_disk_as_it_was(shipped, folder):
    """At every scale, with its tuples and its own kinds of settings and grids."""
    for plans in settings.plans(shipped).values():
        for name, plan in plans.experiments.items():
            lay_down_plan(plan)
            assert Plan.read(experiments.find(name)) == plan


LinearPairs = experiments.find("linear_pairs").Settings
Carriers = experiments.find("poison").Settings


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Indices(()), "indices is empty; name at least one NAD index"),
        (
            lambda: Indices((0, 1024)).check((32, 32)),
            "NAD index 1024 is out of range; indices run from 0 to 1023",
        ),
        (
            lambda: Indices((0, 48)).check((8, 6)),
            "NAD index 48 is out of range; indices run from 0 to 47",
        ),
        (lambda: Indices((-1,)).check((32, 32)), "NAD index -1 is out of range"),
        (lambda: Indices((4, 1, 4)).check((32, 32)), "indices repeat a value$"),
        (lambda: Amplitude(-0.5, 1.0), "eps must not be negative, not -0.5"),
        (lambda: Amplitude(float("nan"), 1.0), "eps must not be negative, not nan"),
        (lambda: Amplitude(1.0, 0.0), "sigma must be positive, not 0.0"),
        (lambda: AmplitudePerArchitecture(-1.0, {}), "eps must not be negative"),
        (
            lambda: AmplitudePerArchitecture(1.0, {"a": 1.0, "lenet": -2.0}),
            "sigma.lenet must be positive, not -2.0",
        ),
        (lambda: LinearPairs(-0.1, 0.5, 1.0), "eps1 must not be negative, not -0.1"),
        (lambda: LinearPairs(1.0, -1.0, 1.0), "eps2 must not be negative, not -1.0"),
        (lambda: LinearPairs(1.0, 0.5, 0.0), "sigma must be positive, not 0.0"),
        (lambda: Carriers(0.0), "size must be positive, not 0.0"),
    ],
)
def test_what_a_grid_and_its_settings_may_not_be(make, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        make()


@pytest.mark.parametrize("name", ["image_pairs", "nad_sweep"])
def test_every_architecture_must_have_its_noise(name):
    experiment, values = experiments.find(name), {"eps": 1.0, "sigma": {"lenet": 1.0}}
    plan = plan_of(name, values, {"lenet": {"indices": (0,)}, "mlp": {"indices": (0,)}})
    with pytest.raises(ValueError, match="sigma has no value for mlp, which the grid trains"):
        experiment.check(plan)
    experiment.check(dataclasses.replace(plan, members={"lenet": plan.members["lenet"]}))


class Waves(OfDirections):
    """Three channels with amplitudes ε, 2ε and 3ε."""

    channels = 3
    coordinates = ("index", "other")

    def amplitudes(self, cell):
        return cell["eps"], 2 * cell["eps"], 3 * cell["eps"]


def test_every_channel_of_directions_has_its_own_vector_draw_and_amplitude():
    waves, basis = Waves(), orthonormal()
    plan = plan_of("fourier", {"eps": 1.0, "sigma": 3.0}, {"lenet": {"step": 8}}, samples=(6, 4))
    draw = waves.draw(plan, 0, None)
    assert draw["train_normal"].shape == (6, 3, 1024) and draw["test_labels"].shape == (4,)
    x, classes = waves.dataset({"eps": 0.5, "sigma": 2.0}, "train", draw, list(basis[[5, 6, 7]]))
    assert classes.tolist() == (draw["train_labels"] > 0).tolist()
    for channel in range(3):
        values = x[:, channel].flatten(1).double().numpy()
        along = 0.5 * (channel + 1) * draw["train_labels"]
        np.testing.assert_allclose(values @ basis[5 + channel], along, atol=1e-5)
        drawn = draw["train_normal"][:, channel] @ basis[9]
        np.testing.assert_allclose(values @ basis[9], 2 * drawn, atol=1e-4)
    assert waves.uses({"architecture": "a", "index": 3, "other": 7}) == ["a-3", "a-7"]


def test_an_experiment_that_says_nothing_has_neither_plane_nor_alterations():
    bare = Experiment()
    assert bare.plane({}, {}, []) is None and list(bare.alterations({}, [], torch.zeros(1))) == []


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_names_of_arrays_that_decide_only_the_test_begin_with_test(name, images):
    """What a cell's key leaves out is what its training set does not depend on."""
    experiment, (*_, values, grid) = experiments.find(name), EXPERIMENTS[name]
    plan = plan_of(name, values, {"lenet": grid}, samples=(8, 4))
    draw = experiment.draw(plan, 0, images)
    trained = {key: array for key, array in draw.items() if not key.startswith("test")}
    directions = experiment.directions(plan, nads_of({"secant": orthonormal()}))
    assert any(re.match("train_", key) for key in trained)
    for cell in experiment.cells(plan):
        used = [directions[direction] for direction in experiment.uses(cell)]
        (x, y), (full, same) = (
            experiment.dataset(cell, "train", arrays, used) for arrays in (trained, draw)
        )
        assert torch.equal(x, full) and torch.equal(y, same)
        assert x.shape == (8, experiment.channels, 32, 32)
        assert x.dtype == torch.float32 and y.dtype == torch.int64
