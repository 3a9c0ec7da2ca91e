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
    sizes = Sizes("secant", 8, 12, 1, samples)
    nads = {"mlp": imported(np.eye(math.prod(shape)), shape)}
    return plan.plan_sweep(estimates, nads, sizes, 0.5)


@pytest.mark.parametrize(("shape", "samples"), [((1, 16, 16), 300), ((3, 8, 8), 1000)])
def test_the_class_means_classify_every_direction_equally_well(shape, samples):
    """They are right with probability Φ(3.13) = 99.9 %, as for paper 1's ε = 1."""
    assert plan.choose_amplitude(1024, 10_000) == pytest.approx(1)
    sweep = sweep_of(shape, samples)
    experiment = experiments.find("nad_sweep")
    cell = experiment.cells(sweep)[0]
    v = np.random.default_rng(0).standard_normal(math.prod(shape), np.float32)
    draw = experiment.draw(sweep, 0, None)
    direction = [v / np.linalg.norm(v)]
    x, y = experiment.dataset(cell, "train", draw, direction)
    mean = (x.flatten(1) * (2 * y - 1)[:, None]).mean(0)
    new, truth = experiment.dataset(cell, "test", draw, direction)
    accuracy = ((new.flatten(1) @ mean > 0) == truth).float().mean()
    assert 0.995 <= accuracy < 1


def test_indices_begin_dense_and_reach_into_the_late_nads():
    indices = plan.choose_indices(1024, 12)
    assert (indices[0], indices[-1], len(indices)) == (0, 1023, 12)
    assert sum(index < 20 for index in indices) >= 3
    assert sum(180 < index < 1023 for index in indices) >= 4
    assert plan.choose_indices(1024, 3)[::2] == (0, 1023)
    assert plan.choose_indices(2, 12) == (0, 1)


@pytest.mark.parametrize("step", [1e-6, 1e-4, 1e-3, 10.0])
def test_the_sizes_fill_the_time_unless_the_least_takes_longer(monkeypatch, step):
    monkeypatch.setattr(plan, "measure_step", lambda *_: step)
    monkeypatch.setattr(plan, "measure_estimate", lambda *_: (step, 0.0))
    monkeypatch.setattr(plan.workers, "slots", lambda device: 1)
    sizes = plan.choose_sizes(SMALL, (1, 8, 8), 1, CPU)
    training = sizes.indices * sizes.seeds * sizes.samples * 7 * step
    if step == 10:
        assert (sizes.estimand, sizes.indices, sizes.seeds) == ("gradient", 3, 1)
    elif step == 1e-6:
        assert (sizes.untrained, sizes.indices, sizes.seeds) == (10_000, 12, 3)
    else:
        assert sizes.untrained == pytest.approx(24 / (2 * 64 * step / 3), abs=1)
        assert 0.8 * 36 < training <= 36
    assert sizes.samples % 128 == 0 and sizes.samples >= 512


def test_what_one_process_does_alone_takes_all_cores(monkeypatch):
    monkeypatch.setattr(plan, "measure_step", lambda *_: 1e-6)
    monkeypatch.setattr(plan, "measure_estimate", lambda *_: (0.1, 0.5))
    monkeypatch.setattr(plan.workers, "slots", lambda device: 64)
    assert plan.choose_sizes(SMALL, (1, 8, 8), 1, CPU).untrained == 48  # in 24 seconds


def test_large_inputs_have_the_first_nads_only_and_small_training_sets(monkeypatch):
    monkeypatch.setattr(plan, "measure_step", lambda *_: 1e-6)
    monkeypatch.setattr(plan, "measure_estimate", lambda *_: (1e-6, 0.0))
    sizes = plan.choose_sizes(SMALL, (3, 224, 224), 10, CPU)
    assert sizes.samples * 3 * 224 * 224 <= plan.VALUES
    estimates = plan.plan_nads(
        SMALL, (3, 224, 224), sizes.estimand, sizes.untrained, {}
    )
    assert (estimates.estimator.method, estimates.members["mlp"].source.first) == (
        "plain",
        100,
    )


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
    before = plan.digest_own_files()
    module.write_text(module.read_text() + "# changed\n")
    changed = [
        name
        for name, digest in plan.digest_own_files().items()
        if digest != before[name]
    ]
    assert changed == ["own/mine.py"]
