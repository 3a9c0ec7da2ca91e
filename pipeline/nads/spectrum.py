"""Eigenvectors of an estimate of C, in decreasing eigenvalue and made unique, and their
errors."""

import dataclasses

import numpy as np

FIRST_TEN = 10  # directions whose span is compared between halves and between estimands
EQUAL_ENTRIES = (
    1e-9  # relative difference of two entries that are the same but for rounding
)
NEIGHBOURS = (
    5  # directions on either side over which the parts' differences are averaged
)

EQUAL_EIGENVALUES = 1e-13
"""Difference, relative to 2‖C‖, below which two eigenvalues are the same but for
rounding: those of DenseNet-121 differ in pairs by up to 2·10⁻¹⁵, and otherwise by at
least 8·10⁻¹²."""

SEPARATION = 3.5
"""Gap between eigenvalues, in standard errors of one, from which they count as
separate.

Two equal eigenvalues of C show a gap of t standard errors with probability exp(−t²/4)
(the level repulsion of a random symmetric 2×2 matrix): 5 % at 3.5.
"""


@dataclasses.dataclass(frozen=True)
class Spectrum:
    """Eigenvectors of an estimate of C, with the estimates of its parts along them.

    directions: (K, D) orthonormal rows, largest entry positive; eigenvalues: (K,);
    parts: (P, K), u_kᵀ C_p u_k of each part's estimate C_p along each direction, and
    sizes: (P,), its number of networks; overlap: (K,), entry k − 1 is the share of the
    span of the first k eigenvectors of one half of the networks that lies in that of
    the other half's (1 where they agree, k/D by chance; NaN where it was not compared).
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
    """Eigenvalues (D,), decreasing, and eigenvectors (D, D), as rows, of an averaged
    covariance.

    The symmetries of the square make eigenvalues equal in pairs. Rounding would choose
    one of the rotations of a pair's two vectors. So each vector is taken even or odd
    under the flip of left and right, with which the matrix commutes, and the even one
    of a pair comes first: the directions then depend on C alone, not on its last bits.
    """
    if symmetry != "square":
        values, vectors = np.linalg.eigh(matrix)
        return values[::-1].copy(), vectors.T[::-1]
    dimension = len(matrix)
    flip = (
        np.eye(dimension)
        .reshape(dimension, *shape)[..., ::-1]
        .reshape(dimension, dimension)
    )
    # Shifted by ± more than the largest, eigenvalues of even vectors are positive, of
    # odd negative.
    shift = 2 * np.linalg.norm(matrix)
    values, vectors = np.linalg.eigh(matrix + shift * flip)
    odd = values < 0
    values = values + np.where(odd, shift, -shift)
    order = np.argsort(-values, kind="stable")
    values = values[order]
    vectors = vectors.T[order]
    odd = odd[order]
    pairs = np.concatenate(
        [[0], np.cumsum(values[:-1] - values[1:] > EQUAL_EIGENVALUES * shift)]
    )
    return values, vectors[np.lexsort((odd, pairs))]


def overlaps(products: np.ndarray) -> np.ndarray:
    """The share (K,) of one system's first k directions in another's span: ‖(U₁U₂ᵀ)[:k,
    :k]‖²/k.

    products: U₁U₂ᵀ, (K, K), of two orthonormal systems' rows.
    """
    sums = (products**2).cumsum(0).cumsum(1)
    return np.diagonal(sums) / np.arange(1, len(products) + 1)


def agreement(overlap: np.ndarray) -> tuple[int, float]:
    """The number k of first directions, ten or as many as were compared, and the share
    of the span of one half's first k that lies in the other half's.

    overlap: (K,), of a `Spectrum`. A half that is zero spans nothing, and shares
    nothing.
    """
    compared = overlap[:FIRST_TEN][np.isfinite(overlap[:FIRST_TEN])]
    return len(compared), float(compared[-1]) if len(compared) else 0.0


def sampling_error(squares: float, total: float, count: int) -> float:
    """Relative Frobenius distance of the mean of `count` samples S_i that is expected
    from C.

    squares: Σ‖S_i‖²; total: ‖Σ S_i‖². The variance of the mean is (squares −
    total/n)/(n(n − 1)); it is taken relative to the mean's own norm, so that no error
    exceeds 1.
    """
    return float(np.sqrt(max(0.0, squares * count / total - 1) / (count - 1)))


def standard_errors(
    eigenvalues: np.ndarray, parts: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """Standard errors (K,) of eigenvalues (K,), from the estimates of parts of the
    networks.

    parts: (P, K), each part's estimate of the eigenvalues; sizes: (P,), its number of
    networks. The relative variance of the parts' mean is averaged over `NEIGHBOURS` on
    either side, since few parts have few degrees of freedom.
    """
    count = sizes.sum()
    mean = sizes @ parts / count
    variance = sizes @ (parts - mean) ** 2 / ((len(sizes) - 1) * count)
    relative = np.divide(variance, mean**2, out=np.zeros_like(mean), where=mean > 0)
    window = np.ones(2 * NEIGHBOURS + 1)
    sums, counts = (
        np.convolve(x, window)[NEIGHBOURS:-NEIGHBOURS]
        for x in (relative, np.ones_like(relative))
    )
    return np.abs(eigenvalues) * np.sqrt(sums / counts)


def nearby_of(eigenvalues: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """The first and last index (K, 2) of the eigenvalues within `SEPARATION` errors of
    each.

    eigenvalues: (K,), decreasing; errors: (K,), their standard errors.
    """
    reach = SEPARATION * errors
    first = np.searchsorted(-eigenvalues, -(eigenvalues + reach), "left")
    last = np.searchsorted(-eigenvalues, -(eigenvalues - reach), "right") - 1
    return np.stack([first, last], 1)
