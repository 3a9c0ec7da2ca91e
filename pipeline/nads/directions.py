"""Neural anisotropy directions as a record, of networks that were averaged or from an array made elsewhere."""

import dataclasses

import numpy as np
import psutil

from pipeline.project.errors import InputError

COMPLETION = 5
"""Matrices of D×D numbers that the memory holds at once when given rows are completed to a basis."""


@dataclasses.dataclass(frozen=True)
class NADs:
    """The NADs of one architecture, eigenvectors of C in decreasing eigenvalue (paper 1, §4), and how they were made.

    - directions: (K, D) float64, orthonormal rows, index 0 first, of the pairs that the symmetries of the square make
      equal the one first that is even under the flip of left and right; shape: (C, H, W) of one input, D = C·H·W;
    - eigenvalues: (K,) of C, decreasing; standard_errors: (K,), theirs, from the spread of parts of the networks;
    - nearby: (K, 2), the first and last index whose eigenvalue is the same as this one within the errors: only their
      span means something, not the single vectors;
    - groups: (K,), the index at which the group of each direction begins: a group lies between two clear gaps;
    - halves: (2, K) and overlap: (K,), see `pipeline.nads.spectrum.Spectrum`;
    - error: relative Frobenius distance that the estimate of C is expected to have from the true C, from the spread of
      the networks' own samples; split_half: the same from the distance of two halves; trace: (n, 2), numbers of
      networks and the error that there was then; networks: how many untrained networks were averaged;
    - estimand, method, step, point: see `pipeline.nads.estimator.Estimator`; symmetry: what C was averaged over;
      asymmetry: relative size of what that averaging removed.

    Of imported NADs only directions, shape and networks (0) are known; the numbers are NaN and the words 'file'.
    """

    directions: np.ndarray
    shape: tuple[int, ...]
    eigenvalues: np.ndarray
    standard_errors: np.ndarray
    nearby: np.ndarray
    groups: np.ndarray
    halves: np.ndarray
    overlap: np.ndarray
    error: float
    split_half: float
    trace: np.ndarray
    networks: int
    estimand: str
    method: str
    step: float
    point: str
    symmetry: str
    asymmetry: float


def imported(rows: np.ndarray, shape: tuple[int, ...], origin: str = "the array") -> NADs:
    """NADs made elsewhere, `rows` (K, D) with K ≤ D, completed to a basis where K < D.

    The given rows are kept as they are; the others span what is left, in no particular order, since nothing is known of
    it. Raises InputError, naming the `origin`, unless the rows are finite numbers of the right shape, orthonormal
    within 0.001, and the basis fits into this machine.
    """
    dimension = int(np.prod(shape))
    size = "×".join(map(str, shape))
    if rows.ndim != 2 or rows.shape[1] != dimension or not 0 < len(rows) <= dimension:
        raise InputError(
            f"{origin} holds an array of shape {rows.shape}, not (K, {dimension}) with K ≤ {dimension} for {size}"
        )
    if not np.issubdtype(rows.dtype, np.floating):
        raise InputError(f"{origin} holds values of type {rows.dtype}, not real numbers")
    needed, free = COMPLETION * 8 * dimension**2, psutil.virtual_memory().total
    if needed > free:
        raise InputError(
            f"{origin} holds NADs of inputs {size} (D = {dimension:,}), whose basis needs {needed / 1e9:,.1f} GB to be completed, "
            f"and this machine has {free / 1e9:,.1f}"
        )
    # Huge numbers become infinite here, their products infinite or NaN, which no comparison holds for.
    with np.errstate(all="ignore"):
        rows = rows.astype(np.float64)
        worst = np.abs(rows @ rows.T - np.eye(len(rows))).max()
    if not np.isfinite(rows).all():
        raise InputError(f"{origin} holds values that are not finite real numbers")
    if not np.isfinite(worst):
        raise InputError(f"{origin} holds values that are far too large for rows of length 1")
    if worst > 1e-3:
        raise InputError(f"{origin} holds rows that are not orthonormal (their products are off by {worst:.2g})")
    # The columns of a complete QR decomposition beyond the K-th are orthogonal to all rows.
    basis = np.linalg.qr(rows.T, mode="complete")[0].T
    directions = np.concatenate([rows, basis[len(rows) :]])
    unknown = np.full(dimension, np.nan)
    return NADs(
        directions=directions,
        shape=tuple(shape),
        eigenvalues=unknown,
        standard_errors=unknown,
        nearby=np.stack([np.arange(dimension)] * 2, 1),
        groups=np.zeros(dimension, np.int64),
        halves=np.stack([unknown, unknown]),
        overlap=unknown,
        error=float("nan"),
        split_half=float("nan"),
        trace=np.zeros((0, 2)),
        networks=0,
        estimand="file",
        method="file",
        step=float("nan"),
        point="file",
        symmetry="none",
        asymmetry=float("nan"),
    )
