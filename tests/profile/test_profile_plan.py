"""The plan of a profile: how hard its data are, and that its sizes fill the time."""

import math

import numpy as np
import pytest
import torch

from pipeline import experiments, networks
from pipeline.nads import imported
from pipeline.profile import plan
from pipeline.profile.plan import Sizes

CPU = torch.device("cpu")
SMALL = {"mlp": {"network": "pipeline.networks.mlp:MLP", "hidden": [8, 4], "side": 8}}


def sweep_of(shape, samples):
    """The plan of trained networks for inputs of a shape."""
    estimates = plan.plan_nads(SMALL, shape, "secant", 8, {})
    sizes = Sizes("secant", 8, 12, 1, samples, 6)
    nads = {"mlp": imported(np.eye(math.prod(shape)), shape)}
    return plan.plan_sweep(estimates, nads, sizes, 0.5)


@pytest.mark.parametrize(("shape", "samples"), [((1, 16, 16), 300), ((3, 8, 8), 1000)])
def test_the_class_means_classify_every_direction_equally_well(shape, samples):
    """Their accuracy is Φ(3.13) = 99.9 %, as for paper 1's ε = 1."""
    assert plan.choose_amplitude(1024, 10_000) == pytest.approx(1)
    sweep = sweep_of(shape, samples)
    experiment = experiments.find("nad_sweep")
    cell = experiment.cells(sweep)[0]
    v = np.random.default_rng(0).standard_normal(math.prod(shape), np.float32)
    directions = [v / np.linalg.norm(v)]
    draw = experiment.draw_base_noise(sweep, 0, None)
    x, y = experiment.dataset(cell, "train", draw, directions)
    difference = (x.flatten(1) * (2 * y - 1)[:, None]).mean(0)
    x, y = experiment.dataset(cell, "test", draw, directions)
    answers = x.flatten(1) @ difference > 0
    accuracy = (answers == y).float().mean()
    assert 0.995 <= accuracy < 1


def test_indices_begin_dense_and_reach_into_the_late_nads():
    indices = plan.choose_indices(1024, 12)
    assert len(indices) == 12
    assert indices[0] == 0
    assert indices[2] < 20
    assert indices[-5] > 180
    assert indices[-1] == 1023
    assert plan.choose_indices(1024, 3)[::2] == (0, 1023)
    assert plan.choose_indices(2, 12) == (0, 1)


@pytest.fixture
def choose_sizes(monkeypatch):
    """A function that chooses sizes on a machine of given speed.

    It takes the seconds of a training step, a gradient and its addition to the
    estimate, the number of workers, the shape of inputs and the minutes.
    """

    def choose(step, gradient, adding, slots=1, shape=(1, 8, 8), minutes=1):
        monkeypatch.setattr(plan, "measure_step", lambda *_: step)
        monkeypatch.setattr(plan, "measure_estimate", lambda *_: (gradient, adding))
        monkeypatch.setattr(plan.workers, "count_slots", lambda device: slots)
        sizes = plan.choose_sizes(SMALL, shape, minutes, CPU)
        assert sizes.samples % 128 == 0
        return sizes

    return choose


@pytest.mark.parametrize(("step", "indices", "epochs"), [(1e-4, 12, 40), (1e-3, 3, 22)])
def test_the_sizes_fill_the_time(choose_sizes, step, indices, epochs):
    sizes = choose_sizes(step, step, 0.0)
    assert sizes.untrained == pytest.approx(24 / (2 * 64 * step / 3), abs=1)
    networks = sizes.indices * sizes.seeds
    samples = sizes.samples * (sizes.epochs + 1)
    assert 0.8 * 36 < networks * samples * step <= 36
    assert (sizes.indices, sizes.epochs) == (indices, epochs)


def test_a_slow_network_has_the_least_sizes(choose_sizes):
    assert choose_sizes(10.0, 10.0, 0.0) == Sizes("gradient", 8, 3, 1, 512, 6)


def test_a_fast_network_has_the_largest_sizes(choose_sizes):
    sizes = choose_sizes(1e-6, 1e-6, 0.0)
    assert (sizes.untrained, sizes.indices, sizes.seeds) == (10_000, 12, 3)


def test_while_one_process_adds_all_cores_wait(choose_sizes):
    assert choose_sizes(1e-6, 0.1, 0.5, slots=64).untrained == 48  # in 24 seconds


def test_large_inputs_have_the_first_nads_only_and_small_training_sets(choose_sizes):
    shape = (3, 224, 224)
    sizes = choose_sizes(1e-6, 1e-6, 0.0, shape=shape, minutes=10)
    assert sizes.samples * math.prod(shape) <= plan.VALUES
    estimates = plan.plan_nads(SMALL, shape, sizes.estimand, sizes.untrained, {})
    assert estimates.estimator.method == "plain"
    assert estimates.members["mlp"].source.first == 100


def test_a_command_that_runs_again_has_the_same_plan(tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "measure_step", lambda *_: 1e-4)
    file = tmp_path / "plan.json"
    sizes = plan.load_or_choose(file, SMALL, (1, 8, 8), 1, CPU)
    monkeypatch.setattr(plan, "measure_step", lambda *_: 1e-3)
    assert plan.load_or_choose(file, SMALL, (1, 8, 8), 1, CPU) == sizes
    assert plan.load_or_choose(file, SMALL, (1, 8, 8), 2, CPU) != sizes


def test_an_edit_of_ones_own_module_changes_the_keys(repository):
    module = repository / "own/mine.py"
    module.write_text(
        "from torch import nn\n\n\ndef net(c, o):\n    return nn.Linear(c, o)\n"
    )
    networks.constructor("mine:net")
    before = plan.digest_own_files([])
    module.write_text(module.read_text() + "# changed\n")
    after = plan.digest_own_files([])
    assert {name for name in after if after[name] != before[name]} == {"own/mine.py"}
