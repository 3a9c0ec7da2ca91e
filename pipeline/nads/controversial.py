"""Directions that one untrained network responds to and another one does not."""

import numpy as np
import scipy.linalg

from pipeline.nads import arguments
from pipeline.nads.directions import NADs, check_alike
from pipeline.nads.spectrum import orient
from pipeline.project.errors import InputError
from pipeline.training.shapes import dimension


def controversial(a: NADs, b: NADs, count: int = 1, damping: float = 0.1) -> np.ndarray:
    """Find the directions that network `a` should learn and network `b` should not.

    The directions v maximise vᵀC_A v / vᵀ(C_B + δI)v, where each covariance C is
    divided by its mean eigenvalue. They are the generalised eigenvectors of C_A and C_B
    + δI, each scaled to length 1. They follow from the untrained networks only.

    The order of `a` and `b` matters: `controversial(b, a)` favours network `b`.
    Directions of equal ratio are unique only up to a rotation among themselves.

    Args:
        a: NADs of the network that should respond, with all D directions and their
            eigenvalues.
        b: NADs of the network that should not respond, for inputs of the same shape.
        count: Number of directions, from 1 to D.
        damping: δ, in units of the mean eigenvalue of C_B. It bounds the ratio where
            C_B is zero.

    Returns:
        Unit vectors (count, D), float64, in decreasing ratio. The largest component of
        each, by absolute value, is positive. They are not orthogonal in general.

    Raises:
        InputError: The shapes differ, one of the NADs does not have all D directions
            or their eigenvalues, or `count` or `damping` is out of range.

    ConvMixer should learn this direction and LeNet should not: a response of 1 is the
    mean over all directions.

    >>> convmixer = load("convmixer")
    >>> lenet = load("lenet")
    >>> v = controversial(convmixer, lenet)[0]
    >>> for network in (convmixer, lenet):
    ...     energy = (network.directions @ v) ** 2 @ network.eigenvalues
    ...     print(f"{energy / network.eigenvalues.mean():.1f}")
    47.6
    0.1
    """
    check_alike(a, b)
    dimensions = dimension(a.shape)
    arguments.check_positive("damping", damping)

    if not 1 <= count <= dimensions:
        raise InputError(
            f"count must be from 1 to {dimensions}, not {count}",
            "out-of-range",
            name="count",
        )
    for nads in (a, b):
        # Missing directions would count as directions without any response.
        known = np.isfinite(nads.eigenvalues).sum()
        if known < dimensions:
            raise InputError(
                f"the NADs have eigenvalues of {known} of {dimensions} directions; "
                "estimate them, without `first`",
                "wrong-shape",
                directions=int(known),
            )
    damped = _normalised_covariance(b) + damping * np.eye(dimensions)
    _, vectors = scipy.linalg.eigh(
        _normalised_covariance(a),
        damped,
        subset_by_index=[dimensions - count, dimensions - 1],
    )
    directions = vectors.T[::-1]
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    return orient(directions / lengths)


def _normalised_covariance(nads: NADs) -> np.ndarray:
    """Return C (D, D) divided by its mean eigenvalue."""
    eigenvalues = nads.eigenvalues / nads.eigenvalues.mean()
    return (nads.directions.T * eigenvalues) @ nads.directions
