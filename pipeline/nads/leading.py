"""The leading eigenvectors of C, for inputs whose D×D matrix fits nowhere."""

import numpy as np
import scipy.linalg

from pipeline.nads.spectrum import Spectrum, oriented, overlaps, sampling_error
from pipeline.nads.symmetry import images_of_vectors


class Leading:
    """The first K eigenvectors of the covariance C of the networks added so far.

    With the rows of all their Jacobians as R (n, D), float32, C = RᵀR/N for N networks, and its
    eigenvectors are Rᵀw for the eigenvectors w of the Gram matrix RRᵀ (n, n).

    shape: (C, H, W) of one input; first: K; symmetry: one of `pipeline.networks.SYMMETRIES`,
    under whose elements each network's vectors are added as they come.
    """

    def __init__(self, shape: tuple[int, ...], first: int, symmetry: str = "none") -> None:
        self.shape, self.first, self.symmetry, self.count = tuple(shape), first, symmetry, 0
        self.blocks, self._gram = [np.zeros((0, int(np.prod(shape))), np.float32)], np.zeros((0, 0))

    def add(self, jacobian: np.ndarray) -> None:
        """Add one network by its Jacobian J (F, D)."""
        images = images_of_vectors(self.symmetry, jacobian, self.shape)
        self.blocks += [vectors * np.float32(len(images) ** -0.5) for vectors in images]
        self.count += 1

    @property
    def rows(self) -> np.ndarray:
        """R (n, D), float32."""
        if len(self.blocks) > 1:
            self.blocks = [np.concatenate(self.blocks)]
        return self.blocks[0]

    def gram(self) -> np.ndarray:
        """The Gram matrix RRᵀ (n, n) in float64."""
        rows = self.rows
        if len(self._gram) != len(rows):
            self._gram = np.zeros((len(rows), len(rows)))
            # A piece of the columns at a time: no copy of all rows in float64.
            for start in range(0, rows.shape[1], 8192):
                piece = rows[:, start : start + 8192].astype(np.float64)
                self._gram += piece @ piece.T
        return self._gram

    def _halves(self) -> np.ndarray:
        """The half, 0 or 1, of each row's network (n,)."""
        return np.repeat(np.arange(self.count) % 2, len(self.rows) // self.count)

    def error(self) -> float:
        """Relative Frobenius distance that the estimate is expected to have from the true C.

        Every norm in it is a sum over squared entries of the Gram matrix: ‖RᵀR‖² = ‖RRᵀ‖².
        """
        gram = self.gram()
        blocks = gram.reshape(self.count, len(gram) // self.count, self.count, -1)
        own = np.einsum("ninj->nij", blocks)
        return sampling_error((own**2).sum(), (gram**2).sum(), self.count)

    def split_half(self) -> float:
        """The distance of the two halves' estimates: ‖C₁ − C₂‖ / ‖C₁ + C₂‖."""
        # ‖Σ t_i r_i r_iᵀ‖² = tᵀ(RRᵀ)²t, squared entry by entry.
        half, squares = self._halves(), self.gram() ** 2
        weights = 1 / np.bincount(half)[half]
        signs = 1 - 2 * half
        apart, together = (t @ squares @ t for t in (signs * weights, weights))
        return float(np.sqrt(max(0.0, apart) / together))

    def asymmetry(self) -> float:
        """Relative size of the part of C that averaging removes; NaN, since it is not measured."""
        return float("nan")

    def spectrum(self) -> Spectrum:
        """The first K eigenvectors of the estimate, or as many as the vectors span."""
        gram, half = self.gram(), self._halves()
        values, weights = _leading(gram, self.first)
        directions = oriented((weights.T.astype(np.float32) @ self.rows).astype(np.float64))
        # The vectors' projections on the directions: R u = RRᵀw.
        along = ((gram @ weights) ** 2).reshape(self.count, -1, len(values)).sum(1)
        sizes = np.ones(self.count, np.int64)
        first, second = (
            _leading(gram[np.ix_(half == h, half == h)], len(values))[1] for h in (0, 1)
        )
        compared = min(first.shape[1], second.shape[1])
        across = gram[np.ix_(half == 0, half == 1)]
        overlap = np.full(len(values), np.nan)
        overlap[:compared] = overlaps(first[:, :compared].T @ across @ second[:, :compared])
        return Spectrum(directions, values / self.count, along, sizes, overlap)


def _leading(gram: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    last = len(gram) - 1
    values, vectors = scipy.linalg.eigh(gram, subset_by_index=(max(0, last + 1 - first), last))
    values, vectors = values[::-1], vectors[:, ::-1]
    # Below, float32's rounding of the product Rᵀw would turn a direction by more than 0.0001.
    spanned = values > values[0] * 1e-8
    return values[spanned], vectors[:, spanned] / np.sqrt(values[spanned])
