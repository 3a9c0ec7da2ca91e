"""The response of untrained networks, estimated in a given time."""

import dataclasses
import time
from collections.abc import Iterator

import numpy as np
import torch

from pipeline import networks
from pipeline.machine import store, workers
from pipeline.nads import Covariance, Estimation, Estimator, Leading, NADs
from pipeline.nads.readout import usable, vectors_of
from pipeline.nads.recipe import Recipe, jacobian
from pipeline.nads.symmetry import ORDERS
from pipeline.networks import Shape
from pipeline.profile.response import Response

LARGEST = 4096
"""Dimension D up to which all NADs are found; beyond, a D×D matrix takes too long to decompose."""

FIRST, ROWS, VALUES = 100, 4096, 2**28
"""Beyond `LARGEST`: NADs, vectors, and numbers in the vectors (a gigabyte), at most."""

LEAST, ENOUGH, MOST = 4, 8, 100_000
"""Untrained networks: how many there are however long they take; how many secants need; at most."""


def _complete(shape: Shape) -> bool:
    return int(np.prod(shape)) <= LARGEST


def affordable(
    asked: str | None, shape: Shape, step: float, seconds: float
) -> tuple[Estimator, str | None]:
    """The estimator for the time there is, and where it is not the papers' the reason in sentences.

    asked: the estimand of an earlier call, or None; step: seconds that a sample takes in a step of
    training, a third of them forward; seconds: of all cores together.
    """
    passes = 2 * int(np.prod(shape))
    each = passes * step / 3
    if (asked or ("secant" if ENOUGH * each <= seconds else "gradient")) == "secant":
        return Estimator("secant", "readout", 100.0, "normal", True, False), None
    # Of large inputs many networks tell more than many features of few.
    method = "readout" if _complete(shape) else "plain"
    return Estimator("gradient", method, 100.0, "many", True, False), (
        "The response on this page is the output's gradient at images of noise, not its change "
        f"between steps of ±100 as in the papers, whose {passes:,} forward passes take "
        f"{each:,.0f} seconds of a core for each of at least {ENOUGH} untrained networks. The two "
        "differ: rely on the networks that were trained, or give more --minutes and another "
        "--output."
    )


def begun(recipe: Recipe) -> tuple[Recipe, Estimation]:
    """The empty estimate of one network's NADs, and the recipe with the method that it allows."""
    shape = recipe.shape
    network = networks.build(recipe.specification, shape[0], 1, 0)
    estimator, _ = usable(network, recipe.estimator, shape)
    recipe = dataclasses.replace(recipe, estimator=estimator)
    symmetry = networks.symmetry(recipe.specification) if shape[1] == shape[2] else "none"
    if _complete(shape):
        return recipe, Estimation(Covariance(shape, symmetry), MOST)
    # A network's vectors count once for each element of a symmetry; none is measured here.
    symmetry = "none" if symmetry == "measured" else symmetry
    vectors = vectors_of(network, estimator, shape) * ORDERS[symmetry]
    most = max(LEAST, min(ROWS, VALUES // int(np.prod(shape))) // vectors)
    return recipe, Estimation(Leading(shape, min(FIRST, most * vectors), symmetry), most)


def estimated(
    recipe: Recipe, sums: store.Sums, device: torch.device, limit: float
) -> tuple[NADs, Response]:
    """NADs and response of as many untrained networks as are done by the time `limit`.

    At least `LEAST`, and those of the sums that are kept; raises what a network raised.
    """
    (recipe, estimation), shape = begun(recipe), recipe.shape
    total = estimation.accumulator
    for count in sums.counts():
        if (state := sums.get(count)) is not None:
            estimation.restore(state, count)
            break
    first = total.count

    def jobs() -> Iterator[tuple[Recipe, int]]:
        for number in range(first, estimation.networks):
            if number >= LEAST and time.monotonic() > limit:
                return
            yield recipe, number

    try:
        for position, result in workers.run(jacobian, jobs(), dict, device):
            if isinstance(result, Exception):
                raise result
            estimation.add(first + position, result)
    finally:
        if total.count > first:
            sums.put(total.count, estimation.state())
            for count in sums.counts()[1:]:
                sums.drop(count)
    nads = estimation.nads(recipe.estimator)
    if _complete(shape):
        return nads, Response(nads.directions, np.maximum(nads.eigenvalues, 0), shape)
    rows = estimation.state()["rows"]
    return nads, Response(rows, np.full(len(rows), 1 / total.count), shape)
