"""Running estimates of the covariance C from the samples of one network after another, kept in parts.

`Covariance` holds the D×D sums themselves; `Leading` holds the sampled vectors, for inputs whose D×D matrix fits nowhere, and
finds the leading eigenvectors of the same estimate from the vectors' Gram matrix. Both keep parts of the networks apart, those
of even and of odd number in different ones: parts are independent estimates of C, and what they disagree in is sampling error.

Where the law of the weights and the layers' geometry do not change under a symmetry P of the square, C at Px is P C Pᵀ, and C
may be averaged over the symmetry if the point x is as likely as Px (point `many` or `zero`) or does not matter (the secant,
whose step of 100 dwarfs it). The gradient at one fixed image has no symmetry: its ReLUs are switched by that image.
"""

import dataclasses

import numpy as np

SYMMETRIES = ("none", "transposition", "square")
"""Groups of symmetries of the square: the identity; with transposition (2 elements); with flips and transposition (8)."""

PARTS, FEW_PARTS, LARGE = 8, 2, 1024
"""Parts that `Covariance` keeps apart: eight, whose spread says how far each eigenvalue is known, and only two where D exceeds
1,024, since each takes D² numbers.
"""

TIE, PAIR = 1e-9, 1e-13
"""Differences below which two entries of a direction, relative to the larger, and two eigenvalues, relative to twice the norm of C,
are the same but for rounding. Of DenseNet-121's, the pairs differ by up to 2·10⁻¹⁵ of that, and no others by less than 8·10⁻¹².
"""

OVERLAPS = 100
"""First directions up to which `Leading` compares the halves' subspaces."""


def parts_of(shape):
    """Parts that `Covariance` keeps for inputs of `shape` (C, H, W)."""
    return PARTS if np.prod(shape) <= LARGE else FEW_PARTS


def _flipped(tensor, axis):
    """The covariance tensor (C, H, W, C, H, W) of images mirrored along an axis of the image (1 or 2)."""
    return np.flip(tensor, (axis, axis + 3))


def _transposed(tensor):
    """The covariance tensor (C, H, W, C, H, W) of transposed images."""
    return tensor.transpose(0, 2, 1, 3, 5, 4)


def images_of(symmetry, matrix, shape):
    """The covariance `matrix` (D, D) carried along by each element of a symmetry of the square, the identity first.

    symmetry: one of `SYMMETRIES`; shape: (C, H, W).
    """
    elements = [matrix.reshape(*shape, *shape)]
    if symmetry == "square":
        elements += [_flipped(tensor, 1) for tensor in elements]
        elements += [_flipped(tensor, 2) for tensor in elements]
    if symmetry in ("square", "transposition"):
        elements += [_transposed(tensor) for tensor in elements]
    return [tensor.reshape(matrix.shape) for tensor in elements]


def symmetrised(symmetry, matrix, shape):
    """The covariance `matrix` (D, D) averaged over a symmetry of the square (see `images_of`), exactly symmetric."""
    tensor = matrix.reshape(*shape, *shape)
    # One generator after another: the mean over eight elements in three additions.
    if symmetry == "square":
        tensor = (tensor + _flipped(tensor, 1)) / 2
        tensor = (tensor + _flipped(tensor, 2)) / 2
    if symmetry in ("square", "transposition"):
        tensor = (tensor + _transposed(tensor)) / 2
    return tensor.reshape(matrix.shape)


def sampling_error(squares, total, count):
    """Relative Frobenius distance that the mean of `count` samples S_i of C is expected to have from C.

    squares: Σ‖S_i‖²; total: ‖Σ S_i‖². The variance of the mean is (squares − total/n)/(n(n − 1)), known as well as n − 1
    differences allow; it is taken relative to the mean's own norm, so that no error exceeds 1.
    """
    return float(np.sqrt(max(0.0, squares * count / total - 1) / (count - 1)))


def square_of(symmetry, root, shape):
    """‖S‖² of the sample S = RᵀR of one network, averaged over a symmetry, from its root R (F, D).

    The mean over a group is a projection, so ‖S̄‖² = ⟨S, S̄⟩, the mean over elements g of ‖R (gR)ᵀ‖².
    """
    return float(np.mean([((root @ carried.T) ** 2).sum() for carried in carried_along(symmetry, root, shape)]))


def carried_along(symmetry, root, shape):
    """The vectors `root` (F, D) as images carried along by each element of a symmetry of the square."""
    tensors = [root.reshape(-1, *shape)]
    if symmetry == "square":
        tensors += [tensor[:, :, ::-1] for tensor in tensors]
        tensors += [tensor[:, :, :, ::-1] for tensor in tensors]
    if symmetry in ("square", "transposition"):
        tensors += [tensor.transpose(0, 1, 3, 2) for tensor in tensors]
    return [tensor.reshape(len(root), -1) for tensor in tensors]


@dataclasses.dataclass(frozen=True)
class Spectrum:
    """Eigenvectors of an estimate of C in decreasing eigenvalue, and what its halves say of them.

    directions: (K, D) orthonormal rows, largest entry positive; eigenvalues: (K,); parts: (P, K), u_kᵀ C_p u_k of each part's
    estimate C_p along each direction, and sizes: (P,), its number of networks; halves: (2, K), the same of the two halves;
    overlap: (K,), entry k − 1 is the share of the span of one half's first k eigenvectors that lies in the other half's (1
    where they agree, k/D by chance); NaN beyond `OVERLAPS` for `Leading`.
    """

    directions: np.ndarray
    eigenvalues: np.ndarray
    parts: np.ndarray
    sizes: np.ndarray
    halves: np.ndarray
    overlap: np.ndarray


def _oriented(directions):
    """Rows with the sign that makes the largest entry positive, the first of those that are equal but for rounding."""
    sizes = np.abs(directions)
    first = (sizes > (1 - TIE) * sizes.max(1, keepdims=True)).argmax(1)
    return np.ascontiguousarray(directions * np.sign(np.take_along_axis(directions, first[:, None], 1)))


def eigenvectors(matrix, symmetry, shape):
    """Eigenvalues (D,), decreasing, and eigenvectors (D, D), as rows, of a covariance that has been averaged over `symmetry`.

    The symmetries of the square make eigenvalues equal in pairs, whose vectors any rotation of the two would do for, and
    rounding would choose one. So each vector is taken even or odd under the flip of left and right, with which the matrix
    commutes, and of a pair the even one comes first: the directions then depend on C alone, not on its last bits.
    """
    if symmetry != "square":
        values, vectors = np.linalg.eigh(matrix)
        return values[::-1].copy(), vectors.T[::-1]
    dimension = len(matrix)
    flip = np.eye(dimension).reshape(dimension, *shape)[..., ::-1].reshape(dimension, dimension)
    # The flip's eigenvalues are ±1: shifted by more than the largest of C, the even vectors lie above zero, the odd ones below.
    shift = 2 * np.linalg.norm(matrix)
    values, vectors = np.linalg.eigh(matrix + shift * flip)
    odd = values < 0
    values = values + np.where(odd, shift, -shift)
    order = np.argsort(-values, kind="stable")
    values, vectors, odd = values[order], vectors.T[order], odd[order]
    pairs = np.concatenate([[0], np.cumsum(values[:-1] - values[1:] > PAIR * shift)])
    return values, vectors[np.lexsort((odd, pairs))]


def _halves_of(parts, sizes):
    """(2, K) from values (P, K) of parts: the mean over networks of the parts of even and of odd number."""
    return np.stack([sizes[h::2] @ parts[h::2] / sizes[h::2].sum() for h in (0, 1)])


def _overlaps(products):
    """For each k, ‖(U₁U₂ᵀ)[:k, :k]‖²/k from the products (K, K) of two orthonormal systems' rows."""
    sums = (products**2).cumsum(0).cumsum(1)
    return np.diagonal(sums) / np.arange(1, len(products) + 1)


class Covariance:
    """Float64 sums of the samples of C, (P, D, D), averaged over `symmetry` when they are read.

    symmetry: one of `SYMMETRIES`, or 'measured': whichever gives the least error, counting as error also the part of C that
    the averaging removes (see `asymmetry`).
    """

    def __init__(self, shape, symmetry="none"):
        self.shape, self.symmetry, self.count = tuple(shape), symmetry, 0
        self.sums = np.zeros((parts_of(shape), *[int(np.prod(shape))] * 2))
        # Σ‖S_i‖² over the networks' own samples S_i, averaged over each symmetry that may be asked for.
        self.squares = {s: 0.0 for s in (SYMMETRIES if symmetry == "measured" else [symmetry])}

    @staticmethod
    def memory(shape):
        """Bytes that the estimate needs at its peak: the sums, and the copies and work space of three decompositions."""
        return (13 + parts_of(shape)) * 8 * int(np.prod(shape)) ** 2

    def add(self, root):
        """Add one network's root (F, D). The order of the calls decides the last bits, nothing else."""
        root = root.astype(np.float64)
        # NumPy hands a matrix times its own transpose to a routine whose result is exactly symmetric.
        self.sums[self.count % len(self.sums)] += root.T @ root
        for symmetry in self.squares:
            self.squares[symmetry] += square_of(symmetry, root, self.shape)
        self.count += 1

    def state(self):
        """The arrays that, with `count`, determine the estimate: the lower triangles of the sums, and the squares."""
        triangles = self.sums[:, *np.tril_indices(self.sums.shape[1])]
        return {"triangles": triangles, "squares": np.array(list(self.squares.values()))}

    def restore(self, state, count):
        """Go on from the `state` of an estimate of `count` networks."""
        rows, columns = np.tril_indices(self.sums.shape[1])
        self.sums[:, rows, columns] = self.sums[:, columns, rows] = state["triangles"]
        self.squares = dict(zip(self.squares, state["squares"].tolist()))
        self.count = count

    def half_means(self):
        """The estimates of C from the networks of even and of odd number, each (D, D)."""
        return self.sums[::2].sum(0) / ((self.count + 1) // 2), self.sums[1::2].sum(0) / (self.count // 2)

    def sizes(self):
        """Networks in each part that has any."""
        sizes = np.bincount(np.arange(self.count) % len(self.sums), minlength=len(self.sums))
        return sizes[sizes > 0]

    def total(self):
        """The sum of all samples, (D, D)."""
        return self.sums.sum(0)

    def mean(self):
        """The estimate of C, (D, D)."""
        return symmetrised(self.resolved(), self.total() / self.count, self.shape)

    def error(self):
        """Relative Frobenius distance that `mean` is expected to have from the true C."""
        return self._error(self.resolved())

    def _error(self, symmetry):
        total = (symmetrised(symmetry, self.total(), self.shape) ** 2).sum()
        removed = self.asymmetry(symmetry) if self.symmetry == "measured" else 0.0
        return float(np.hypot(sampling_error(self.squares[symmetry], total, self.count), removed))

    def split_half(self):
        """The distance of the two halves' estimates, half of it relative to C: ‖C₁ − C₂‖ / ‖C₁ + C₂‖.

        The same on average as the sampling error, but one draw of it, which may be small by luck.
        """
        first, second = self.half_means()
        parts = [symmetrised(self.resolved(), part, self.shape) for part in (first - second, first + second)]
        return float(np.divide(*map(np.linalg.norm, parts)))

    def resolved(self):
        """The symmetry that C is averaged over: as given, or the one measured to give the least error so far."""
        if self.symmetry != "measured":
            return self.symmetry
        square = self.shape[1] == self.shape[2]
        return min(SYMMETRIES if square else SYMMETRIES[:1], key=self._error)

    def asymmetry(self, symmetry):
        """Relative size of the part of C that averaging over `symmetry` removes: √⟨A₁, A₂⟩ / ‖(S₁ + S₂)/2‖.

        S_h is the averaged estimate of a half and A_h = C_h − S_h what it leaves out. The halves are independent, so
        ⟨A₁, A₂⟩ estimates the true part's square without bias; 0 where it comes out negative.
        """
        first, second = self.half_means()
        averaged = [symmetrised(symmetry, half, self.shape) for half in (first, second)]
        # Averaging is an orthogonal projection, so ⟨A₁, A₂⟩ = ⟨C₁, C₂⟩ − ⟨S₁, S₂⟩.
        square = np.vdot(first, second) - np.vdot(*averaged)
        return float(2 * np.sqrt(max(0.0, square)) / np.linalg.norm(averaged[0] + averaged[1]))

    def spectrum(self):
        """The whole `Spectrum`."""
        symmetry = self.resolved()
        halves = [symmetrised(symmetry, half, self.shape) for half in self.half_means()]
        values, vectors = eigenvectors(self.mean(), symmetry, self.shape)
        directions, sizes = _oriented(vectors), self.sizes()
        parts = (symmetrised(symmetry, part / size, self.shape) for part, size in zip(self.sums, sizes))
        along = np.stack([np.einsum("kd,kd->k", directions @ part, directions) for part in parts])
        first, second = (eigenvectors(half, symmetry, self.shape)[1] for half in halves)
        overlap = _overlaps(first @ second.T)
        return Spectrum(directions, values, along, sizes, _halves_of(along, sizes), overlap)


class Leading:
    """The sampled vectors themselves, (n, D) float32, and the first K eigenvectors of their covariance.

    With the vectors as rows of R, C = RᵀR/N for N networks, and its eigenvectors are Rᵀw for the eigenvectors w of the Gram
    matrix RRᵀ (n, n): exact for the sample, at a cost that grows with D and not with D².

    first: K; symmetry: one of `SYMMETRIES`, over which each network's vectors are carried along as they come.
    """

    def __init__(self, shape, first, symmetry="none"):
        self.shape, self.first, self.symmetry, self.count = tuple(shape), first, symmetry, 0
        self.rows = np.zeros((0, int(np.prod(shape))), np.float32)
        self.fresh, self.blocks = [], np.zeros((0, 0))

    @staticmethod
    def memory(shape, rows):
        """Bytes that the estimate needs at its peak for `rows` vectors: two copies of them, and their Gram matrices."""
        return 8 * rows * int(np.prod(shape)) + 5 * 8 * rows**2

    def add(self, root):
        """Add one network's root (F, D)."""
        carried = carried_along(self.symmetry, root, self.shape)
        self.fresh += [vectors * np.float32(len(carried) ** -0.5) for vectors in carried]
        self.count += 1

    def state(self):
        """The arrays that, with `count`, determine the estimate."""
        self.gram()
        return {"rows": self.rows, "blocks": self.blocks}

    def restore(self, state, count):
        """Go on from the `state` of an estimate of `count` networks."""
        self.rows, self.blocks, self.fresh = np.array(state["rows"]), np.array(state["blocks"]), []
        self.count = count

    def resolved(self):
        """The symmetry that C is averaged over."""
        return self.symmetry

    def gram(self):
        """RRᵀ (n, n) in float64.

        It is made in blocks of a number of networks that is always the same, and those that are whole are remembered: so its
        last bits depend on the number of networks alone, not on when it was looked at on the way.
        """
        if self.fresh:
            self.rows, self.fresh = np.concatenate([self.rows, *self.fresh]), []
        width = len(self.rows) // self.count
        block = width * max(1, 64 // width)
        while len(self.blocks) + block <= len(self.rows):
            self.blocks = self._extended(self.blocks, len(self.blocks) + block)
        return self._extended(self.blocks, len(self.rows))

    def _extended(self, gram, stop):
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

    def _half(self):
        """Which half each row belongs to, and the number of networks in each."""
        return np.repeat(np.arange(self.count) % 2, len(self.rows) // self.count), (
            (self.count + 1) // 2,
            self.count // 2,
        )

    def error(self):
        """Relative Frobenius distance that the estimate is expected to have from the true C.

        Every norm in it is a sum over squared entries of the Gram matrix: ‖RᵀR‖² = ‖RRᵀ‖².
        """
        gram = self.gram()
        width = len(gram) // self.count
        own = gram.reshape(self.count, width, self.count, width)[np.arange(self.count), :, np.arange(self.count)]
        return sampling_error((own**2).sum(), (gram**2).sum(), self.count)

    def split_half(self):
        """The distance of the two halves' estimates: ‖C₁ − C₂‖ / ‖C₁ + C₂‖, with ⟨C_g, C_h⟩ = ‖R_g R_hᵀ‖²/(N_g N_h)."""
        gram = self.gram()
        half, sizes = self._half()
        inner = {
            (a, b): (gram[np.ix_(half == a, half == b)] ** 2).sum() / (sizes[a] * sizes[b])
            for a, b in ((0, 0), (0, 1), (1, 1))
        }
        apart, together = (inner[0, 0] + inner[1, 1] + sign * 2 * inner[0, 1] for sign in (-1, 1))
        return float(np.sqrt(max(0.0, apart) / together))

    def asymmetry(self, symmetry):
        """Not measured here: NaN."""
        return float("nan")

    def spectrum(self):
        """The `Spectrum` of the first K directions, or of as many as the vectors span."""
        gram = self.gram()
        half, _ = self._half()
        values, weights = _leading(gram, self.first)
        directions = _oriented((weights.T.astype(np.float32) @ self.rows).astype(np.float64))
        # R u = RRᵀw, so the vectors' projections on the directions need no further pass over the pixels.
        along = ((gram @ weights) ** 2).reshape(self.count, -1, len(values)).sum(1)
        ones = np.ones(self.count, np.int64)
        systems = [_leading(gram[np.ix_(half == h, half == h)], min(OVERLAPS, len(values)))[1] for h in (0, 1)]
        some = min(system.shape[1] for system in systems)
        products = systems[0][:, :some].T @ gram[np.ix_(half == 0, half == 1)] @ systems[1][:, :some]
        overlap = np.full(len(values), np.nan)
        overlap[:some] = _overlaps(products)
        return Spectrum(directions, values / self.count, along, ones, _halves_of(along, ones), overlap)


def _leading(gram, first):
    """The first eigenvalues (K,) of a Gram matrix RRᵀ and the w (n, K) that make Rᵀw their orthonormal eigenvectors."""
    values, vectors = np.linalg.eigh(gram)
    values, vectors = values[::-1][:first], vectors[:, ::-1][:, :first]
    kept = values > values[0] * 1e-12
    return values[kept], vectors[:, kept] / np.sqrt(values[kept])
