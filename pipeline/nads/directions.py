"""The record of an architecture's NADs, estimated or made elsewhere."""

import dataclasses
import os
import typing

import numpy as np

from pipeline.nads.spectrum import overlaps
from pipeline.project.errors import InputError, prefix_errors
from pipeline.training.shapes import as_text

if typing.TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclasses.dataclass(frozen=True)
class NADs:
    """The NADs of one architecture, eigenvectors of C in decreasing eigenvalue (paper
    1, §4).

    - directions: (K, D) float64, orthonormal rows; shape: (C, H, W) of one input, D =
      C·H·W;
    - eigenvalues: (K,) of C, decreasing; standard_errors: (K,) of the eigenvalues, from
      the spread of parts of the networks;
    - nearby: (K, 2), the first and last index whose eigenvalue is the same within 3.5
      standard errors: the single vectors of these mean nothing;
    - halves: (2, K), uᵀCu along each direction by the networks of even and of odd
      number; overlap: (K,), see `pipeline.nads.spectrum.Spectrum`;
    - error: relative Frobenius distance that the estimate of C is expected to have from
      the true C; split_half: the same from the distance of two halves; networks: the
      number of untrained ones;
    - estimand, method, step, point: see `pipeline.nads.estimator.Estimator`; symmetry:
      the one over which C was averaged; asymmetry: relative size of the part of C that
      this removed.

    NADs made elsewhere have directions, a shape and 0 networks; their other numbers are
    NaN.

    >>> nads = load("lenet")
    >>> nads.save("mine.npz")
    >>> NADs.load("mine.npz").networks
    1024
    >>> nads.directions[0].reshape(nads.shape).shape
    (1, 32, 32)
    """

    directions: np.ndarray
    shape: tuple[int, ...]
    eigenvalues: np.ndarray
    standard_errors: np.ndarray
    nearby: np.ndarray
    halves: np.ndarray
    overlap: np.ndarray
    error: float = np.nan
    split_half: float = np.nan
    networks: int = 0
    estimand: str = "file"
    method: str = "file"
    step: float = np.nan
    point: str = "file"
    symmetry: str = "none"
    asymmetry: float = np.nan

    def __repr__(self) -> str:
        text = f"{len(self.directions)} NADs of {as_text(self.shape)} inputs"
        if not self.networks:
            return f"{text}, made elsewhere"
        symmetry = (
            "no symmetry" if self.symmetry == "none" else f"symmetry {self.symmetry}"
        )
        return (
            f"{text} ({self.estimand}) from {self.networks} untrained networks, averaged over "
            f"{symmetry}, relative error of C {self.error:.2g}"
        )

    def save(self, file: str | os.PathLike | typing.BinaryIO) -> None:
        """Write these NADs to a .npz file, one array a field, as the files of data/nads
        are."""
        np.savez(file, **vars(self))

    @classmethod
    def load(cls, file: str | os.PathLike | typing.BinaryIO) -> typing.Self:
        """The NADs in a file that `save` or the stage `estimate` wrote, or in one of
        fewer digits.

        Further arrays in it, such as those that say how they were made, are left out.
        """
        with np.load(file) as arrays:
            values = {
                field.name: arrays[field.name] for field in dataclasses.fields(cls)
            }
        for name, a in values.items():
            if a.ndim == 0 or a.dtype.kind == "f":
                values[name] = a.astype(np.float64) if a.ndim else a.item()
        return cls(**values | {"shape": tuple(values["shape"].tolist())})

    def plot(self) -> "Figure":
        """A matplotlib Figure of chosen NADs, in pixels and over spatial frequency.

        Over each stand its index and the indices whose eigenvalue is the same within
        the errors.
        """
        from pipeline.nads.gallery import (
            gallery,
        )  # no stage needs matplotlib for its NADs

        figure = gallery(
            self.directions, self.shape, self.nearby if self.networks else None
        )
        figure.suptitle(repr(self), fontsize=9)
        legend = "above each NAD: its index"
        if self.networks:
            legend += ", and the indices whose eigenvalue is the same within the errors"
        figure.supxlabel(legend, fontsize=7.5)
        return figure


def overlap(a: NADs, b: NADs, k: int) -> float:
    """The mean squared cosine of the angles between the spans of the first k directions
    of a and b.

    The mean is 1 for equal spans, 0 for orthogonal ones and k/D by chance; k: from 1 to
    the number of directions of a and of b, which are of one shape.

    >>> import numpy as np >>> pixels, turned = (imported(rows, (1, 2, 2)) for rows in
    (np.eye(4), np.eye(4)[::-1])) >>> [round(overlap(pixels, turned, k), 2) for k in (1,
    2, 3, 4)] [0.0, 0.0, 0.67, 1.0]
    """
    return float(overlaps(a.directions[:k] @ b.directions[:k].T)[k - 1])


def imported(
    rows: np.ndarray, shape: tuple[int, ...], origin: str = "the array"
) -> NADs:
    """NADs made elsewhere: `rows` (K, D), K ≤ D, completed to a basis in no particular
    order.

    shape: (C, H, W) of one input; origin: the rows' name in an error. Raises InputError
    unless the rows have the right shape and are orthonormal within 0.001.

    >>> import numpy as np
    >>> imported(np.eye(4)[:2], (1, 2, 2))
    4 NADs of 1×2×2 inputs, made elsewhere
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
    # The columns of a complete QR decomposition beyond the K-th are orthogonal to all
    # rows.
    basis = np.linalg.qr(rows.T, mode="complete")[0].T
    unknown = np.full(dimension, np.nan)
    indices = np.arange(dimension)
    return NADs(
        directions=np.concatenate([rows, basis[len(rows) :]]),
        shape=tuple(shape),
        eigenvalues=unknown,
        standard_errors=unknown,
        nearby=np.stack([indices, indices], 1),
        halves=np.stack([unknown, unknown]),
        overlap=unknown,
    )


def from_file(path: str, shape: tuple[int, ...]) -> NADs:
    """NADs made elsewhere, from a .npy file of rows (K, D) for inputs of `shape` (C, H,
    W).

    Raises InputError where the file cannot be read, and as `imported`.

    >>> import numpy as np
    >>> np.save("theirs.npy", np.eye(4)[:2])
    >>> from_file("theirs.npy", (1, 2, 2)).directions.shape
    (4, 4)
    """
    with (
        prefix_errors(f"the NADs {path} cannot be read: ", OSError, ValueError),
        open(path, "rb") as file,
    ):
        rows = np.lib.format.read_array(file, allow_pickle=False)
    return imported(rows, shape, path)
