"""The leading eigenvectors of C from the Gram matrix of sampled vectors, for inputs whose D×D matrix fits nowhere."""

import numpy as np

from pipeline.nads.spectrum import Spectrum, means_of_halves, oriented, overlaps
from pipeline.nads.symmetry import images_of_vectors
from pipeline.nads.uncertainty import sampling_error

OVERLAPS = 100
"""First directions up to which the halves' subspaces are compared."""


class Leading:
    """The first K eigenvectors of the covariance C of the networks added so far, from all rows of their Jacobians.

    With these vectors as the rows of R (n, D), float32, C = RᵀR/N for N networks, and its eigenvectors are Rᵀw for the
    eigenvectors w of the Gram matrix RRᵀ (n, n): exact for the sample, at a cost that grows with D and not with D².

    shape: (C, H, W) of one input; first: K; symmetry: one of `pipeline.nads.symmetry.SYMMETRIES`, under whose elements
    each network's vectors are added as they come.
    """

    def __init__(self, shape: tuple[int, ...], first: int, symmetry: str = "none") -> None:
        self.shape, self.first, self.symmetry, self.count = tuple(shape), first, symmetry, 0
        self.rows = np.zeros((0, int(np.prod(shape))), np.float32)
        # Rows that are not in `rows` yet, and the Gram matrix of those blocks of rows that are whole.
        self.new_rows, self.whole_blocks = [], np.zeros((0, 0))

    @staticmethod
    def memory(shape: tuple[int, ...], rows: int) -> int:
        """Bytes that the estimate needs at its peak for `rows` vectors: two copies of them, and their Gram matrices."""
        return 8 * rows * int(np.prod(shape)) + 5 * 8 * rows**2

    def add(self, jacobian: np.ndarray) -> None:
        """Add one network by its Jacobian J (F, D)."""
        images = images_of_vectors(self.symmetry, jacobian, self.shape)
        self.new_rows += [vectors * np.float32(len(images) ** -0.5) for vectors in images]
        self.count += 1

    def state(self) -> dict[str, np.ndarray]:
        """The arrays that, with `count`, determine the estimate."""
        self.gram()
        return {"rows": self.rows, "blocks": self.whole_blocks}

    def restore(self, state: dict[str, np.ndarray], count: int) -> None:
        """Go on from the `state` of an estimate of `count` networks."""
        self.rows, self.whole_blocks, self.new_rows = np.array(state["rows"]), np.array(state["blocks"]), []
        self.count = count

    def averaged_over(self) -> str:
        """The symmetry that C is averaged over."""
        return self.symmetry

    def gram(self) -> np.ndarray:
        """The Gram matrix RRᵀ (n, n) in float64.

        It is made in blocks of a number of networks that is always the same, and those that are whole are remembered:
        so its last bits depend on the number of networks alone, not on when it was looked at on the way.
        """
        if self.new_rows:
            self.rows, self.new_rows = np.concatenate([self.rows, *self.new_rows]), []
        width = len(self.rows) // self.count
        block = width * max(1, 64 // width)
        while len(self.whole_blocks) + block <= len(self.rows):
            self.whole_blocks = self._extended(self.whole_blocks, len(self.whole_blocks) + block)
        return self._extended(self.whole_blocks, len(self.rows))

    def _extended(self, gram: np.ndarray, stop: int) -> np.ndarray:
        """The Gram matrix of the first `stop` rows from that of fewer."""
        known = len(gram)
        if stop == known:
            return gram
        whole = np.zeros((stop, stop))
        whole[:known, :known] = gram
        # A piece of the columns at a time, so that no second copy of the rows is made in float64.
        for start in range(0, self.rows.shape[1], 8192):
            piece = self.rows[:stop, start : start + 8192].astype(np.float64)
            whole[known:] += piece[known:] @ piece.T
        whole[:known, known:] = whole[known:, :known].T
        return whole

    def _halves(self) -> np.ndarray:
        """Which half each row belongs to, (n,): 0 for networks of even number, 1 for odd."""
        return np.repeat(np.arange(self.count) % 2, len(self.rows) // self.count)

    def error(self) -> float:
        """Relative Frobenius distance that the estimate is expected to have from the true C.

        Every norm in it is a sum over squared entries of the Gram matrix: ‖RᵀR‖² = ‖RRᵀ‖².
        """
        gram = self.gram()
        width = len(gram) // self.count
        own = gram.reshape(self.count, width, self.count, width)[np.arange(self.count), :, np.arange(self.count)]
        return sampling_error((own**2).sum(), (gram**2).sum(), self.count)

    def split_half(self) -> float:
        """The distance of the two halves' estimates: ‖C₁ − C₂‖ / ‖C₁ + C₂‖, with ⟨C_g, C_h⟩ = ‖R_g R_hᵀ‖²/(N_g N_h)."""
        gram = self.gram()
        half, sizes = self._halves(), ((self.count + 1) // 2, self.count // 2)
        inner = {
            (a, b): (gram[np.ix_(half == a, half == b)] ** 2).sum() / (sizes[a] * sizes[b])
            for a, b in ((0, 0), (0, 1), (1, 1))
        }
        apart, together = (inner[0, 0] + inner[1, 1] + sign * 2 * inner[0, 1] for sign in (-1, 1))
        return float(np.sqrt(max(0.0, apart) / together))

    def asymmetry(self, symmetry: str) -> float:
        """Relative size of the part of C that averaging over `symmetry` removes, which is not measured here: NaN."""
        return float("nan")

    def spectrum(self) -> Spectrum:
        """The first K eigenvectors of the estimate, or as many as the vectors span."""
        gram, half = self.gram(), self._halves()
        values, weights = _leading(gram, self.first)
        directions = oriented((weights.T.astype(np.float32) @ self.rows).astype(np.float64))
        # R u = RRᵀw, so the vectors' projections on the directions need no further pass over the pixels.
        along = ((gram @ weights) ** 2).reshape(self.count, -1, len(values)).sum(1)
        ones = np.ones(self.count, np.int64)
        systems = [_leading(gram[np.ix_(half == h, half == h)], min(OVERLAPS, len(values)))[1] for h in (0, 1)]
        compared = min(system.shape[1] for system in systems)
        products = systems[0][:, :compared].T @ gram[np.ix_(half == 0, half == 1)] @ systems[1][:, :compared]
        overlap = np.full(len(values), np.nan)
        overlap[:compared] = overlaps(products)
        return Spectrum(directions, values / self.count, along, ones, means_of_halves(along, ones), overlap)


def _leading(gram: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    """The first eigenvalues (K,) of a Gram matrix RRᵀ and the w (n, K) that make Rᵀw their orthonormal eigenvectors."""
    values, vectors = np.linalg.eigh(gram)
    values, vectors = values[::-1][:first], vectors[:, ::-1][:, :first]
    kept = values > values[0] * 1e-12
    return values[kept], vectors[:, kept] / np.sqrt(values[kept])
