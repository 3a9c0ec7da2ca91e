"""What is known of a network before training."""

import functools
from typing import Any

from pipeline import networks
from pipeline.nads import NADs, estimate
from pipeline.training.shapes import INPUT


def estimate_nads(
    specification: networks.Specification,
    count: int,
    *,
    symmetry: str | None = None,
    **estimator: Any,
) -> NADs:
    """Estimate the NADs of a network with one channel and one output.

    Args:
        specification: The network and its arguments.
        count: Number of untrained networks, at most.
        symmetry: The symmetry over which C is averaged; that of the network if None.
        estimator: Further arguments of `pipeline.nads.estimate`.
    """
    make = networks.constructor(specification["network"])
    build = functools.partial(make, 1, 1, **networks.keywords(specification))
    symmetry = symmetry or networks.symmetry(specification).square
    return estimate(build, INPUT, count, symmetry=symmetry, **estimator)
