"""The record of an architecture's NADs, estimated or made elsewhere."""

import dataclasses
import io
import math
import os
import typing

import numpy as np

from pipeline.nads import arguments
from pipeline.nads.spectrum import overlaps
from pipeline.project.errors import InputError
from pipeline.training.shapes import as_text

if typing.TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclasses.dataclass(frozen=True)
class NADs:
    """The NADs of one architecture.

    They are the eigenvectors of C in decreasing eigenvalue (paper 1, §4). NADs made
    elsewhere have directions, a shape and 0 networks; their other numbers are NaN.

    Attributes:
        directions: (K, D) float64, orthonormal rows.
        shape: (C, H, W) of one input, D = C·H·W.
        eigenvalues: (K,), of C, decreasing.
        standard_errors: (K,), of the eigenvalues, from the spread of parts of the
            networks.
        nearby: (K, 2), the first and last index whose eigenvalue is the same within 3.5
            standard errors: the single vectors of these mean nothing.
        halves: (2, K), uᵀCu along each direction by the networks of even and of odd
            number.
        overlap: (K,), see `pipeline.nads.spectrum.Spectrum`.
        error: Expected relative Frobenius distance of the estimate of C from the true
            C.
        split_half: The same from the distance of two halves.
        networks: Number of untrained networks.
        estimand: See `pipeline.nads.estimator.Estimator`.
        method: See `pipeline.nads.estimator.Estimator`.
        step: See `pipeline.nads.estimator.Estimator`.
        point: See `pipeline.nads.estimator.Estimator`.
        symmetry: The symmetry over which C was averaged.
        asymmetry: Relative size of the part of C that this removed.

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
        if self.networks == 0:
            return f"{text}, made elsewhere"
        symmetry = f"symmetry {self.symmetry}"
        if self.symmetry == "none":
            symmetry = "no symmetry"
        return (
            f"{text} ({self.estimand}) from {self.networks} untrained networks, "
            f"averaged over {symmetry}, relative error of C {self.error:.2g}"
        )

    def __len__(self) -> int:
        return len(self.directions)

    def _repr_png_(self) -> bytes:
        """Return the figure that a notebook shows for NADs."""
        picture = io.BytesIO()
        self.plot().savefig(picture, format="png")
        return picture.getvalue()

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with a row for each NAD, without the directions themselves.

        Returns:
            Columns `eigenvalue`, `standard_error`, `first_nearby`, `last_nearby` and
            `overlap`, indexed by the NAD's index.
        """
        import pandas as pd  # no stage needs it for its NADs

        columns = {
            "eigenvalue": self.eigenvalues,
            "standard_error": self.standard_errors,
            "first_nearby": self.nearby[:, 0],
            "last_nearby": self.nearby[:, 1],
            "overlap": self.overlap,
        }
        return pd.DataFrame(columns).rename_axis("index")

    def save(self, file: str | os.PathLike | typing.BinaryIO) -> None:
        """Write the fields to a .npz file, as the files of data/nads are."""
        np.savez(file, **vars(self))

    @classmethod
    def load(cls, file: str | os.PathLike | typing.BinaryIO) -> typing.Self:
        """Read a file that `save` or the stage `estimate` wrote, in any precision.

        Further arrays in it, such as those that say how they were made, are left out.
        """
        values = {}
        with np.load(file) as arrays:
            for field in dataclasses.fields(cls):
                array = arrays[field.name]
                if array.ndim == 0:
                    values[field.name] = array.item()
                elif array.dtype.kind == "f":
                    values[field.name] = array.astype(np.float64)
                else:
                    values[field.name] = array
        values["shape"] = tuple(values["shape"].tolist())
        return cls(**values)

    def plot(self) -> "Figure":
        """Draw chosen NADs in pixels and over spatial frequency with matplotlib.

        Above each NAD are its index and the indices whose eigenvalue is the same within
        the errors.
        """
        # No stage needs matplotlib for its NADs.
        from pipeline.nads.gallery import gallery

        legend = "above each NAD: its index"
        nearby = None
        if self.networks:
            legend += ", and the indices whose eigenvalue is the same within the errors"
            nearby = self.nearby
        figure = gallery(self.directions, self.shape, nearby)
        figure.suptitle(repr(self), fontsize=9)
        figure.supxlabel(legend, fontsize=7.5)
        return figure


def overlap(a: NADs, b: NADs, k: int) -> float:
    """Compute how far the spans of the first k directions of a and b agree.

    Args:
        a: NADs.
        b: NADs for inputs of the same shape.
        k: Number of directions, from 1 to the number of directions of a and of b.

    Returns:
        The mean squared cosine of the angles between the spans: 1 for equal spans, 0
        for orthogonal spans, k/D by chance.

    Raises:
        InputError: For NADs of other inputs, and for a k that one of them does not
            have.

    >>> import numpy as np
    >>> pixels = imported(np.eye(4), (1, 2, 2))
    >>> reverse = imported(np.eye(4)[::-1], (1, 2, 2))
    >>> [round(overlap(pixels, reverse, k), 2) for k in (1, 2, 3, 4)]
    [0.0, 0.0, 0.67, 1.0]
    """
    check_alike(a, b)

    if not 1 <= k <= min(len(a), len(b)):
        raise InputError(
            f"k must be from 1 to {min(len(a), len(b))}, the number of directions, not "
            f"{k}",
            "out-of-range",
            k=k,
        )
    return float(overlaps(a.directions[:k] @ b.directions[:k].T)[k - 1])


def check_alike(a: NADs, b: NADs) -> None:
    """Check that two arguments are NADs for inputs of the same shape.

    Args:
        a: The first argument.
        b: The second argument.

    Raises:
        InputError: If they are not.
    """
    for nads in (a, b):
        if not isinstance(nads, NADs):
            raise InputError(
                f"NADs are needed, not a {type(nads).__name__}; `imported` makes NADs "
                "of an array",
                "wrong-type",
            )
    if a.shape != b.shape:
        raise InputError(
            f"the NADs are for inputs of {as_text(a.shape)} and of {as_text(b.shape)}; "
            "compare networks with inputs of one shape",
            "wrong-shape",
            shapes=(a.shape, b.shape),
        )


def imported(
    rows: np.ndarray, shape: tuple[int, ...], origin: str = "the array"
) -> NADs:
    """Make NADs from directions made elsewhere, completed to a basis.

    The order of the further directions means nothing.

    Args:
        rows: (K, D), K ≤ D, the directions.
        shape: (C, H, W) of one input.
        origin: Name of the rows in an error.

    Returns:
        NADs with D directions.

    Raises:
        InputError: Unless the rows are an array of real numbers with the right shape
            and orthonormal within 0.001.

    >>> import numpy as np
    >>> imported(np.eye(4)[:2], (1, 2, 2))
    4 NADs of 1×2×2 inputs, made elsewhere
    """
    shape = arguments.input_shape(shape)
    dimension = math.prod(shape)
    if not isinstance(rows, np.ndarray) or rows.dtype.kind not in "fiu":
        kind = getattr(rows, "dtype", type(rows).__name__)
        raise InputError(
            f"{origin} must be a NumPy array of real numbers, not {kind}; convert it "
            "with numpy.asarray",
            "wrong-type",
            path=origin,
        )
    if rows.ndim != 2 or rows.shape[1] != dimension or not 0 < len(rows) <= dimension:
        raise InputError(
            f"{origin} has the shape {rows.shape}; give (K, {dimension}) with K ≤ "
            f"{dimension} for inputs {as_text(shape)}",
            "wrong-shape",
            path=origin,
            shape=rows.shape,
        )
    rows = rows.astype(np.float64)
    with np.errstate(all="ignore"):
        deviation = np.abs(rows @ rows.T - np.eye(len(rows))).max()
    if not deviation <= 1e-3:  # NaN is not, either
        raise InputError(
            f"the rows of {origin} are not orthonormal (their products are off by "
            f"{deviation:.2g}); give orthonormal rows",
            "value",
            path=origin,
            deviation=deviation,
        )
    # The columns of a complete QR decomposition beyond the K-th are orthogonal to all
    # rows.
    basis = np.linalg.qr(rows.T, mode="complete")[0].T
    unknown = np.full(dimension, np.nan)
    indices = np.arange(dimension)
    return NADs(
        directions=np.concatenate([rows, basis[len(rows) :]]),
        shape=shape,
        eigenvalues=unknown,
        standard_errors=unknown,
        nearby=np.stack([indices, indices], 1),
        halves=np.stack([unknown, unknown]),
        overlap=unknown,
    )


def from_file(path: str, shape: tuple[int, ...]) -> NADs:
    """Read NADs made elsewhere from a .npy file of rows (K, D).

    Args:
        path: The file.
        shape: (C, H, W) of one input.

    Returns:
        NADs with D directions, as `imported` makes them.

    Raises:
        InputError: If the file cannot be read, and as `imported`.

    >>> import numpy as np
    >>> np.save("theirs.npy", np.eye(4)[:2])
    >>> from_file("theirs.npy", (1, 2, 2)).directions.shape
    (4, 4)
    """
    try:
        with open(path, "rb") as file:
            rows = np.lib.format.read_array(file, allow_pickle=False)
    except (OSError, TypeError, ValueError) as error:
        raise InputError(
            f"the NADs {path} cannot be read: {error}; name a .npy file of numbers",
            "unreadable-file",
            path=path,
        ) from None
    return imported(rows, shape, path)
