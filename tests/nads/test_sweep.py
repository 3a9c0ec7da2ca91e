"""Networks trained along directions of any shape: how hard their data are, what a worker makes, what is kept, when it ends."""

import dataclasses
import time

import numpy as np
import pytest
import torch

from pipeline.machine import store
from pipeline.nads import sweep
from pipeline.nads.sweep import Job, Sizes, Sweep, amplitude, dataset, sizes, spread_out, trained
from pipeline.training import Diverged

SHAPE = (2, 4, 8)
LINEAR = {"network": "pipeline.networks.mlp:MLP", "hidden": [6], "side": 4}
IN_PROCESS = torch.device("cuda")
"""The device for which the work is done in this process; the jobs' own is the CPU."""


def job(pixel=0, seed=0, lr=0.5, shape=(2, 4, 4), small=Sizes(256, 2, 128)):
    """A job along a single pixel."""
    direction = np.eye(int(np.prod(shape)), dtype=np.float32)[pixel]
    return Job(LINEAR, shape, direction, small, lr, seed, "cpu")


def test_the_difference_of_the_classes_means_finds_every_direction_equally_well():
    """Right with probability Φ(ε²√(n/(D − 1))/σ²) = Φ(3.13) = 99.9 %, whatever D, n and v; ε = 1 at 10,000 samples of 1024 values."""
    assert amplitude(1024, 10_000) == pytest.approx(1)
    for shape, samples in (((1, 16, 16), 300), ((3, 8, 8), 1000)):
        v = np.random.default_rng(0).standard_normal(int(np.prod(shape)), np.float32)
        tried = dataclasses.replace(job(), shape=shape, direction=v / np.linalg.norm(v), sizes=Sizes(samples, 1, 4000))
        x, y = (part.flatten(1) if part.dim() > 1 else 2 * part - 1 for part in dataset(tried, "train"))
        mean = (x * y[:, None]).mean(0)
        new, truth = (part.flatten(1) if part.dim() > 1 else 2 * part - 1 for part in dataset(tried, "test"))
        right = ((new @ mean).sign() == truth).float().mean()
        assert 0.995 <= right < 1


def test_a_dataset_has_the_shape_of_the_inputs_and_nothing_but_the_class_along_v():
    tried = dataclasses.replace(job(), shape=SHAPE, direction=np.eye(64, dtype=np.float32)[11])
    x, y = dataset(tried, "train")
    assert x.shape == (256, *SHAPE) and y.shape == (256,) and set(y.tolist()) == {0, 1}
    eps = amplitude(64, 256)
    torch.testing.assert_close(x.flatten(1)[:, 11], eps * (2.0 * y - 1))
    test, _ = dataset(tried, "test")
    assert test.shape == (128, *SHAPE) and not torch.equal(test, x[:128])


def test_what_is_trained_depends_on_the_job_alone_and_learns():
    longer = lambda **others: job(small=Sizes(256, 20, 128), **others)
    first, again = trained(None, longer()), trained(None, longer())
    assert {**first, "seconds": 0} == {**again, "seconds": 0}
    assert first["accuracy"] > 0.9
    assert trained(None, longer(seed=1))["loss"] != first["loss"]


def test_a_key_holds_all_that_decides_a_network():
    base = job()
    others = [
        job(pixel=1),
        job(seed=1),
        job(lr=0.1),
        job(small=Sizes(257, 2, 128)),
        job(small=Sizes(256, 3, 128)),
        job(small=Sizes(256, 2, 129)),
        dataclasses.replace(base, device="cuda:0"),
        dataclasses.replace(base, specification=LINEAR | {"hidden": [7]}),
        dataclasses.replace(base, shape=(2, 2, 8)),
    ]
    assert len({sweep.key(each) for each in (base, *others)}) == len(others) + 1
    assert sweep.key(job()) == sweep.key(base)


def test_the_sizes_are_the_largest_that_fit_and_no_training_set_fills_the_memory():
    assert sizes(1024, 1e-3, 10 * 60 * 1.001) == Sizes(10_000, 6, 4_000)
    assert sizes(1024, 1e-3, 10 * 30 * 1.001) == Sizes(10_000, 3, 4_000)
    assert sizes(1024, 1.0, 1.0) == Sizes(400, 8, 4_000)
    large = sizes(3 * 224 * 224, 1e-6, 1e6)
    assert large.samples * 3 * 224**2 <= sweep.MOST_VALUES and large.samples == large.tests == 445


def test_kept_networks_come_first_and_are_not_trained_again(tmp_path):
    jobs = [job(pixel) for pixel in range(3)]
    made = lambda: Sweep(store.Store(tmp_path), IN_PROCESS, time.monotonic() + 600, 0.1)
    first = made()
    found = dict(first.outcomes(jobs[:2]))
    assert list(found) == [0, 1] and (len(first.taken), first.reused) == (2, 0)
    second = made()
    every = dict(second.outcomes(jobs))
    assert list(every) == [0, 1, 2] and {0: every[0], 1: every[1]} == found
    assert (len(second.taken), second.reused) == (1, 2)


def test_when_the_time_is_over_no_further_network_is_begun_but_the_least_are_trained(tmp_path):
    late = Sweep(store.Store(tmp_path), IN_PROCESS, time.monotonic() - 1, 0.1)
    assert [position for position, _ in late.outcomes([job(pixel) for pixel in range(4)], least=2)] == [0, 1]
    assert [position for position, _ in late.outcomes([job(pixel) for pixel in (2, 0, 3, 1)], least=3)] == [1, 3, 0, 2]
    long = Sweep(store.Store(tmp_path), IN_PROCESS, time.monotonic() + 50, 60)
    assert [position for position, _ in long.outcomes([job(pixel) for pixel in range(6)])] == [0, 1, 2, 3]
    other = Sweep(store.Store(tmp_path), IN_PROCESS, time.monotonic() + 50, 60)
    assert [position for position, _ in other.outcomes([job(4)])] == []


def test_the_longest_before_and_the_start_of_workers_tell_what_still_fits(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep.time, "monotonic", lambda: 100.0)
    one = Sweep(store.Store(tmp_path), IN_PROCESS, 115.0, 7.0)
    assert one.fits(2) and not one.fits(3), "as long as was expected"
    one.taken = [1.0, 1.0, 9.0]
    assert one.fits(1) and not one.fits(2), "by the median, a loaded machine is over its time half of the times"
    one.starting = 10.0
    assert not one.fits(1) and one.fits(1, started=True)


def test_another_rate_is_tried_only_where_there_is_time(tmp_path, monkeypatch):
    tried = []

    def unfitted(_, job):
        tried.append(job.lr)
        return {"accuracy": 0.5, "train_accuracy": 0.5, "loss": 0.7, "seconds": 30.0}

    monkeypatch.setattr(sweep.closure, "digest", lambda *_: "code")
    monkeypatch.setattr(sweep, "trained", unfitted)
    assert Sweep(store.Store(tmp_path), IN_PROCESS, time.monotonic() + 20, 1.0).rate(lambda lr: [job(lr=lr)]) == 0.5
    assert tried == [0.5]


def test_a_network_that_diverges_is_kept_as_that_and_other_failures_are_raised(tmp_path, monkeypatch):
    def diverging(_, tried):
        raise Diverged("the loss became nan")

    made = lambda: Sweep(store.Store(tmp_path), IN_PROCESS, time.monotonic() + 600, 0.1)
    monkeypatch.setattr(sweep.closure, "digest", lambda *_: "code")
    monkeypatch.setattr(sweep, "trained", diverging)
    assert dict(made().outcomes([job()])) == {0: None} == dict(made().outcomes([job()]))

    def broken(_, tried):
        raise RuntimeError("broken")

    monkeypatch.setattr(sweep, "trained", broken)
    with pytest.raises(RuntimeError, match="broken"):
        list(made().outcomes([job(1)]))


@pytest.mark.parametrize(
    ("by_rate", "chosen"),
    [
        ({0.5: (1.0, 0.1)}, 0.5),
        ({0.5: (0.6, 0.7), 0.125: (1.0, 0.2)}, 0.125),
        ({0.5: None, 0.125: (0.7, 0.5), 0.03125: (0.6, 0.6)}, 0.125),
        ({0.5: (0.6, 0.6), 0.125: (0.6, 0.65), 0.03125: (0.6, 0.5)}, 0.03125),
        ({0.5: None, 0.125: None, 0.03125: None}, None),
    ],
)
def test_the_rate_is_the_first_that_fits_or_else_the_one_of_least_loss(tmp_path, monkeypatch, by_rate, chosen):
    def as_told(_, tried):
        if by_rate[tried.lr] is None:
            raise Diverged("the loss became nan")
        accuracy, loss = by_rate[tried.lr]
        return {"accuracy": accuracy, "train_accuracy": accuracy, "loss": loss, "seconds": 0.0}

    monkeypatch.setattr(sweep.closure, "digest", lambda *_: "code")
    monkeypatch.setattr(sweep, "trained", as_told)
    tried = Sweep(store.Store(tmp_path), IN_PROCESS, time.monotonic() + 600, 0.1)
    assert tried.rate(lambda lr: [job(lr=lr)]) == chosen


def test_indices_are_spread_out_and_their_first_few_are_too():
    assert sorted(spread_out(1024, 9)) == [0, 1, 5, 12, 31, 75, 180, 430, 1023]
    assert spread_out(1024, 9)[:3] == [0, 1023, 31]
    assert spread_out(1, 9) == [0] and sorted(spread_out(3, 9)) == [0, 1, 2]


def test_a_sample_takes_longer_to_train_on_than_to_pass_forward():
    forward, step = sweep.seconds_per_sample(
        {"network": "pipeline.networks.mlp:MLP", "hidden": [2000, 2000]}, (1, 32, 32)
    )
    assert 0 < forward < step
