"""Eigenvectors of an estimate of C in decreasing eigenvalue, made unique."""

import dataclasses

import numpy as np

FIRST_TEN = 10
"""Directions whose span is compared between the halves of an estimate and between estimands."""

EQUAL_ENTRIES = 1e-9
"""Relative difference below which two entries of a direction are the same but for rounding."""

EQUAL_EIGENVALUES = 1e-13
"""Difference, relative to 2‖C‖, below which two eigenvalues are the same but for rounding: those of
DenseNet-121 differ in pairs by up to 2·10⁻¹⁵, and otherwise by at least 8·10⁻¹²."""


@dataclasses.dataclass(frozen=True)
class Spectrum:
    """Eigenvectors of an estimate of C, with the estimates of its parts along them.

    directions: (K, D) orthonormal rows, largest entry positive; eigenvalues: (K,); parts: (P, K),
    u_kᵀ C_p u_k of each part's estimate C_p along each direction, and sizes: (P,), its number of
    networks; overlap: (K,), entry k − 1 is the share of the span of the first k eigenvectors of one
    half of the networks that lies in that of the other half's (1 where they agree, k/D by chance;
    NaN where it was not compared).
    """

    directions: np.ndarray
    eigenvalues: np.ndarray
    parts: np.ndarray
    sizes: np.ndarray
    overlap: np.ndarray


def oriented(directions: np.ndarray) -> np.ndarray:
    """Directions (K, D) with the sign that makes the (first) largest entry positive."""
    sizes = np.abs(directions)
    first = (sizes > (1 - EQUAL_ENTRIES) * sizes.max(1, keepdims=True)).argmax(1)
    return np.ascontiguousarray(
        directions * np.sign(np.take_along_axis(directions, first[:, None], 1))
    )


def eigenvectors(
    matrix: np.ndarray, symmetry: str, shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (D,), decreasing, and eigenvectors (D, D), as rows, of an averaged covariance.

    The symmetries of the square make eigenvalues equal in pairs. Rounding would choose one of the
    rotations of a pair's two vectors. So each vector is taken even or odd under the flip of left
    and right, with which the matrix commutes, and the even one of a pair comes first: the
    directions then depend on C alone, not on its last bits.
    """
    if symmetry != "square":
        values, vectors = np.linalg.eigh(matrix)
        return values[::-1].copy(), vectors.T[::-1]
    dimension = len(matrix)
    flip = np.eye(dimension).reshape(dimension, *shape)[..., ::-1].reshape(dimension, dimension)
    # Shifted by ± more than the largest of C, the eigenvalues of even vectors are positive, of odd
    # ones negative.
    shift = 2 * np.linalg.norm(matrix)
    values, vectors = np.linalg.eigh(matrix + shift * flip)
    odd = values < 0
    values = values + np.where(odd, shift, -shift)
    order = np.argsort(-values, kind="stable")
    values, vectors, odd = values[order], vectors.T[order], odd[order]
    pairs = np.concatenate([[0], np.cumsum(values[:-1] - values[1:] > EQUAL_EIGENVALUES * shift)])
    return values, vectors[np.lexsort((odd, pairs))]


def overlaps(products: np.ndarray) -> np.ndarray:
    """The share (K,) of one system's first k directions in another's span: ‖(U₁U₂ᵀ)[:k, :k]‖²/k.

    products: U₁U₂ᵀ, (K, K), of two orthonormal systems' rows.
    """
    sums = (products**2).cumsum(0).cumsum(1)
    return np.diagonal(sums) / np.arange(1, len(products) + 1)


def agreement(overlap: np.ndarray) -> tuple[int, float]:
    """The number k of first directions, ten or as many as were compared, and the share of the span
    of one half's first k that lies in the other half's.

    overlap: (K,), of a `Spectrum`. A half that is zero spans nothing, and shares nothing.
    """
    compared = overlap[:FIRST_TEN][np.isfinite(overlap[:FIRST_TEN])]
    return len(compared), float(compared[-1]) if len(compared) else 0.0
