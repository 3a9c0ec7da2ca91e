"""A running estimate of the covariance C from one untrained network after another: the D×D sums, kept in parts.

Parts of the networks are kept apart, those of even and of odd number in different ones: parts are independent estimates
of C, and what they disagree in is sampling error. For inputs whose D×D matrix fits nowhere see `pipeline.nads.leading`.
"""

import numpy as np

from pipeline.nads.spectrum import Spectrum, eigenvectors, means_of_halves, oriented, overlaps
from pipeline.nads.symmetry import SYMMETRIES, square_of_symmetrised, symmetrised
from pipeline.nads.uncertainty import sampling_error

PARTS = 8
"""Parts that are kept apart: so many that their spread says how far each eigenvalue is known."""

LARGE, FEW_PARTS = 1024, 2
"""Dimension D above which only these few parts are kept, since each takes D² numbers."""


def parts_of(shape: tuple[int, ...]) -> int:
    """The number of parts that `Covariance` keeps for inputs of `shape` (C, H, W)."""
    return PARTS if np.prod(shape) <= LARGE else FEW_PARTS


class Covariance:
    """The covariance C of the networks added so far, float64 sums (P, D, D), averaged over `symmetry` when read.

    shape: (C, H, W) of one input; symmetry: one of `SYMMETRIES`, or 'measured': whichever gives the least error,
    counting as error also the part of C that the averaging removes (see `asymmetry`).
    """

    def __init__(self, shape: tuple[int, ...], symmetry: str = "none") -> None:
        self.shape, self.symmetry, self.count = tuple(shape), symmetry, 0
        self.sums = np.zeros((parts_of(shape), *[int(np.prod(shape))] * 2))
        # Σ‖S_i‖² over the networks' own samples S_i, averaged over each symmetry that may be asked for.
        self.squares = {s: 0.0 for s in (SYMMETRIES if symmetry == "measured" else [symmetry])}

    @staticmethod
    def memory(shape: tuple[int, ...]) -> int:
        """Bytes that the estimate needs at its peak: the sums, and copies and work space of three decompositions."""
        return (13 + parts_of(shape)) * 8 * int(np.prod(shape)) ** 2

    def add(self, jacobian: np.ndarray) -> None:
        """Add one network by its Jacobian J (F, D). The order of the calls decides the last bits, nothing else."""
        jacobian = jacobian.astype(np.float64)
        # NumPy hands a matrix times its own transpose to a routine whose result is exactly symmetric.
        self.sums[self.count % len(self.sums)] += jacobian.T @ jacobian
        for symmetry in self.squares:
            self.squares[symmetry] += square_of_symmetrised(symmetry, jacobian, self.shape)
        self.count += 1

    def state(self) -> dict[str, np.ndarray]:
        """The arrays that, with `count`, determine the estimate: the lower triangles of the sums, and the squares."""
        triangles = self.sums[:, *np.tril_indices(self.sums.shape[1])]
        return {"triangles": triangles, "squares": np.array(list(self.squares.values()))}

    def restore(self, state: dict[str, np.ndarray], count: int) -> None:
        """Go on from the `state` of an estimate of `count` networks."""
        rows, columns = np.tril_indices(self.sums.shape[1])
        self.sums[:, rows, columns] = self.sums[:, columns, rows] = state["triangles"]
        self.squares = dict(zip(self.squares, state["squares"].tolist()))
        self.count = count

    def half_means(self) -> tuple[np.ndarray, np.ndarray]:
        """The estimates of C from the networks of even and of odd number, each (D, D), not averaged yet."""
        return self.sums[::2].sum(0) / ((self.count + 1) // 2), self.sums[1::2].sum(0) / (self.count // 2)

    def sizes(self) -> np.ndarray:
        """The numbers of networks in the parts that have any, (P,)."""
        sizes = np.bincount(np.arange(self.count) % len(self.sums), minlength=len(self.sums))
        return sizes[sizes > 0]

    def total(self) -> np.ndarray:
        """The sum of all samples, (D, D)."""
        return self.sums.sum(0)

    def mean(self) -> np.ndarray:
        """The estimate of C, (D, D)."""
        return symmetrised(self.averaged_over(), self.total() / self.count, self.shape)

    def error(self) -> float:
        """Relative Frobenius distance that `mean` is expected to have from the true C."""
        return self._error(self.averaged_over())

    def _error(self, symmetry: str) -> float:
        total = (symmetrised(symmetry, self.total(), self.shape) ** 2).sum()
        removed = self.asymmetry(symmetry) if self.symmetry == "measured" else 0.0
        return float(np.hypot(sampling_error(self.squares[symmetry], total, self.count), removed))

    def split_half(self) -> float:
        """The distance of the two halves' estimates, half of it relative to C: ‖C₁ − C₂‖ / ‖C₁ + C₂‖.

        The same on average as the sampling error, but one draw of it, which may be small by luck.
        """
        first, second = self.half_means()
        parts = [symmetrised(self.averaged_over(), part, self.shape) for part in (first - second, first + second)]
        return float(np.divide(*map(np.linalg.norm, parts)))

    def averaged_over(self) -> str:
        """The symmetry that C is averaged over: as given, or the one measured to give the least error so far."""
        if self.symmetry != "measured":
            return self.symmetry
        square = self.shape[1] == self.shape[2]
        return min(SYMMETRIES if square else SYMMETRIES[:1], key=self._error)

    def asymmetry(self, symmetry: str) -> float:
        """Relative size of the part of C that averaging over `symmetry` removes: √⟨A₁, A₂⟩ / ‖(S₁ + S₂)/2‖.

        S_h is the averaged estimate of a half and A_h = C_h − S_h what it leaves out. The halves are independent, so
        ⟨A₁, A₂⟩ estimates the true part's square without bias; 0 where it comes out negative.
        """
        first, second = self.half_means()
        averaged = [symmetrised(symmetry, half, self.shape) for half in (first, second)]
        # Averaging is an orthogonal projection, so ⟨A₁, A₂⟩ = ⟨C₁, C₂⟩ − ⟨S₁, S₂⟩.
        square = np.vdot(first, second) - np.vdot(*averaged)
        return float(2 * np.sqrt(max(0.0, square)) / np.linalg.norm(averaged[0] + averaged[1]))

    def spectrum(self) -> Spectrum:
        """All D eigenvectors of the estimate."""
        symmetry = self.averaged_over()
        halves = [symmetrised(symmetry, half, self.shape) for half in self.half_means()]
        values, vectors = eigenvectors(self.mean(), symmetry, self.shape)
        directions, sizes = oriented(vectors), self.sizes()
        parts = (symmetrised(symmetry, part / size, self.shape) for part, size in zip(self.sums, sizes))
        along = np.stack([np.einsum("kd,kd->k", directions @ part, directions) for part in parts])
        first, second = (eigenvectors(half, symmetry, self.shape)[1] for half in halves)
        return Spectrum(directions, values, along, sizes, means_of_halves(along, sizes), overlaps(first @ second.T))
