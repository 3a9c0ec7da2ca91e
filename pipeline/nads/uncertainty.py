"""Errors of an estimate of C and of its eigenvalues, and the eigenvalues that they separate."""

import numpy as np

SEPARATION = 3.5
"""Gap between eigenvalues, in standard errors of one, from which they count as separate.

Two equal eigenvalues of C show a gap of t standard errors with probability exp(−t²/4) (the level
repulsion of a random symmetric 2×2 matrix): 5 % at 3.5.
"""

NEIGHBOURS = 5
"""Directions on either side over which the parts' differences are averaged."""


def sampling_error(squares: float, total: float, count: int) -> float:
    """Relative Frobenius distance of the mean of `count` samples S_i that is expected from C.

    squares: Σ‖S_i‖²; total: ‖Σ S_i‖². The variance of the mean is (squares − total/n)/(n(n − 1));
    it is taken relative to the mean's own norm, so that no error exceeds 1.
    """
    return float(np.sqrt(max(0.0, squares * count / total - 1) / (count - 1)))


def standard_errors(eigenvalues: np.ndarray, parts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Standard errors (K,) of eigenvalues (K,), from the estimates of parts of the networks.

    parts: (P, K), each part's estimate of the eigenvalues; sizes: (P,), its number of networks. The
    relative variance of the parts' mean is averaged over `NEIGHBOURS` on either side, since few
    parts have few degrees of freedom.
    """
    count = sizes.sum()
    mean = sizes @ parts / count
    variance = sizes @ (parts - mean) ** 2 / ((len(sizes) - 1) * count)
    relative = np.divide(variance, mean**2, out=np.zeros_like(mean), where=mean > 0)
    window = np.ones(2 * NEIGHBOURS + 1)
    sums, counts = (
        np.convolve(x, window)[NEIGHBOURS:-NEIGHBOURS] for x in (relative, np.ones_like(relative))
    )
    return np.abs(eigenvalues) * np.sqrt(sums / counts)


def nearby_of(eigenvalues: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """The first and last index (K, 2) of the eigenvalues within `SEPARATION` errors of each.

    eigenvalues: (K,), decreasing; errors: (K,), their standard errors.
    """
    reach = SEPARATION * errors
    first = np.searchsorted(-eigenvalues, -(eigenvalues + reach), "left")
    last = np.searchsorted(-eigenvalues, -(eigenvalues - reach), "right") - 1
    return np.stack([first, last], 1)
