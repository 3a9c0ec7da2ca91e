"""The record of an architecture's NADs, estimated or made elsewhere."""

import dataclasses

import numpy as np

from pipeline.cells.shapes import as_text
from pipeline.project.errors import InputError


@dataclasses.dataclass(frozen=True)
class NADs:
    """The NADs of one architecture, eigenvectors of C in decreasing eigenvalue (paper 1, §4).

    - directions: (K, D) float64, orthonormal rows; shape: (C, H, W) of one input, D = C·H·W;
    - eigenvalues: (K,) of C, decreasing; standard_errors: (K,), theirs, from the spread of parts of
      the networks;
    - nearby: (K, 2), the first and last index whose eigenvalue is the same as this one within the
      errors: only their span means something, not the single vectors;
    - groups: (K,), the first index of each direction's group, which lies between two clear gaps;
    - halves: (2, K) and overlap: (K,), see `pipeline.nads.spectrum.Spectrum`;
    - error: relative Frobenius distance that the estimate of C is expected to have from the true C;
      split_half: the same from the distance of two halves; trace: (n, 2), numbers of networks and
      the error at that time; networks: the number of untrained networks;
    - estimand, method, step, point: see `pipeline.nads.estimator.Estimator`; symmetry: the one over
      which C was averaged; asymmetry: relative size of the part of C that this removed.

    Of imported NADs only directions, shape and networks (0) are known; other numbers are NaN, and
    the words 'file'.
    """

    directions: np.ndarray
    shape: tuple[int, ...]
    eigenvalues: np.ndarray
    standard_errors: np.ndarray
    nearby: np.ndarray
    groups: np.ndarray
    halves: np.ndarray
    overlap: np.ndarray
    error: float = np.nan
    split_half: float = np.nan
    trace: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 2)))
    networks: int = 0
    estimand: str = "file"
    method: str = "file"
    step: float = np.nan
    point: str = "file"
    symmetry: str = "none"
    asymmetry: float = np.nan


def imported(rows: np.ndarray, shape: tuple[int, ...], origin: str = "the array") -> NADs:
    """NADs made elsewhere: `rows` (K, D), K ≤ D, completed to a basis in no particular order.

    Raises InputError, naming the `origin`, unless the rows have the right shape and are orthonormal
    within 0.001.
    """
    dimension = int(np.prod(shape))
    if rows.ndim != 2 or rows.shape[1] != dimension or not 0 < len(rows) <= dimension:
        raise InputError(
            f"{origin} holds an array of shape {rows.shape}, not (K, {dimension}) with K ≤ "
            f"{dimension} for {as_text(shape)}"
        )
    rows = rows.astype(np.float64)
    with np.errstate(all="ignore"):
        deviation = np.abs(rows @ rows.T - np.eye(len(rows))).max()
    if not deviation <= 1e-3:  # NaN is not, either
        raise InputError(
            f"{origin} holds rows that are not orthonormal (their products are off by "
            f"{deviation:.2g})"
        )
    # The columns of a complete QR decomposition beyond the K-th are orthogonal to all rows.
    basis = np.linalg.qr(rows.T, mode="complete")[0].T
    unknown, indices = np.full(dimension, np.nan), np.arange(dimension)
    return NADs(
        directions=np.concatenate([rows, basis[len(rows) :]]),
        shape=tuple(shape),
        eigenvalues=unknown,
        standard_errors=unknown,
        nearby=np.stack([indices, indices], 1),
        groups=np.zeros_like(indices),
        halves=np.stack([unknown, unknown]),
        overlap=unknown,
    )


def from_file(path: str, shape: tuple[int, ...]) -> NADs:
    """The NADs in a .npy file; raises InputError where it cannot be read, and as `imported`."""
    try:
        with open(path, "rb") as file:
            rows = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise InputError(f"the NADs {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path} is not a .npy file of numbers: {reason}") from None
    return imported(rows, shape, path)
