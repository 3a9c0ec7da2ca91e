"""A running estimate of the covariance C, from one untrained network after another.

The networks are summed in several parts, even and odd numbers apart. The parts are
independent estimates of C, so their differences are sampling error.
"""

import numpy as np

from pipeline.nads.spectrum import (
    Spectrum,
    eigenvectors,
    oriented,
    overlaps,
    sampling_error,
)
from pipeline.nads.symmetry import square_of_symmetrised, symmetrised
from pipeline.networks import SYMMETRIES


def parts_of(shape: tuple[int, ...]) -> int:
    """The number of parts of a `Covariance`: eight, or two of large inputs, at D²
    numbers each."""
    return 8 if np.prod(shape) <= 1024 else 2


class Covariance:
    """The covariance C of the networks added so far, averaged over one symmetry.

    shape: (C, H, W) of one input; symmetry: one of `SYMMETRIES`, over which C is
    averaged when it is read. sums: (P, D, D) float64, ΣJᵀJ of each part.
    """

    def __init__(self, shape: tuple[int, ...], symmetry: str = "none") -> None:
        self.shape = tuple(shape)
        self.symmetry = symmetry
        self.count = 0
        self.sums = np.zeros((parts_of(shape), *[int(np.prod(shape))] * 2))
        self.squares = 0.0  # Σ‖S_i‖² over the networks' own averaged samples S_i

    def add(self, jacobian: np.ndarray) -> None:
        """Add one network by its Jacobian J (F, D)."""
        jacobian = jacobian.astype(np.float64)
        self.sums[self.count % len(self.sums)] += jacobian.T @ jacobian
        self.squares += square_of_symmetrised(self.symmetry, jacobian, self.shape)
        self.count += 1

    def _averaged(self, matrix: np.ndarray) -> np.ndarray:
        return symmetrised(self.symmetry, matrix, self.shape)

    def half_means(self) -> tuple[np.ndarray, np.ndarray]:
        """The estimates of C, each (D, D) and not averaged, of networks of even and odd
        number."""
        sizes = (self.count + 1) // 2, self.count // 2
        return self.sums[::2].sum(0) / sizes[0], self.sums[1::2].sum(0) / sizes[1]

    def mean(self) -> np.ndarray:
        """The estimate of C, (D, D)."""
        return self._averaged(self.sums.sum(0) / self.count)

    def error(self) -> float:
        """Expected relative Frobenius distance of the mean from the true C, if C is
        symmetric."""
        total = (self._averaged(self.sums.sum(0)) ** 2).sum()
        return sampling_error(self.squares, total, self.count)

    def split_half(self) -> float:
        """‖C₁ − C₂‖ / ‖C₁ + C₂‖ of the halves: one draw of the error, it may be small
        by luck."""
        first, second = self.half_means()
        apart = np.linalg.norm(self._averaged(first - second))
        together = np.linalg.norm(self._averaged(first + second))
        return float(np.divide(apart, together))

    def asymmetry(self) -> float:
        """Relative size of the part of C that averaging removes: √⟨A₁, A₂⟩ / ‖(S₁ +
        S₂)/2‖.

        S_h is the averaged estimate of a half, and A_h = C_h − S_h. The halves are
        independent, so ⟨A₁, A₂⟩ has no bias; 0 where it comes out negative.
        """
        first, second = self.half_means()
        averaged = [self._averaged(half) for half in (first, second)]
        # Averaging is an orthogonal projection, so ⟨A₁, A₂⟩ = ⟨C₁, C₂⟩ − ⟨S₁, S₂⟩.
        square = np.vdot(first, second) - np.vdot(*averaged)
        return float(
            2 * np.sqrt(max(0.0, square)) / np.linalg.norm(averaged[0] + averaged[1])
        )

    def spectrum(self) -> Spectrum:
        """All D eigenvectors of the estimate."""
        sizes = np.bincount(np.arange(self.count) % len(self.sums))
        values, vectors = eigenvectors(self.mean(), self.symmetry, self.shape)
        directions = oriented(vectors)
        parts = (
            self._averaged(part / size)
            for part, size in zip(self.sums, sizes, strict=False)
        )
        along = np.stack(
            [np.einsum("kd,kd->k", directions @ part, directions) for part in parts]
        )
        halves = (self._averaged(half) for half in self.half_means())
        first, second = (
            eigenvectors(half, self.symmetry, self.shape)[1] for half in halves
        )
        return Spectrum(directions, values, along, sizes, overlaps(first @ second.T))


class Candidates:
    """Estimates of one C, each averaged over another symmetry that the network may
    have.

    A network that states no symmetry is estimated by the one of the least error.
    """

    symmetry = "measured"

    def __init__(self, shape: tuple[int, ...]) -> None:
        """Start empty estimates for inputs of a shape (C, H, W)."""
        self.shape = tuple(shape)
        names = SYMMETRIES if shape[1] == shape[2] else ["none"]
        self.estimates = [Covariance(shape, name) for name in names]

    @property
    def count(self) -> int:
        """The number of networks added so far."""
        return self.estimates[0].count

    def add(self, jacobian: np.ndarray) -> None:
        """Add one network by its Jacobian J (F, D)."""
        for estimate in self.estimates:
            estimate.add(jacobian)

    def choose(self) -> tuple[Covariance, float]:
        """The estimate of the least error, and this error.

        The part of C that averaging removes counts as error.
        """
        errors = [np.hypot(each.error(), each.asymmetry()) for each in self.estimates]
        least = int(np.argmin(errors))
        return self.estimates[least], float(errors[least])

    def error(self) -> float:
        """The error of the estimate that `choose` takes."""
        return self.choose()[1]
