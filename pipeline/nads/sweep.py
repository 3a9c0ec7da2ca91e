"""Networks trained on D(v), one direction v at a time, for inputs of any shape: how what is learned follows the response.

What one is trained on is decided by what the network costs; all directions are made equally easy for the simplest learner, the
mean of each class, so that what differs between them is the network's own preference.
"""

import dataclasses
import functools
import itertools
import math
import statistics
import time
import typing
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from pipeline import networks, training
from pipeline.datasets import separable
from pipeline.machine import closure, store, workers
from pipeline.measures.fitted import FITTED
from pipeline.networks import Shape, Specification
from pipeline.project import seeds
from pipeline.training import Diverged, Training

SIGMA = 1.0
"""Noise of D(v)."""

REACH = (10_000 / 1023) ** 0.5
"""ε²√(n/(D − 1))/σ² of paper 1's LeNet: n = 10,000 samples, D = 1024, ε = σ = 1. See `amplitude`."""

RATES = (0.5, 0.125, 0.03125)
"""Learning rates that are tried in this order, the first being paper 1's: the others are for networks that it does not fit."""

LADDER = ((10_000, 6), (10_000, 3), (5_000, 4), (3_000, 4), (1_500, 6), (750, 8), (400, 8))
"""Training samples and epochs, from most work to least: the first of which a sweep of `CELLS` networks fits into the time is taken."""

CELLS = 10
TESTS = 4_000
MOST_VALUES = 2**26
"""Networks that a first sweep shall have; samples of a test set; numbers that a training set may hold (a quarter of a gigabyte)."""

Outcome = dict[str, float]


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What every network of a sweep is trained and tested on: numbers of samples and of passes through them."""

    samples: int
    epochs: int
    tests: int


@dataclasses.dataclass(frozen=True)
class Job:
    """All that a worker needs for one network.

    shape: (C, H, W) of its inputs; direction: v, (D,) float32; device: as text.
    """

    specification: Specification
    shape: Shape
    direction: np.ndarray
    sizes: Sizes
    lr: float
    seed: int
    device: str


Maker = typing.Callable[[np.ndarray, int, float], Job]
"""What makes the job of a direction v (D,), a seed and a learning rate."""


def amplitude(dimension: int, samples: int) -> float:
    """ε at which the mean of each class of `samples` finds v in `dimension` values as well as in paper 1's data of LeNet.

    On new samples of D(v) the difference of the classes' means is right with probability Φ(ε²√(n/(D − 1))/σ²).
    """
    return SIGMA * (REACH * ((dimension - 1) / samples) ** 0.5) ** 0.5


def sizes(dimension: int, seconds: float, available: float) -> Sizes:
    """The sizes of a sweep whose networks take `seconds` a sample and pass, in `available` seconds of all cores together."""
    for count, epochs in LADDER:
        count = min(count, MOST_VALUES // dimension)
        if count * epochs * seconds * CELLS <= available:
            break
    return Sizes(count, epochs, min(TESTS, MOST_VALUES // dimension))


def seconds_per_sample(specification: Specification, shape: Shape) -> tuple[float, float]:
    """Seconds that one thread takes for a sample in a forward pass, and in a step of training."""
    threads, network, x = (
        torch.get_num_threads(),
        networks.build(specification, shape[0], 2, 0),
        torch.randn(16, *shape),
    )
    torch.set_num_threads(1)
    try:
        x, y = training.arranged(x, "cpu"), torch.arange(len(x)) % 2
        step = lambda: training.train(network, x, y, Training(1, 1e-6, 0, 0), 0)
        forward = lambda: training.logits(network, x)
        step(), forward()
        return tuple(_seconds(work) / len(x) for work in (forward, step))
    finally:
        torch.set_num_threads(threads)


def _seconds(work: typing.Callable[[], typing.Any]) -> float:
    """Seconds that work takes on the average of at least one second: what takes less is done at once even beside the work of others."""
    started = time.perf_counter()
    for count in itertools.count(1):
        work()
        if (taken := time.perf_counter() - started) >= 1:
            return taken / count


@functools.lru_cache(2)
def drawn(seed: int, split: str, count: int, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels (N,) in {−1, +1} and standard-normal numbers (N, D) of one seed, which serve every direction."""
    rng = seeds.stream("profile", seed, split)
    return separable.labels(rng, count), rng.standard_normal((count, dimension), dtype=np.float32)


def dataset(job: Job, split: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs (N, C, H, W) of D(v) and class numbers (N,) of a job's training or test set."""
    count, dimension = {"train": job.sizes.samples, "test": job.sizes.tests}[split], len(job.direction)
    y, draw = drawn(job.seed, split, count, dimension)
    eps = amplitude(dimension, job.sizes.samples)
    x = separable.linearly_separable(draw, y, job.direction, eps, SIGMA, job.shape)
    return training.arranged(x, job.device), torch.as_tensor(y > 0).long().to(job.device)


def how(job: Job) -> Training:
    """How a job's network is trained: as in paper 1's sweep of NADs."""
    return Training(job.sizes.epochs, job.lr, 0.0, 0.0, "linear")


def trained(_: object, job: Job) -> Outcome:
    """The accuracies, last loss and seconds of a job's network, trained. Raises Diverged."""
    started = time.monotonic()
    weights, order = (seeds.derive("profile", job.seed, part) for part in ("weights", "order"))
    network = networks.build(job.specification, job.shape[0], 2, weights)
    found = training.train(network, *dataset(job, "train"), how(job), order)
    accuracy = training.accuracy(network, *dataset(job, "test"))
    seconds = time.monotonic() - started
    return {"accuracy": accuracy, "train_accuracy": found.accuracy, "loss": found.losses[-1], "seconds": seconds}


def key(job: Job) -> str:
    """The digest of everything that decides a job's outcome."""
    decides = {
        "code": closure.digest(trained, job.specification["network"]),
        "specification": job.specification,
        "shape": job.shape,
        "direction": store.digest(job.direction),
        "sizes": dataclasses.astuple(job.sizes),
        "lr": job.lr,
        "seed": job.seed,
        "device": torch.device(job.device).type,
    }
    return store.digest(decides)


class Sweep:
    """Networks trained by all workers until a time, each kept when it is done, and taken from where it was kept.

    kept: the store; device: of the workers; limit: the time of `time.monotonic` at which the last one shall be done; seconds: that
    one network is expected to take. A network that diverged has the outcome None. `taken` holds the seconds of those trained by this
    one, `starting` those that workers last took to start, and `reused` counts those that were kept before.
    """

    def __init__(self, kept: store.Store, device: torch.device, limit: float, seconds: float) -> None:
        self.kept, self.device, self.limit, self.seconds = kept, device, limit, seconds
        self.taken, self.starting, self.reused, self.mine = [], 0.0, 0, set()
        self.at_once = 1 if device.type == "cuda" else workers.cores()

    def outcomes(self, jobs: Sequence[Job], least: int = 0) -> Iterator[tuple[int, Outcome | None]]:
        """Yields (position, outcome) of the jobs that were kept, then of the others as far as time allows; the first `least` of all
        are trained at any rate.

        Raises what a network raised, but for Diverged.
        """
        keys, due = [key(job) for job in jobs], []
        for position, name in enumerate(keys):
            if (found := self.kept.get(name)) is None:
                due.append(position)
            else:
                self.reused += name not in self.mine
                yield position, found["outcome"]
        given, done, asked = [], 0, time.monotonic()

        def work():
            for position in due:
                # As many rounds as the networks before it and itself make, on all cores.
                rounds = math.ceil((len(given) - done + 1) / self.at_once)
                if position >= least and not self.fits(rounds, started=done > 0):
                    return
                given.append(position)
                yield jobs[position]

        for number, result in workers.run(trained, work(), dict, self.device):
            done += 1
            if isinstance(result, Exception) and not isinstance(result, Diverged):
                raise result
            outcome = None if isinstance(result, Diverged) else result
            name = keys[given[number]]
            self.kept.put(name, {}, {"outcome": outcome})
            self.mine.add(name)
            if outcome:
                self.starting = self.starting if done > 1 else max(0.0, time.monotonic() - asked - outcome["seconds"])
                self.taken.append(outcome["seconds"])
            yield given[number], outcome

    def fits(self, rounds: int, started: bool = False) -> bool:
        """Whether so many networks one after another are done by the limit, each taking as long as the longest before; started: as
        the workers have. On a machine that others use too, half of them take longer than the median.
        """
        seconds = max(self.taken, default=self.seconds)
        return time.monotonic() + (0.0 if started else self.starting) + rounds * seconds <= self.limit

    def rate(self, jobs: typing.Callable[[float], Sequence[Job]]) -> float | None:
        """The first of `RATES` by which networks are fitted, else that of the lowest loss, or None if all diverged.

        jobs: rate → the jobs that it is tried on. Those of the first are trained at any rate, those of another if there is time.
        """
        best, least = None, math.inf
        for number, lr in enumerate(RATES):
            tried = jobs(lr)
            if number and not self.fits(math.ceil(len(tried) / self.at_once)):
                break
            found = [outcome for _, outcome in self.outcomes(tried, len(tried))]
            if None in found:
                continue
            if statistics.mean(outcome["train_accuracy"] for outcome in found) >= FITTED:
                return lr
            loss = statistics.mean(outcome["loss"] for outcome in found)
            if loss < least:
                best, least = lr, loss
        return best


def spread_out(count: int, most: int) -> list[int]:
    """Up to `most` of the indices 0 to count − 1, evenly spread on a logarithmic axis, in an order whose beginning is coarse."""
    points = (np.unique(np.rint(np.geomspace(1, count, most)).astype(int)) - 1).tolist()
    ordered, waiting = [], [(0, len(points) - 1)]
    for end in dict.fromkeys((0, len(points) - 1)):
        ordered.append(points[end])
    while waiting:
        first, last = waiting.pop(0)
        if last - first > 1:
            middle = (first + last) // 2
            ordered.append(points[middle])
            waiting += [(first, middle), (middle, last)]
    return ordered
