"""A running estimate of the covariance C, from one untrained network after another.

The networks are summed in several parts, even and odd numbers apart. The parts are independent
estimates of C, so their differences are sampling error.
"""

import numpy as np

from pipeline.nads.spectrum import Spectrum, eigenvectors, oriented, overlaps, sampling_error
from pipeline.nads.symmetry import square_of_symmetrised, symmetrised
from pipeline.networks import SYMMETRIES


def parts_of(shape: tuple[int, ...]) -> int:
    """The number of parts of a `Covariance`: eight, or two of large inputs, at D² numbers each."""
    return 8 if np.prod(shape) <= 1024 else 2


class Covariance:
    """The covariance C of the networks added so far.

    shape: (C, H, W) of one input; symmetry: one of `SYMMETRIES`, over which C is averaged when it
    is read, or 'measured': the symmetry of the least error, where the part of C that averaging
    removes counts as error (see `asymmetry`). sums: (P, D, D) float64, ΣJᵀJ of each part.
    """

    def __init__(self, shape: tuple[int, ...], symmetry: str = "none") -> None:
        self.shape, self.symmetry, self.count = tuple(shape), symmetry, 0
        self.sums = np.zeros((parts_of(shape), *[int(np.prod(shape))] * 2))
        # Σ‖S_i‖² over the networks' own samples S_i, averaged over each possible symmetry.
        self.squares = {s: 0.0 for s in (SYMMETRIES if symmetry == "measured" else [symmetry])}

    def add(self, jacobian: np.ndarray) -> None:
        """Add one network by its Jacobian J (F, D)."""
        jacobian = jacobian.astype(np.float64)
        self.sums[self.count % len(self.sums)] += jacobian.T @ jacobian
        for symmetry in self.squares:
            self.squares[symmetry] += square_of_symmetrised(symmetry, jacobian, self.shape)
        self.count += 1

    def half_means(self) -> tuple[np.ndarray, np.ndarray]:
        """The estimates of C, each (D, D) and not averaged, of networks of even and odd number."""
        sizes = (self.count + 1) // 2, self.count // 2
        return self.sums[::2].sum(0) / sizes[0], self.sums[1::2].sum(0) / sizes[1]

    def mean(self) -> np.ndarray:
        """The estimate of C, (D, D)."""
        return symmetrised(self.averaged_over(), self.sums.sum(0) / self.count, self.shape)

    def error(self, symmetry: str | None = None) -> float:
        """Expected relative Frobenius distance of the mean, over a symmetry, from the true C."""
        symmetry = symmetry or self.averaged_over()
        total = (symmetrised(symmetry, self.sums.sum(0), self.shape) ** 2).sum()
        removed = self.asymmetry(symmetry) if self.symmetry == "measured" else 0.0
        return float(np.hypot(sampling_error(self.squares[symmetry], total, self.count), removed))

    def split_half(self) -> float:
        """‖C₁ − C₂‖ / ‖C₁ + C₂‖ of the halves: one draw of the error, it may be small by luck."""
        (first, second), symmetry = self.half_means(), self.averaged_over()
        apart, together = (
            np.linalg.norm(symmetrised(symmetry, matrix, self.shape))
            for matrix in (first - second, first + second)
        )
        return float(np.divide(apart, together))

    def averaged_over(self) -> str:
        """The symmetry that C is averaged over: the given one, or that of the least error."""
        if self.symmetry != "measured":
            return self.symmetry
        square = self.shape[1] == self.shape[2]
        return min(SYMMETRIES if square else SYMMETRIES[:1], key=self.error)

    def asymmetry(self, symmetry: str) -> float:
        """Relative size of the part of C that averaging removes: √⟨A₁, A₂⟩ / ‖(S₁ + S₂)/2‖.

        S_h is the averaged estimate of a half, and A_h = C_h − S_h. The halves are independent, so
        ⟨A₁, A₂⟩ has no bias; 0 where it comes out negative.
        """
        first, second = self.half_means()
        averaged = [symmetrised(symmetry, half, self.shape) for half in (first, second)]
        # Averaging is an orthogonal projection, so ⟨A₁, A₂⟩ = ⟨C₁, C₂⟩ − ⟨S₁, S₂⟩.
        square = np.vdot(first, second) - np.vdot(*averaged)
        return float(2 * np.sqrt(max(0.0, square)) / np.linalg.norm(averaged[0] + averaged[1]))

    def spectrum(self) -> Spectrum:
        """All D eigenvectors of the estimate."""
        symmetry = self.averaged_over()
        sizes = np.bincount(np.arange(self.count) % len(self.sums))
        values, vectors = eigenvectors(self.mean(), symmetry, self.shape)
        directions = oriented(vectors)
        parts = (
            symmetrised(symmetry, part / size, self.shape) for part, size in zip(self.sums, sizes)
        )
        along = np.stack([np.einsum("kd,kd->k", directions @ part, directions) for part in parts])
        halves = (symmetrised(symmetry, half, self.shape) for half in self.half_means())
        first, second = (eigenvectors(half, symmetry, self.shape)[1] for half in halves)
        return Spectrum(directions, values, along, sizes, overlaps(first @ second.T))
