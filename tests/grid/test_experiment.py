"""What all experiments share: how they are found, what a plan is on disk, what a grid and its settings may be."""

import dataclasses
import json
import re

import numpy as np
import pytest
import torch
from small_grids import HOW, SQUARE, nads_of, orthonormal, plan_of

from pipeline import experiments, settings
from pipeline.grid.experiment import (
    Amplitude,
    AmplitudePerArchitecture,
    Experiment,
    Indices,
    OfDirections,
    Plan,
)
from pipeline.project.errors import InputError

NAMES = ["convergence", "flip", "fourier", "image_pairs", "linear_pairs", "nad_sweep", "poison"]


def test_an_experiment_is_found_by_the_name_of_its_file():
    assert experiments.names() == NAMES
    for name in NAMES:
        found = experiments.find(name)
        assert isinstance(found, Experiment) and found.name == name == type(found).__module__.rpartition(".")[2]


def test_an_unknown_experiment_is_named():
    with pytest.raises(
        InputError, match="the experiment 'cats' is unknown; known are: convergence, flip, fourier, image"
    ):
        experiments.find("cats")
    with pytest.raises(InputError, match=r"'linear_pair' is unknown; did you mean 'linear_pairs'\?"):
        experiments.find("linear_pair")


def test_a_plan_comes_back_from_json_as_it_was(shipped):
    """At every scale, with its tuples and its own kinds of settings and grids."""
    for plans in settings.plans(shipped).values():
        for name, plan in plans.experiments.items():
            document = json.loads(json.dumps(dataclasses.asdict(plan)))
            found = Plan.read(experiments.find(name), document)
            assert found == plan and found.precision == plan.precision


def test_the_precision_of_a_plan_is_that_of_its_networks():
    for precision in ("float32", "bfloat16"):
        how = dataclasses.replace(HOW, precision=precision)
        plan = plan_of("fourier", {"eps": 1.0, "sigma": 3.0}, {"lenet": {"step": 8}, "mlp": {"step": 8}}, how=how)
        assert plan.precision == precision


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Indices(()), "indices is empty; name at least one NAD index"),
        (lambda: Indices((0, 1024)).check((32, 32)), "NAD index 1024 is out of range; indices run from 0 to 1023"),
        (lambda: Indices((0, 48)).check((8, 6)), "NAD index 48 is out of range; indices run from 0 to 47"),
        (lambda: Indices((-1,)).check((32, 32)), "NAD index -1 is out of range"),
        (lambda: Indices((4, 1, 4)).check((32, 32)), "^indices repeat a value, 4$"),
        (lambda: Amplitude(-0.5, 1.0), "^eps must not be negative, not -0.5"),
        (lambda: Amplitude(float("nan"), 1.0), "^eps must not be negative, not nan"),
        (lambda: Amplitude(1.0, 0.0), "^sigma must be positive, not 0.0"),
        (lambda: Amplitude(1.0, float("nan")), "^sigma must be positive, not nan"),
        (lambda: Amplitude(1_000_001.0, 1.0), "^eps must be at most 1,000,000, not 1000001.0"),
        (lambda: Amplitude(1.0, 1_000_001.0), "^sigma must be at most 1,000,000, not 1000001.0"),
        (lambda: AmplitudePerArchitecture(-1.0, {}), "^eps must not be negative"),
        (lambda: AmplitudePerArchitecture(1.0, {"a": 1.0, "lenet": -2.0}), "^sigma.lenet must be positive, not -2.0"),
    ],
)
def test_what_a_grid_and_its_settings_may_not_be(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_what_a_grid_and_its_settings_may_be():
    assert Indices((1023, 0)).last() == 1023 and Indices((3,)).last() == 3
    assert Amplitude(0.0, 1e-6).eps == 0 and Amplitude(1_000_000.0, 1_000_000.0).sigma == 1_000_000
    assert AmplitudePerArchitecture(0.0, {"lenet": 0.1}).sigma == {"lenet": 0.1}


class Waves(OfDirections):
    """An experiment that states as little as it can: one channel, its cells' ε and σ in their own columns."""

    channels = 3
    coordinates = ("index", "other")

    def amplitudes(self, cell):
        return cell["eps"], 2 * cell["eps"], 3 * cell["eps"]


def test_what_an_experiment_does_unless_it_says_otherwise():
    bare = Experiment()
    plan = plan_of(
        "linear_pairs",
        {"eps1": 1.0, "eps2": 0.5, "sigma": 1.0},
        {"lenet": {"indices": (4, 2)}, "mlp": {"indices": (3,)}},
    )
    assert bare.name == "experiment" and bare.check(plan) is None and bare.values(plan, "lenet") == {}
    assert bare.cells(plan) == [
        {"architecture": name, "seed": seed, "index": index} | SQUARE
        for name, indices in (("lenet", (4, 2)), ("mlp", (3,)))
        for seed in (0, 1)
        for index in indices
    ]
    basis = orthonormal()
    directions = bare.directions(plan, nads_of({"secant": basis}))
    assert list(directions) == ["lenet-4", "lenet-2", "mlp-3"] and np.array_equal(directions["lenet-2"], basis[2])
    assert bare.plane({}, {}, []) is None and list(bare.alterations({}, [], torch.zeros(1))) == []
    for missing in (
        lambda: bare.draw(plan, 0, None),
        lambda: bare.dataset({}, "train", {}, []),
        lambda: bare.metrics({}, {}),
    ):
        with pytest.raises(NotImplementedError):
            missing()


def test_every_channel_of_directions_has_its_own_vector_draw_and_amplitude():
    waves, basis = Waves(), orthonormal()
    draw = waves.draw(plan_of("fourier", {"eps": 1.0, "sigma": 3.0}, {"lenet": {"step": 8}}, samples=(6, 4)), 0, None)
    assert draw["train_normal"].shape == (6, 3, 1024) and draw["test_labels"].shape == (4,)
    x, classes = waves.dataset({"eps": 0.5, "sigma": 2.0}, "train", draw, list(basis[[5, 6, 7]]))
    assert classes.tolist() == [int(label > 0) for label in draw["train_labels"]] and classes.dtype == torch.int64
    for channel in range(3):
        along = x[:, channel].flatten(1).double().numpy() @ basis[5 + channel]
        np.testing.assert_allclose(along, 0.5 * (channel + 1) * draw["train_labels"], atol=1e-5)
        noise, drawn = x[:, channel].flatten(1).double().numpy() @ basis[9], draw["train_normal"][:, channel] @ basis[9]
        np.testing.assert_allclose(noise, 2 * drawn, atol=1e-4)
    assert waves.uses({"architecture": "a", "index": 3, "other": 7}) == ["a-3", "a-7"]


def test_names_of_arrays_that_decide_only_the_test_begin_with_test(images):
    """What a cell's key leaves out is what its training set does not depend on."""
    settings_of = {
        "convergence": {"eps": 1.0, "sigma": 0.5},
        "flip": {},
        "fourier": {"eps": 1.0, "sigma": 3.0},
        "image_pairs": {"eps": 1.0, "sigma": {"lenet": 1.0}},
        "linear_pairs": {"eps1": 1.0, "eps2": 0.5, "sigma": 1.0},
        "nad_sweep": {"eps": 1.0, "sigma": {"lenet": 1.0}},
        "poison": {"size": 0.05},
    }
    grids = {
        "convergence": {"step": 16},
        "flip": {},
        "fourier": {"step": 16},
        "poison": {"indices": (3,), "mixture_indices": (3,)},
    }
    basis = orthonormal()
    for name in NAMES:
        experiment = experiments.find(name)
        plan = plan_of(name, settings_of[name], {"lenet": grids.get(name, {"indices": (3,)})}, samples=(8, 4))
        draw = experiment.draw(plan, 0, images)
        trained = {key: array for key, array in draw.items() if not key.startswith("test")}
        directions = experiment.directions(plan, nads_of({"secant": basis}))
        assert any(re.match("train_", key) for key in trained)
        for cell in experiment.cells(plan):
            used = [directions[direction] for direction in experiment.uses(cell)]
            (x, y), (full, same) = (experiment.dataset(cell, "train", arrays, used) for arrays in (trained, draw))
            assert torch.equal(x, full) and torch.equal(y, same) and len(x) == 8
            assert x.shape == (8, experiment.channels, 32, 32) and x.dtype == torch.float32 and y.dtype == torch.int64
