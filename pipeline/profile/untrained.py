"""The response of untrained networks, estimated in a given time."""

import dataclasses
import math

import numpy as np
import torch

from pipeline import networks
from pipeline.machine import store
from pipeline.nads import NADs
from pipeline.nads.estimation import begun
from pipeline.nads.estimator import Estimator, Source
from pipeline.nads.progress import Task
from pipeline.nads.readout import usable
from pipeline.nads.recipe import Recipe
from pipeline.nads.symmetry import ORDERS
from pipeline.networks import Shape
from pipeline.profile.response import Response

LARGEST = 4096
"""Dimension D up to which all NADs are estimated; a larger D×D matrix takes too long to
decompose."""

FIRST, ROWS, VALUES = 100, 4096, 2**28
"""The most NADs, vectors, and numbers in the vectors (a gigabyte), for a D beyond `LARGEST`."""

LEAST, ENOUGH, MOST = 4, 8, 100_000
"""Untrained networks: at least; for how many secants must fit into the time; at most."""


def affordable(
    earlier: str | None, shape: Shape, step: float, seconds: float
) -> tuple[Estimator, str | None]:
    """The estimator that fits into the time, and, where it is not the papers', why, in sentences.

    earlier: the estimand of an earlier call into this folder, or None; step: seconds that a sample
    takes in a step of training, a third of them forward; seconds: the time of all cores together.
    """
    passes = 2 * math.prod(shape)
    each = passes * step / 3
    if (earlier or ("secant" if ENOUGH * each <= seconds else "gradient")) == "secant":
        return Estimator("secant", "readout", 100.0, "normal", True, False), None
    # Of large inputs many networks tell more than many features of few.
    method = "readout" if math.prod(shape) <= LARGEST else "plain"
    return Estimator("gradient", method, 100.0, "many", True, False), (
        "The response on this page is the output's gradient at images of noise, not its change "
        f"between steps of ±100 as in the papers, whose {passes:,} forward passes take "
        f"{each:,.0f} seconds of a core for each of at least {ENOUGH} untrained networks. The two "
        "differ: rely on the networks that were trained, or give more --minutes and another "
        "--output."
    )


def empty_task(recipe: Recipe, sums: store.Sums) -> Task:
    """The empty estimate of one network's NADs: of all D, or of the first ones."""
    shape, dimension = recipe.shape, math.prod(recipe.shape)
    network = networks.build(recipe.specification, shape[0], 1, 0)
    symmetry = networks.symmetry(recipe.specification) if shape[1] == shape[2] else "none"
    source = Source(MOST, input=shape)
    if dimension > LARGEST:
        # A network's vectors count once for each element of a symmetry; none is measured here.
        _, vectors, _ = usable(network, recipe.estimator, shape)
        vectors *= ORDERS["none" if symmetry == "measured" else symmetry]
        most = max(LEAST, min(ROWS, VALUES // dimension) // vectors)
        source = Source(most, input=shape, first=min(FIRST, most * vectors))
    estimator, estimation = begun(network, recipe.estimator, source, symmetry)
    return Task("profile", dataclasses.replace(recipe, estimator=estimator), estimation, sums)


def estimated(
    recipe: Recipe, sums: store.Sums, device: torch.device, limit: float
) -> tuple[NADs, Response]:
    """NADs and response of untrained networks: those in the sums, and more until the time `limit`.

    There are at least `LEAST`. Raises the exception of a network that cannot be run.
    """
    task = empty_task(recipe, sums)
    task.restore()
    task.sample(device, LEAST, limit)
    for count in sums.counts()[1:]:
        sums.drop(count)
    nads, shape = task.estimation.nads(task.recipe.estimator), recipe.shape
    if math.prod(shape) <= LARGEST:
        return nads, Response(nads.directions, np.maximum(nads.eigenvalues, 0), shape)
    rows = task.estimation.accumulator.rows
    return nads, Response(rows, np.full(len(rows), 1 / nads.networks), shape)
