"""The leading eigenvectors of C, for inputs whose D×D matrix fits into no memory."""

import numpy as np
from scipy.sparse.linalg import svds

from pipeline.nads.spectrum import Spectrum, orient, overlaps, sampling_error
from pipeline.nads.symmetry import move_vectors

SMALLEST = 1e-3
"""Singular value, relative to the largest, below which rounding rotates the directions.

The decomposition works on squares in float32, whose rounding is 1e-7 of the largest.
"""


class Leading:
    """The first K eigenvectors of the covariance C of the networks added so far.

    With the Jacobians of all N networks stacked as R (n, D), C = RᵀR/N. Its
    eigenvectors are the right singular vectors of R.
    """

    def __init__(
        self, shape: tuple[int, ...], first: int, symmetry: str = "none"
    ) -> None:
        """Start an empty estimate.

        Args:
            shape: (C, H, W) of one input.
            first: Number K of eigenvectors.
            symmetry: One of `pipeline.networks.SYMMETRIES`. The images of each
                network's vectors under its elements are added too.
        """
        self.shape = tuple(shape)
        self.first = first
        self.symmetry = symmetry
        self.count = 0
        self._blocks = []

    def add(self, jacobian: np.ndarray) -> None:
        """Add one network by its Jacobian J (F, D)."""
        moved = move_vectors(self.symmetry, jacobian, self.shape)
        self._blocks.append(np.concatenate(moved) * np.float32(len(moved) ** -0.5))
        self.count += 1

    @property
    def rows(self) -> np.ndarray:
        """R (n, D), float32."""
        if len(self._blocks) > 1:
            self._blocks = [np.concatenate(self._blocks)]
        return self._blocks[0]

    def _squares(self) -> np.ndarray:
        """Return the squared scalar products of all rows, (n, n).

        Their sum is ‖RRᵀ‖² = ‖RᵀR‖².
        """
        rows = self.rows
        return (rows @ rows.T).astype(np.float64) ** 2

    def _halves(self) -> np.ndarray:
        """Return the half, 0 or 1, of each row's network, (n,)."""
        return np.repeat(np.arange(self.count) % 2, len(self.rows) // self.count)

    def error(self) -> float:
        """Return the expected relative Frobenius distance of the mean from C."""
        squares = self._squares()
        blocks = squares.reshape(self.count, -1, self.count, len(squares) // self.count)
        own = np.einsum("ninj->", blocks)
        return sampling_error(own, squares.sum(), self.count)

    def split_half(self) -> float:
        """Return the distance of the two halves' estimates, ‖C₁ − C₂‖ / ‖C₁ + C₂‖."""
        squares = self._squares()
        half = self._halves()
        weights = 1 / np.bincount(half)[half]
        signed = np.where(half == 0, weights, -weights)
        # ‖Σ t_i r_i r_iᵀ‖² = Σ t_i t_j (r_i·r_j)²
        difference = signed @ squares @ signed
        total = weights @ squares @ weights
        return float(np.sqrt(max(0.0, difference) / total))

    def asymmetry(self) -> float:
        """Return NaN: the part of C that averaging removes is not measured."""
        return float("nan")

    def spectrum(self) -> Spectrum:
        """Compute the first K eigenvectors, or as many as the vectors span."""
        rows = self.rows
        half = self._halves()
        values, directions = _decompose(rows, self.first)
        directions = orient(directions)
        along = (rows @ directions.T.astype(np.float32)).astype(np.float64) ** 2
        parts = along.reshape(self.count, -1, len(values)).sum(axis=1)

        _, first = _decompose(rows[half == 0], len(values))
        _, second = _decompose(rows[half == 1], len(values))
        compared = min(len(first), len(second))
        overlap = np.full(len(values), np.nan)
        overlap[:compared] = overlaps(first[:compared] @ second[:compared].T)

        sizes = np.ones(self.count, np.int64)
        return Spectrum(directions, values**2 / self.count, parts, sizes, overlap)


def _decompose(rows: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute the first singular values (K,) and right singular vectors (K, D)."""
    # The tolerance of the iteration is absolute, so the rows are scaled.
    scale = np.linalg.norm(rows)
    if first < min(rows.shape):
        _, values, vectors = svds(rows / scale, first, rng=0)
        values = values[::-1]
        vectors = vectors[::-1]
    else:
        _, values, vectors = np.linalg.svd(rows / scale, full_matrices=False)
        values = values[:first]
        vectors = vectors[:first]
    spanned = values > SMALLEST * values[0]
    values = values[spanned].astype(np.float64) * scale
    return values, vectors[spanned].astype(np.float64)
