"""An estimate of NADs in a given time: which derivative can be afforded, of how many directions, and how long the end takes."""

import time
from pathlib import Path

import numpy as np
import psutil

from pipeline import networks
from pipeline.machine import store
from pipeline.nads.estimation import FIRST_CHECK, Estimation, accumulator
from pipeline.nads.estimator import Estimator
from pipeline.nads.progress import Recipe, Task, key
from pipeline.nads.readout import usable, vectors_of
from pipeline.nads.symmetry import ORDERS
from pipeline.networks import Shape, Specification
from pipeline.project.seeds import stream

LARGEST = 4096
"""Dimension D up to which all NADs are found: beyond, the D×D matrix takes too long to decompose, and only the first are."""

FIRST = 100
"""NADs that are found beyond `LARGEST`."""

ROWS, VALUES = 4096, 2**28
"""Vectors that an estimate beyond `LARGEST` rests on at most, and numbers in all of them: a gigabyte."""

NETWORKS = 100_000
"""Untrained networks at most: with so many the error of any C is far below one per cent."""

ENOUGH = 8
"""Untrained networks that an estimate of secants shall have in its time: where it cannot, gradients are taken."""


def complete(shape: Shape) -> bool:
    """Whether all NADs of inputs of a shape (C, H, W) are found, and not only the first."""
    return int(np.prod(shape)) <= LARGEST


def affordable(asked: str | None, shape: Shape, forward: float, seconds: float) -> tuple[Estimator, str | None]:
    """The estimator for the time there is, and where it is not the papers' the reason in sentences.

    asked: an estimand, or None; forward: seconds of a forward pass; seconds: of all cores together. Gradients are of a new image
    for each network; beyond `LARGEST` a network gives one vector, since many networks tell more than many features of few.
    """
    dimension = int(np.prod(shape))
    each = 2 * dimension * forward
    if (asked or ("secant" if ENOUGH * each <= seconds else "gradient")) == "secant":
        return Estimator("secant", "readout", 100.0, "normal", True, False), None
    reason = (
        "The response on this page is the output's gradient at images of noise. The papers' is its change between steps of ±100 "
        f"in each input value, which takes {2 * dimension:,} forward passes, here {each:,.0f} seconds of a core, for each of at least "
        f"{ENOUGH} untrained networks. The two differ: LeNet's gradient hardly tells along which directions it learns well. So rely on "
        "the networks that were trained, and where there is time, take the papers' with --estimand secant."
    )
    return Estimator("gradient", "readout" if complete(shape) else "plain", 100.0, "many", True, False), reason


def task(specification: Specification, shape: Shape, estimator: Estimator, folder: Path, device: str) -> Task:
    """The estimate of one network's NADs, of as many networks as there is time for, its sums kept in the store at `folder`.

    device: of the workers, as text. Raises InputError for what does not fit into memory.
    """
    network = networks.build(specification, shape[0], 1, 0)
    estimator, _ = usable(network, estimator, shape)
    vectors, most, first = vectors_of(network, estimator, shape), NETWORKS, None
    free, symmetry = psutil.virtual_memory().available, networks.symmetry(specification)
    if not complete(shape):
        # Every network's vectors count once for each symmetry that they are averaged over.
        each = vectors * ORDERS.get(symmetry, 1)
        most = max(FIRST_CHECK, min(ROWS, VALUES // int(np.prod(shape))) // each)
        first = min(FIRST, most * each)
    empty = accumulator(shape, vectors, most, first, symmetry, free)
    recipe = Recipe(specification, shape, (0, "profile"), estimator, device)
    return Task("NADs", recipe, Estimation(empty, most), store.Sums(folder, key(recipe, empty)))


def fewest(recipe: Recipe, forward: float) -> float:
    """Seconds of one thread that the fewest networks of an estimate take; forward: seconds of a forward pass.

    A gradient takes a pass forward and twice as much backward, for each feature where the read-out is averaged over.
    """
    if recipe.estimator.estimand == "secant":
        return FIRST_CHECK * 2 * int(np.prod(recipe.shape)) * forward
    network = networks.build(recipe.specification, recipe.shape[0], 1, 0)
    return FIRST_CHECK * 3 * vectors_of(network, recipe.estimator, recipe.shape) * forward


def decomposition(shape: Shape, forward: float, seconds: float) -> float:
    """Seconds that the eigenvectors of an estimate and of its halves take one thread.

    forward: seconds of a forward pass; seconds: of all cores, in which the estimate is made, which beyond `LARGEST` decides how many
    vectors there are.
    """
    if complete(shape):
        side, systems = int(np.prod(shape)), 3.0
    else:
        # Of all vectors, and of either half.
        side, systems = min(ROWS, int(seconds / (3 * forward))), 1.25
    matrix = stream("profile", "timing").standard_normal((300, 300))
    took = []
    for _ in range(3):
        started = time.perf_counter()
        np.linalg.eigh(matrix + matrix.T)
        took.append(time.perf_counter() - started)
    return systems * min(took) * (side / len(matrix)) ** 3
