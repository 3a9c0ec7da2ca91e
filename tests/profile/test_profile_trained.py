"""Networks trained along directions of any shape: how hard their data are, what a worker makes,
what is kept, when it ends."""

import dataclasses
import time

import numpy as np
import pytest
import torch

from pipeline.cells.training import Diverged
from pipeline.machine import store
from pipeline.profile import trained
from pipeline.profile.trained import Job, Sizes, amplitude, dataset, sizes, spread_out

SHAPE = (2, 4, 8)
LINEAR = {"network": "pipeline.networks.mlp:MLP", "hidden": [6], "side": 4}
IN_PROCESS = torch.device("cuda")
"""The device for which the work is done in this process; the jobs' own is the CPU."""


def job(pixel=0, seed=0, lr=0.5, shape=(2, 4, 4), small=Sizes(256, 2, 128)):
    """A job along a single pixel."""
    direction = np.eye(int(np.prod(shape)), dtype=np.float32)[pixel]
    return Job(LINEAR, shape, direction, small, lr, seed, "cpu")


@pytest.fixture
def outcomes(tmp_path):
    """Gives what comes of jobs in some seconds, of networks that are expected to take some."""

    def outcomes(jobs, available=600, seconds=0.1, least=0):
        limit = time.monotonic() + available
        cells = store.Store(tmp_path)
        return dict(trained.outcomes(jobs, cells, "code", IN_PROCESS, limit, seconds, least))

    return outcomes


def test_the_difference_of_the_classes_means_finds_every_direction_equally_well():
    """Right with probability Φ(ε²√(n/(D − 1))/σ²) = Φ(3.13) = 99.9 %, whatever D, n and v; ε = 1 at
    10,000 samples of 1024 values."""
    assert amplitude(1024, 10_000) == pytest.approx(1)
    for shape, samples in (((1, 16, 16), 300), ((3, 8, 8), 1000)):
        v = np.random.default_rng(0).standard_normal(int(np.prod(shape)), np.float32)
        tried = job(shape=shape, small=Sizes(samples, 1, 4000))
        tried = dataclasses.replace(tried, direction=v / np.linalg.norm(v))
        (x, y), (new, truth) = (dataset(tried, split) for split in ("train", "test"))
        mean = (x.flatten(1) * (2 * y - 1)[:, None]).mean(0)
        right = ((new.flatten(1) @ mean > 0) == truth).float().mean()
        assert 0.995 <= right < 1


def test_a_dataset_has_the_shape_of_the_inputs_and_nothing_but_the_class_along_v():
    tried = job(11, shape=SHAPE)
    x, y = dataset(tried, "train")
    assert x.shape == (256, *SHAPE) and y.shape == (256,) and set(y.tolist()) == {0, 1}
    torch.testing.assert_close(x.flatten(1)[:, 11], amplitude(64, 256) * (2.0 * y - 1))
    test, _ = dataset(tried, "test")
    assert test.shape == (128, *SHAPE) and not torch.equal(test, x[:128])


def test_what_is_trained_depends_on_the_job_alone_and_learns():
    longer = job(small=Sizes(256, 20, 128))
    first, again = (trained.trained(None, longer) for _ in range(2))
    assert dataclasses.replace(again, seconds=first.seconds) == first and first.accuracy > 0.9
    assert not torch.equal(*(dataset(job(seed=seed), "train")[0] for seed in (0, 1)))


def test_a_key_holds_all_that_decides_a_network():
    others = [job(pixel=1), job(seed=1), job(lr=0.1)]
    others += [job(small=Sizes(*some)) for some in ((257, 2, 128), (256, 3, 128), (256, 2, 129))]
    others += [dataclasses.replace(job(), device="cuda")]
    assert len({each.key("code") for each in (job(), job(), *others)}) == len(others) + 1
    assert job().key("code") != job().key("other code")


def test_the_sizes_are_the_largest_that_fit_and_no_training_set_fills_the_memory():
    assert sizes(1024, 1e-3, 10 * 60 * 1.001) == Sizes(10_000, 6, 4_000)
    assert sizes(1024, 1e-3, 10 * 30 * 1.001) == Sizes(10_000, 3, 4_000)
    assert sizes(1024, 1.0, 1.0) == Sizes(400, 8, 4_000)
    large = sizes(3 * 224 * 224, 1e-6, 1e6)
    assert large.samples * 3 * 224**2 <= trained.MOST_VALUES
    assert large.samples == large.tests == 445


def test_kept_networks_come_first_and_are_not_trained_again(outcomes):
    jobs = [job(pixel) for pixel in range(3)]
    two, every = outcomes(jobs[1:]), outcomes(jobs)
    assert list(two) == [0, 1] and list(every) == [1, 2, 0]
    assert {0: every[1], 1: every[2]} == two  # the seconds too


def test_when_the_time_is_over_no_further_network_is_begun_but_the_least_are_trained(outcomes):
    jobs = [job(pixel) for pixel in range(4)]
    assert list(outcomes(jobs, -1, least=2)) == [0, 1]
    # Each shall be done as long as the longest takes after the one that is under way.
    assert list(outcomes(jobs, 50, seconds=30, least=2)) == [0, 1]
    assert list(outcomes(jobs, 70, seconds=30)) == [0, 1, 2, 3]


def test_a_network_that_diverges_is_kept_as_that_and_other_failures_are_raised(
    outcomes, monkeypatch
):
    def diverges(_, job):
        raise Diverged("the loss became nan")

    monkeypatch.setattr(trained, "trained", diverges)
    assert np.isnan(outcomes([job()])[0].accuracy)
    monkeypatch.setattr(trained, "trained", lambda _, job: {}["accuracy"])
    assert np.isnan(outcomes([job()])[0].accuracy)
    with pytest.raises(KeyError):
        outcomes([job(1)])


def test_indices_are_spread_out_and_their_first_few_are_too():
    assert spread_out(1024, 9) == [0, 1023, 31, 5, 180, 1, 12, 75, 430]
    assert spread_out(1, 9) == [0] and sorted(spread_out(3, 9)) == [0, 1, 2]
