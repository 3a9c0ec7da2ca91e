"""A running estimate of the covariance C, from one untrained network after another.

The networks are summed in several parts, even and odd numbers apart. The parts are
independent estimates of C, so their differences are sampling error.
"""

import math

import numpy as np

from pipeline.nads.spectrum import (
    Spectrum,
    decompose,
    orient,
    overlaps,
    sampling_error,
)
from pipeline.nads.symmetry import squared_norm, symmetrise
from pipeline.networks import SYMMETRIES


def count_parts(shape: tuple[int, ...]) -> int:
    """Return the number of parts of a `Covariance`, each of D² numbers."""
    return 8 if math.prod(shape) <= 1024 else 2


class Covariance:
    """The covariance C of the networks added so far, averaged over one symmetry.

    Attributes:
        shape: (C, H, W) of one input.
        symmetry: One of `SYMMETRIES`, over which C is averaged when it is read.
        count: Number of networks added so far.
        sums: (P, D, D) float64, ΣJᵀJ of each part.
        squares: Σ‖S_i‖² over the networks' own averaged samples S_i.
    """

    def __init__(self, shape: tuple[int, ...], symmetry: str = "none") -> None:
        """Start an empty estimate.

        Args:
            shape: (C, H, W) of one input.
            symmetry: One of `SYMMETRIES`.
        """
        dimension = math.prod(shape)
        self.shape = tuple(shape)
        self.symmetry = symmetry
        self.count = 0
        self.sums = np.zeros((count_parts(shape), dimension, dimension))
        self.squares = 0.0

    def add(self, jacobian: np.ndarray) -> None:
        """Add one network by its Jacobian J (F, D)."""
        jacobian = jacobian.astype(np.float64)
        self.sums[self.count % len(self.sums)] += jacobian.T @ jacobian
        self.squares += squared_norm(self.symmetry, jacobian, self.shape)
        self.count += 1

    def _symmetrise(self, matrix: np.ndarray) -> np.ndarray:
        return symmetrise(self.symmetry, matrix, self.shape)

    def half_means(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the estimates of C, not averaged, of even and odd networks, (D, D)."""
        even = self.sums[::2].sum(0) / ((self.count + 1) // 2)
        odd = self.sums[1::2].sum(0) / (self.count // 2)
        return even, odd

    def mean(self) -> np.ndarray:
        """Return the estimate of C, (D, D)."""
        return self._symmetrise(self.sums.sum(0) / self.count)

    def error(self) -> float:
        """Return the expected relative Frobenius distance of the mean from C.

        C has the symmetry; see `asymmetry`.
        """
        total = (self._symmetrise(self.sums.sum(0)) ** 2).sum()
        return sampling_error(self.squares, total, self.count)

    def split_half(self) -> float:
        """Return ‖C₁ − C₂‖ / ‖C₁ + C₂‖ of the halves.

        It is one sample of the error and may be small by luck.
        """
        even, odd = self.half_means()
        difference = np.linalg.norm(self._symmetrise(even - odd))
        total = np.linalg.norm(self._symmetrise(even + odd))
        return float(np.divide(difference, total))

    def asymmetry(self) -> float:
        """Return the relative size of the part of C that averaging removes.

        It is √⟨A₁, A₂⟩ / ‖(S₁ + S₂)/2‖, where S_h is the averaged estimate of a half,
        and A_h = C_h − S_h. The halves are independent, so ⟨A₁, A₂⟩ has no bias; a
        negative value counts as 0.
        """
        even, odd = self.half_means()
        even_averaged = self._symmetrise(even)
        odd_averaged = self._symmetrise(odd)
        # Averaging is an orthogonal projection, so ⟨A₁, A₂⟩ = ⟨C₁, C₂⟩ − ⟨S₁, S₂⟩.
        square = np.vdot(even, odd) - np.vdot(even_averaged, odd_averaged)
        size = np.linalg.norm(even_averaged + odd_averaged)
        return float(2 * np.sqrt(max(0.0, square)) / size)

    def spectrum(self) -> Spectrum:
        """Compute all D eigenvectors of the estimate."""
        values, vectors = decompose(self.mean(), self.symmetry, self.shape)
        directions = orient(vectors)
        # With fewer networks than parts, the last parts are empty.
        sizes = np.bincount(np.arange(self.count) % len(self.sums))
        parts = []
        for number, size in enumerate(sizes):
            part = self._symmetrise(self.sums[number] / size)
            parts.append(np.einsum("kd,kd->k", directions @ part, directions))
        halves = []
        for half in self.half_means():
            _, vectors = decompose(self._symmetrise(half), self.symmetry, self.shape)
            halves.append(vectors)
        overlap = overlaps(halves[0] @ halves[1].T)
        return Spectrum(directions, values, np.stack(parts), sizes, overlap)


class Candidates:
    """Estimates of one C, each averaged over another symmetry that C may have.

    A network that states no symmetry is estimated by the one with the smallest error.
    """

    symmetry = "measured"

    def __init__(self, shape: tuple[int, ...]) -> None:
        """Start empty estimates for inputs of a shape (C, H, W)."""
        self.shape = tuple(shape)
        names = SYMMETRIES if shape[1] == shape[2] else ["none"]
        self.estimates = [Covariance(shape, name) for name in names]

    @property
    def count(self) -> int:
        """Number of networks added so far."""
        return self.estimates[0].count

    def add(self, jacobian: np.ndarray) -> None:
        """Add one network by its Jacobian J (F, D)."""
        for estimate in self.estimates:
            estimate.add(jacobian)

    def choose(self) -> tuple[Covariance, float]:
        """Return the estimate with the smallest error, and this error.

        The part of C that averaging removes counts as error.
        """
        errors = []
        for estimate in self.estimates:
            errors.append(np.hypot(estimate.error(), estimate.asymmetry()))
        best = int(np.argmin(errors))
        return self.estimates[best], float(errors[best])

    def error(self) -> float:
        """Return the error of the estimate that `choose` returns."""
        return self.choose()[1]
