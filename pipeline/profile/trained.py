"""Networks trained on D(v), one direction v at a time, for inputs of any shape.

Every direction is equally easy for the simplest learner, the difference of the classes' means, so
that differences in accuracy between directions are the network's own preference.
"""

import dataclasses
import functools
import math
import time
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from pipeline import networks
from pipeline.cells import seeds, separable, training
from pipeline.cells.training import Diverged, Training
from pipeline.machine import store, workers
from pipeline.networks import Shape, Specification

SIGMA = 1.0
"""Noise of D(v)."""

REACH = (10_000 / 1023) ** 0.5
"""ε²√(n/(D − 1))/σ² for paper 1's LeNet: n = 10,000 samples, D = 1024, ε = σ = 1."""

LADDER = ((10_000, 6), (10_000, 3), (5_000, 4), (3_000, 4), (1_500, 6), (750, 8), (400, 8))
"""Training samples and epochs, of which the first that fit into the time are taken."""

CELLS, TESTS, MOST_VALUES = 10, 4_000, 2**26
"""Networks of a first call; test samples; numbers in a training set at most (256 MiB)."""


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Sizes of every training and test: samples, passes over them, test samples."""

    samples: int
    epochs: int
    tests: int


@dataclasses.dataclass(frozen=True)
class Job:
    """The training of one network on D(v); direction: v, (D,) float32."""

    specification: Specification
    shape: Shape
    direction: np.ndarray
    sizes: Sizes
    lr: float
    seed: int
    device: str

    def key(self, code: str) -> str:
        """The digest of everything that determines the outcome; code: digest of the program."""
        decisive = [store.digest(self.direction), *dataclasses.astuple(self.sizes), self.device]
        return store.digest([code, *decisive, self.lr, self.seed])


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Accuracies in [0, 1] of a trained network, NaN where it diverged, and its seconds."""

    accuracy: float = math.nan
    train_accuracy: float = math.nan
    seconds: float = 0.0


def amplitude(dimension: int, samples: int) -> float:
    """The ε at which the difference of the classes' means is right as often as in paper 1's data.

    On new samples of D(v), after n training samples, that is with probability
    Φ(ε²√(n/(D − 1))/σ²).
    """
    return SIGMA * (REACH * ((dimension - 1) / samples) ** 0.5) ** 0.5


def sizes(dimension: int, seconds: float, available: float) -> Sizes:
    """The largest sizes with which `CELLS` networks are trained in `available` core seconds.

    seconds: the time of one sample in one pass over the training set.
    """
    for count, epochs in LADDER:
        count = min(count, MOST_VALUES // dimension)
        if count * epochs * seconds * CELLS <= available:
            break
    return Sizes(count, epochs, min(TESTS, MOST_VALUES // dimension))


def seconds_per_sample(specification: Specification, shape: Shape) -> float:
    """Seconds of a core that one sample takes in a step of training: the mean over one second."""
    network = networks.build(specification, shape[0], 2, 0)
    x, y = training.arranged(torch.randn(16, *shape), "cpu"), torch.arange(16) % 2
    step = lambda: training.train(network, x, y, Training(1, 1e-6, 0, 0), 0)
    step()
    started, count = time.perf_counter(), 0
    while (seconds := time.perf_counter() - started) < 1:
        step()
        count += 1
    return seconds / count / len(x)


@functools.lru_cache(2)
def drawn(seed: int, split: str, count: int, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """The draw of one seed: labels (N,) in {−1, +1} and standard-normal images (N, D)."""
    rng = seeds.stream("profile", seed, split)
    return separable.labels(rng, count), separable.normal(rng, count, dimension)


def dataset(job: Job, split: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs (N, C, H, W) of D(v) and class numbers (N,) of a job's training or test set."""
    count = job.sizes.samples if split == "train" else job.sizes.tests
    y, draw = drawn(job.seed, split, count, len(job.direction))
    eps = amplitude(len(job.direction), job.sizes.samples)
    x = separable.linearly_separable(draw, y, job.direction, eps, SIGMA, job.shape)
    return training.arranged(x, job.device), torch.as_tensor(y > 0).long().to(job.device)


def trained(_: object, job: Job) -> Outcome:
    """The accuracies of a job's network, trained here; raises Diverged."""
    started = time.monotonic()
    weights, order = (seeds.derive("profile", job.seed, part) for part in ("weights", "order"))
    network = networks.build(job.specification, job.shape[0], 2, weights)
    schedule = Training(job.sizes.epochs, job.lr, 0.0, 0.0, "linear")
    train_accuracy = training.train(network, *dataset(job, "train"), schedule, order).accuracy
    accuracy = training.accuracy(network, *dataset(job, "test"))
    return Outcome(accuracy, train_accuracy, time.monotonic() - started)


def outcomes(
    jobs: Sequence[Job],
    cells: store.Store,
    code: str,
    device: torch.device,
    limit: float,
    seconds: float,
    least: int = 0,
) -> Iterator[tuple[int, Outcome]]:
    """Yields (position, outcome) of the jobs in the store `cells`, then of the others as they end.

    code: see `Job.key`; limit: the time of `time.monotonic` at which the last network shall be
    done; seconds: the expected time of a network before the first has ended; least: the number of
    networks that are trained however late it is. Raises the exception of a network that cannot be
    trained, unless it diverged.
    """
    keys = [job.key(code) for job in jobs]
    stored = {position: note for position, key in enumerate(keys) if (note := cells.get(key))}
    for position, note in stored.items():
        yield position, Outcome(**note["outcome"])
    missing = [position for position in range(len(jobs)) if position not in stored]
    slowest = 0.0

    def in_time() -> Iterator[Job]:
        for count, position in enumerate(missing, len(stored)):
            # It takes as long as the slowest before, and begins after another of the same worker.
            if count >= least and time.monotonic() + 2 * (slowest or seconds) > limit:
                return
            yield jobs[position]

    for number, outcome in workers.run(trained, in_time(), dict, device):
        if isinstance(outcome, Diverged):
            outcome = Outcome()
        elif isinstance(outcome, Exception):
            raise outcome
        cells.put(keys[missing[number]], {}, {"outcome": dataclasses.asdict(outcome)})
        slowest = max(slowest, outcome.seconds)
        yield missing[number], outcome


def spread_out(count: int, most: int) -> list[int]:
    """Up to `most` of the indices 0 to count − 1, even on a logarithmic axis, coarse ones first."""
    points = (np.unique(np.rint(np.geomspace(1, count, most)).astype(int)) - 1).tolist()
    return list(dict.fromkeys([points[0], points[-1], *points[::4], *points[::2], *points]))
