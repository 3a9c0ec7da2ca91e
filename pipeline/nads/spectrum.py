"""Eigenvectors of an estimate of C: their order, their sign and their errors."""

import dataclasses

import numpy as np

FIRST_TEN = 10
"""Directions whose span is compared between halves and between estimands."""

EQUAL_ENTRIES = 1e-9
"""Relative difference below which two entries differ by rounding only."""

NEIGHBOURS = 5
"""Directions on either side over which the variance of the parts is averaged."""

EQUAL_EIGENVALUES = 1e-13
"""Difference, relative to 2‖C‖, below which eigenvalues differ by rounding only.

Those of DenseNet-121 differ in pairs by up to 2·10⁻¹⁵, and otherwise by at least
8·10⁻¹².
"""

SEPARATION = 3.5
"""Gap between eigenvalues, in standard errors of one, from which they count as
separate.

Two equal eigenvalues of C show a gap of t standard errors with probability exp(−t²/4)
(the level repulsion of a random symmetric 2×2 matrix): 5 % at 3.5.
"""


@dataclasses.dataclass(frozen=True)
class Spectrum:
    """Eigenvectors of an estimate of C, with the estimates of its parts along them.

    Attributes:
        directions: (K, D), orthonormal rows, largest entry positive.
        eigenvalues: (K,), decreasing.
        parts: (P, K), u_kᵀ C_p u_k of each part's estimate C_p along each direction.
        sizes: (P,), number of networks of each part.
        overlap: (K,). Entry k − 1 is the share of the span of the first k eigenvectors
            of one half of the networks that is in the span of the other half's: 1 where
            they agree, k/D by chance, NaN where it was not compared.
    """

    directions: np.ndarray
    eigenvalues: np.ndarray
    parts: np.ndarray
    sizes: np.ndarray
    overlap: np.ndarray


def orient(directions: np.ndarray) -> np.ndarray:
    """Give directions (K, D) the sign that makes the (first) largest entry positive."""
    sizes = np.abs(directions)
    largest = sizes > (1 - EQUAL_ENTRIES) * sizes.max(1, keepdims=True)
    first = largest.argmax(1)
    signs = np.sign(np.take_along_axis(directions, first[:, None], 1))
    return np.ascontiguousarray(directions * signs)


def decompose(
    matrix: np.ndarray, symmetry: str, shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Compute eigenvalues and eigenvectors of an averaged covariance.

    The symmetries of the square make eigenvalues equal in pairs. Rounding would choose
    one of the rotations of a pair's two vectors. So each vector is taken even or odd
    under the flip of left and right, with which the matrix commutes, and the even one
    of a pair comes first: the directions then depend on C only, not on its last bits.

    Args:
        matrix: (D, D), averaged over the symmetry.
        symmetry: One of `pipeline.networks.SYMMETRIES`.
        shape: (C, H, W) of one input.

    Returns:
        Eigenvalues (D,), decreasing, and eigenvectors (D, D), as rows.
    """
    if symmetry != "square":
        values, vectors = np.linalg.eigh(matrix)
        return values[::-1].copy(), vectors.T[::-1]
    dimension = len(matrix)
    pixels = np.eye(dimension).reshape(dimension, *shape)
    flip = pixels[..., ::-1].reshape(dimension, dimension)
    # Shifted by ± more than the largest eigenvalue, those of even vectors are positive
    # and those of odd vectors negative.
    shift = 2 * np.linalg.norm(matrix)
    values, vectors = np.linalg.eigh(matrix + shift * flip)
    odd = values < 0
    values = values + np.where(odd, shift, -shift)
    order = np.argsort(-values, kind="stable")
    values = values[order]
    vectors = vectors.T[order]
    odd = odd[order]
    separate = values[:-1] - values[1:] > EQUAL_EIGENVALUES * shift
    pairs = np.concatenate([[0], np.cumsum(separate)])
    return values, vectors[np.lexsort((odd, pairs))]


def overlaps(products: np.ndarray) -> np.ndarray:
    """Compute the share of a system's first k directions in the span of another's.

    Args:
        products: U₁U₂ᵀ, (K, K), of the rows of two orthonormal systems.

    Returns:
        ‖(U₁U₂ᵀ)[:k, :k]‖²/k for k from 1 to K, (K,).
    """
    sums = (products**2).cumsum(0).cumsum(1)
    return np.diagonal(sums) / np.arange(1, len(products) + 1)


def agreement(overlap: np.ndarray) -> tuple[int, float]:
    """Return how far two halves agree on the first ten directions.

    Args:
        overlap: (K,), of a `Spectrum`.

    Returns:
        The number k of directions, ten or as many as were compared, and the share of
        the span of one half's first k that is in the other half's. A half that is zero
        spans nothing and shares nothing.
    """
    first = overlap[:FIRST_TEN]
    compared = first[np.isfinite(first)]
    if len(compared) == 0:
        return 0, 0.0
    return len(compared), float(compared[-1])


def sampling_error(squares: float, total: float, count: int) -> float:
    """Compute the expected relative Frobenius distance of a mean of samples from C.

    The variance of the mean is (squares − total/n)/(n(n − 1)). It is taken relative to
    the mean's own norm, so that no error exceeds 1.

    Args:
        squares: Σ‖S_i‖² of the samples S_i.
        total: ‖Σ S_i‖².
        count: Number n of samples.
    """
    return float(np.sqrt(max(0.0, squares * count / total - 1) / (count - 1)))


def standard_errors(
    eigenvalues: np.ndarray, parts: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """Compute standard errors of eigenvalues from the estimates of parts.

    The relative variance of the parts' mean is averaged over `NEIGHBOURS` on either
    side, since few parts have few degrees of freedom.

    Args:
        eigenvalues: (K,).
        parts: (P, K), each part's estimate of the eigenvalues.
        sizes: (P,), number of networks of each part.

    Returns:
        Standard errors (K,).
    """
    count = sizes.sum()
    mean = sizes @ parts / count
    variance = sizes @ (parts - mean) ** 2 / ((len(sizes) - 1) * count)
    relative = np.divide(variance, mean**2, out=np.zeros_like(mean), where=mean > 0)
    window = np.ones(2 * NEIGHBOURS + 1)
    inside = slice(NEIGHBOURS, -NEIGHBOURS)
    sums = np.convolve(relative, window)[inside]
    counts = np.convolve(np.ones_like(relative), window)[inside]
    return np.abs(eigenvalues) * np.sqrt(sums / counts)


def degenerate_ranges(eigenvalues: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Find the eigenvalues that are equal to each eigenvalue within its error.

    Args:
        eigenvalues: (K,), decreasing.
        errors: (K,), their standard errors.

    Returns:
        (K, 2), the first and last index within `SEPARATION` errors.
    """
    reach = SEPARATION * errors
    first = np.searchsorted(-eigenvalues, -(eigenvalues + reach), "left")
    last = np.searchsorted(-eigenvalues, -(eigenvalues - reach), "right") - 1
    return np.stack([first, last], 1)
