"""What is known of a network before training: its NADs, and how much it responds along
a direction."""

import functools
from typing import Any

import numpy as np

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


def energy(nads: NADs, vectors: np.ndarray) -> np.ndarray:
    """Compute vᵀCv, the square of the response, along unit vectors v.

    Args:
        nads: An estimate of C.
        vectors: One unit vector (D,), or some as rows (K, D).

    Returns:
        One number, or (K,).
    """
    squares = (vectors @ nads.directions.T) ** 2
    # By rounding, the eigenvalue of a direction that is not seen can be below zero.
    return np.maximum(0, squares @ nads.eigenvalues)
