"""Networks trained on D(v), one direction v at a time, for inputs of any shape.

Every direction is equally easy for the simplest learner, the difference of the classes' means, so
that differences in accuracy between directions are the network's own preference.
"""

import contextlib
import dataclasses
import functools
import itertools
import math
import time
import timeit
from collections.abc import Mapping

import numpy as np
import pandas as pd
import torch
from torch.optim.swa_utils import update_bn
from tqdm import tqdm

from pipeline import networks
from pipeline.cells import seeds, separable, training
from pipeline.cells.training import Diverged, Training
from pipeline.machine import workers
from pipeline.nads import NADs
from pipeline.networks import Shape, Specification
from pipeline.profile.response import Response, wave

SIGMA = 1.0  # noise of D(v)

REACH = (10_000 / 1023) ** 0.5
"""ε²√(n/(D − 1))/σ² for paper 1's LeNet: n = 10,000 samples, D = 1024, ε = σ = 1."""

MOST = 10_000  # training samples at most
FEWEST = 400  # training samples at least
EPOCHS = 6
TESTS = 4_000  # samples of a test
VALUES = 2**26  # numbers in a training set or a test at most (256 MiB)
CELLS = 10  # networks for which there shall be time
LEAST = 2  # networks that are trained however long they take
INDICES = 9  # NADs along which networks are trained
SEEDS = 5  # networks along each NAD at most


@dataclasses.dataclass(frozen=True)
class Course:
    """How the networks of a profile are trained: on `samples` of D(v), from the learning rate `lr`
    on, with a test on `tests` new ones; device: 'cpu' or 'cuda'."""

    specification: Specification
    shape: Shape
    samples: int
    tests: int
    lr: float
    device: str

    @property
    def steps(self) -> float:
        """The samples of all steps of one network, to which a forward pass adds a third."""
        return self.samples * (EPOCHS + 2 / 3) + self.tests / 3


def amplitude(dimension: int, samples: int) -> float:
    """The ε at which the difference of the classes' means is right as often as in paper 1's data.

    On new samples of D(v), after n training samples, that is with probability
    Φ(ε²√(n/(D − 1))/σ²).
    """
    return SIGMA * (REACH * ((dimension - 1) / samples) ** 0.5) ** 0.5


def sizes(dimension: int, step: float, seconds: float, at_once: int) -> tuple[int, int]:
    """The numbers of training and of test samples with which `CELLS` networks, or two on each core
    where that is more, are trained in `seconds` of all cores together, if that is possible.

    step: seconds that a sample takes in a step of training; at_once: networks trained at a time.
    """
    samples = int(seconds / (max(CELLS, 2 * at_once) * EPOCHS * step))
    samples = min(max(FEWEST, samples), MOST, VALUES // dimension)
    # An odd number would end in a batch of one sample, in which a batch norm may find no variance.
    return samples // 2 * 2, min(TESTS, VALUES // dimension)


def seconds_per_sample(specification: Specification, shape: Shape, device: str) -> float:
    """Seconds of a core, or of the GPU, that one sample takes in a step of training."""
    network = networks.build(specification, shape[0], 2, 0)
    count = 16 if device == "cpu" else training.BATCH  # a GPU takes as long for few
    x = training.channels_last(torch.randn(count, *shape), device)
    y = torch.arange(count, device=device) % 2
    step = lambda: training.train(network, x, y, Training(1, 1e-6, 0, 0), 0)
    step()  # the first one takes longer
    count, seconds = timeit.Timer(step).autorange()
    return seconds / count / len(x)


def chosen(nads: NADs, response: Response) -> dict[str, np.ndarray]:
    """The directions v (D,) along which networks are trained, by name, in their order: NADs, even
    on a logarithmic axis and coarse ones first, and second the weakest wave where the last NADs are
    not known."""
    count = len(nads.directions)
    points = (np.unique(np.rint(np.geomspace(1, count, INDICES)).astype(int)) - 1).tolist()
    order = dict.fromkeys([points[0], points[-1], *points[::4], *points[::2], *points])
    directions = {f"NAD {index}": nads.directions[index] for index in order}
    if count < response.rows.shape[1]:
        row, column = response.frequencies.loc[0, ["k_row", "k_col"]].astype(int)
        weakest = {f"wave ({row}, {column})": wave(row, column, response.shape)}
        directions = {"NAD 0": directions["NAD 0"]} | weakest | directions
    return {name: vector.astype(np.float32) for name, vector in directions.items()}


def dataset(
    course: Course, direction: np.ndarray, seed: int, split: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs (N, C, H, W) of D(v) and class numbers (N,) of a training or test set; direction: v,
    (D,) float32."""
    count = course.samples if split == "train" else course.tests
    rng, dimension = seeds.stream("profile", seed, split), len(direction)
    y, draw = separable.labels(rng, count), separable.normal(rng, count, dimension)
    eps = amplitude(dimension, course.samples)
    x = separable.linearly_separable(draw, y, v=direction, eps=eps, sigma=SIGMA, shape=course.shape)
    return training.channels_last(x, course.device), torch.as_tensor(y > 0).long().to(course.device)


def trained(course: Course, _: object, job: tuple) -> dict:
    """The row in the table of `outcomes` of the network that a worker trains; job: its seed, and
    the direction's name and the direction."""
    seed, (name, direction) = job
    weights, order = (seeds.derive("profile", seed, part) for part in ("weights", "order"))
    network = networks.build(course.specification, course.shape[0], 2, weights)
    schedule = Training(EPOCHS, course.lr, 0.0, 0.0, "linear")
    row = {"direction": name, "seed": seed, "accuracy": math.nan, "train_accuracy": math.nan}
    with contextlib.suppress(Diverged):
        x, y = dataset(course, direction, seed, "train")
        training.train(network, x, y, schedule, order)
        # The few steps here leave batch norms of a small momentum with their first statistics.
        update_bn(x.split(training.BATCH), network)
        # The accuracy in the last epoch would be that of weights on the move, under dropout.
        row["train_accuracy"] = training.accuracy(network, x, y)
        row["accuracy"] = training.accuracy(network, *dataset(course, direction, seed, "test"))
    return row


def outcomes(
    course: Course, directions: Mapping[str, np.ndarray], limit: float, seconds: float
) -> pd.DataFrame:
    """One row for each network that was trained until the time `limit`, of which each is expected
    to take `seconds`: direction, seed, accuracy, train_accuracy (NaN where it diverged).

    Every direction has its first network before any has its second. Raises the exception of a
    network that cannot be trained.
    """
    jobs = itertools.product(range(SEEDS), directions.items())
    first = itertools.islice(jobs, LEAST)
    others = itertools.takewhile(lambda _: time.monotonic() + seconds < limit, jobs)
    function, device = functools.partial(trained, course), torch.device(course.device)
    rows, results = [], workers.run(function, itertools.chain(first, others), dict, device)
    for _, row in tqdm(results, unit="network", leave=False, disable=None):
        if isinstance(row, Exception):
            raise row
        rows.append(row)
    return pd.DataFrame(rows)
