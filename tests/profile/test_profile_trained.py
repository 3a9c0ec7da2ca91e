"""Networks trained along directions of any shape: how hard their data are, what a worker makes, how
many there are, when it ends."""

import dataclasses
import time

import numpy as np
import pytest
import torch

from pipeline.cells.training import Diverged
from pipeline.profile import trained
from pipeline.profile.trained import Course, amplitude, dataset, outcomes, sizes

LINEAR = {"network": "pipeline.networks.mlp:MLP", "hidden": [6], "side": 4}
COURSE = Course(LINEAR, (2, 4, 4), 256, 128, 0.5, "cpu")
PIXELS = {f"pixel {index}": row for index, row in enumerate(np.eye(32, dtype=np.float32)[:4])}


@pytest.mark.parametrize(("shape", "samples"), [((1, 16, 16), 300), ((3, 8, 8), 1000)])
def test_the_difference_of_the_classes_means_finds_every_direction_equally_well(shape, samples):
    """Right with probability Φ(ε²√(n/(D − 1))/σ²) = Φ(3.13) = 99.9 %, whatever D, n and v; ε = 1 at
    10,000 samples of 1024 values."""
    assert amplitude(1024, 10_000) == pytest.approx(1)
    v = np.random.default_rng(0).standard_normal(int(np.prod(shape)), np.float32)
    course = Course({}, shape, samples, 4000, 0.5, "cpu")
    data = [dataset(course, v / np.linalg.norm(v), 0, split) for split in ("train", "test")]
    (x, y), (new, truth) = data
    mean = (x.flatten(1) * (2 * y - 1)[:, None]).mean(0)
    assert 0.995 <= ((new.flatten(1) @ mean > 0) == truth).float().mean() < 1


def test_a_dataset_has_the_shape_of_the_inputs_and_nothing_but_the_class_along_v():
    course, v = dataclasses.replace(COURSE, shape=(2, 4, 8)), np.eye(64, dtype=np.float32)[11]
    (x, y), (new, _), (other, _) = (
        dataset(course, v, *which) for which in ((0, "train"), (0, "test"), (1, "train"))
    )
    assert x.shape == (256, 2, 4, 8) and y.shape == (256,) and set(y.tolist()) == {0, 1}
    torch.testing.assert_close(x.flatten(1)[:, 11], amplitude(64, 256) * (2.0 * y - 1))
    assert new.shape == (128, 2, 4, 8) and not torch.equal(new, x[:128])
    assert not torch.equal(other, x)


def test_the_sizes_fill_the_time_and_no_training_set_fills_the_memory():
    assert sizes(1024, 1e-3, 10 * 60.0, 2) == (10_000, 4_000)
    assert sizes(1024, 1e-3, 10 * 30 + 0.01, 2) == (5_000, 4_000)
    assert sizes(1024, 1.0, -1.0, 2) == (400, 4_000)
    assert sizes(3 * 224 * 224, 1e-6, 1e6, 2) == (444, 445)
    of_many_cores, _ = sizes(1024, 1e-3, 64 * 60.0, 64)
    assert of_many_cores == 5_000, "which a core trains in half of the minute, as two of them do"
    assert 445 * 3 * 224**2 <= trained.VALUES


def test_when_the_time_is_over_the_least_are_trained_and_every_direction_comes_before_a_second(
    in_this_process,
):
    longer = dataclasses.replace(COURSE, samples=4096)
    rows = outcomes(longer, PIXELS, time.monotonic() + 600, 1.0)
    assert rows["direction"].tolist() == list(PIXELS) * trained.SEEDS
    assert rows["seed"].tolist() == sorted(rows["seed"]) and rows["accuracy"].min() > 0.9
    # A network that cannot be done in time is not begun.
    least = outcomes(longer, PIXELS, time.monotonic() + 30, 31.0)
    assert least.equals(rows[: trained.LEAST]), "and what is trained depends on the course alone"


def test_no_batch_is_of_one_sample_with_which_a_batch_norm_cannot_be_trained(monkeypatch):
    monkeypatch.setattr(trained, "FEWEST", 2 * trained.training.BATCH + 1)
    assert sizes(1024, 1.0, 0.0, 2)[0] == 2 * trained.training.BATCH


def rows_of(repository, name, layers):
    """The outcomes of a network of one's own along a pixel."""
    (repository / f"own/{name}.py").write_text(
        "from torch import nn\n\n\n"
        f"def net(channels, outputs):\n    return nn.Sequential({layers})\n"
    )
    course = dataclasses.replace(COURSE, specification={"network": f"{name}:net"}, samples=1024)
    return outcomes(course, {"pixel 5": np.eye(32, dtype=np.float32)[5]}, 0.0, 0.1)


def test_batch_norms_that_follow_slowly_are_tested_with_the_statistics_of_the_whole_training_set(
    in_this_process, repository
):
    """16 steps at a momentum of 0.001 leave 98 % of the first ones: the network would guess."""
    layers = "nn.Conv2d(channels, 8, 3), nn.BatchNorm2d(8, momentum=1e-3), nn.ReLU(), nn.Flatten()"
    rows = rows_of(repository, "slow", f"{layers}, nn.Linear(32, outputs)")
    assert rows["accuracy"].min() > 0.9


def test_a_network_with_dropout_is_fitted_if_it_is_right_without(in_this_process, repository):
    """In training it sees the pixel that tells the classes apart in half of the samples."""
    rows = rows_of(repository, "thinned", "nn.Flatten(), nn.Dropout(), nn.Linear(32, outputs)")
    assert rows["train_accuracy"].min() > 0.9


def test_a_network_that_diverges_counts_as_that_and_other_failures_are_raised(
    in_this_process, monkeypatch
):
    def diverges(*_):
        raise Diverged("the loss became nan")

    monkeypatch.setattr(trained.training, "train", diverges)
    rows = outcomes(COURSE, PIXELS, 0.0, 0.1)[["accuracy", "train_accuracy"]]
    assert rows.isna().to_numpy().all()
    monkeypatch.setattr(trained.training, "train", lambda *_: {}["accuracy"])
    with pytest.raises(KeyError):
        outcomes(COURSE, PIXELS, 0.0, 0.1)
