"""The response of untrained networks, estimated in a given time."""

import dataclasses
import functools
import math
import time

import numpy as np

from pipeline import networks
from pipeline.nads import NADs
from pipeline.nads.estimation import begun
from pipeline.nads.estimator import Estimator, Source
from pipeline.nads.jacobian import Sampler
from pipeline.nads.readout import usable
from pipeline.nads.symmetry import ORDERS
from pipeline.nads.task import by_workers
from pipeline.networks import Shape, Specification
from pipeline.profile.response import Response

LARGEST = 4096
"""Dimension D up to which all NADs are estimated; a larger D×D matrix takes too long to
decompose."""

FIRST = 100  # NADs at most, for a D beyond `LARGEST`
ROWS = 4096  # vectors at most, for such a D
VALUES = 2**28  # numbers in these vectors at most (a gigabyte)

LEAST = 4  # untrained networks at least
ENOUGH = 8  # untrained networks whose secants must fit into the time
MOST = 100_000  # untrained networks at most


SECANT = Estimator("secant", "readout", 100.0, "normal", True, False)
"""The papers' estimand, averaged over what is known of a network."""


def spanning(specification: Specification, shape: Shape, estimator: Estimator) -> int:
    """The least number of untrained networks whose vectors can span the directions that are sought,
    all D of them or the first."""
    network = networks.build(specification, shape[0], 1, 0)
    symmetry = networks.symmetry_of_inputs(specification, shape)
    channels = shape[0] if symmetry.channels else 1
    vectors = usable(network, estimator, shape)[1] * ORDERS[symmetry.square]
    dimension = math.prod(shape)
    sought = dimension if dimension <= LARGEST else FIRST
    return math.ceil(sought / (channels**2 * vectors))


def affordable(
    shape: Shape, step: float, seconds: float, least: int
) -> tuple[Estimator, list[str]]:
    """The estimator that fits into the time, and, where it is not the papers', why, in sentences.

    step: seconds that a sample takes in a step of training, a third of them forward; seconds: the
    time of all cores together; least: number of networks whose secants must fit into it.
    """
    passes = 2 * math.prod(shape)
    each, least = passes * step / 3, max(least, ENOUGH)
    if least * each <= seconds:
        return SECANT, []
    # Of large inputs many networks tell more than many features of few.
    method = "readout" if math.prod(shape) <= LARGEST else "plain"
    reason = (
        "The response on this page is the output's gradient at images of noise, not its change "
        f"between steps of ±100 as in the papers, whose {passes:,} forward passes take "
        f"{each:,.0f} seconds for each of at least {least:,} untrained networks. The two differ: "
        "rely on the networks that were trained, or give more --minutes."
    )
    return Estimator("gradient", method, 100.0, "many", True, False), [reason]


def estimated(
    specification: Specification, shape: Shape, estimator: Estimator, device: str, limit: float
) -> tuple[NADs, Response, list[str]]:
    """NADs, all D or the first ones, and response of at least `LEAST` untrained networks, of which
    none is begun after the time `limit`; and what is wrong with them, in sentences.

    Raises the exception of a network that cannot be run.
    """
    build = functools.partial(networks.build, specification, shape[0], 1)
    dimension = math.prod(shape)
    symmetry, source = networks.symmetry_of_inputs(specification, shape), Source(MOST, input=shape)
    if dimension > LARGEST:
        symmetry = networks.Symmetry(symmetry.square)  # the response is that of all channels
        order = ORDERS[symmetry.square]  # a network's vectors count once for each element
        vectors = order * usable(build(0), estimator, shape)[1]
        if LEAST * vectors > ROWS:  # whose decomposition would take many minutes
            estimator, vectors = dataclasses.replace(estimator, method="plain"), order
        most = max(LEAST, min(ROWS, VALUES // dimension) // vectors)
        source = Source(most, input=shape, first=min(FIRST, most * vectors))
    sums = begun(Sampler(build, shape, (0, "profile"), estimator, device), source, symmetry)
    in_time = lambda number: number < LEAST or time.monotonic() < limit
    sums.fill(by_workers, in_time, leave=False)
    nads = sums.nads()
    if dimension > LARGEST:
        return nads, Response(sums.accumulator.rows / np.float32(nads.networks**0.5), shape), []
    scales, gaps = np.sqrt(np.maximum(nads.eigenvalues, 0)), []
    if nads.networks < (needed := spanning(specification, shape, sums.sampler.estimator)):
        gaps = [
            f"{nads.networks:,} untrained networks are too few for the last NADs: the response to "
            f"some is 0 by lack of networks alone. Give more --minutes; it takes {needed:,}."
        ]
    return nads, Response(scales[:, None] * nads.directions, shape), gaps
