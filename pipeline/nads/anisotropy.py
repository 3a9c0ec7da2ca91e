"""Neural anisotropy directions: eigenvectors of the covariance of a network's input derivative over its initialisation.

Paper 1, §4: C = E_θ[d dᵀ] for one evaluation point x; its eigenvectors in decreasing eigenvalue are the NADs. What d is and
how one network gives a sample of C stands in `pipeline.derivatives`, how samples become an estimate with an error in
`pipeline.covariances`. This file is the whole way from a network's constructor to its NADs, and their import from a file:

    from pipeline.anisotropy import estimate
    nads = estimate(MyNetwork, shape=(3, 32, 32), networks=64)
"""

import dataclasses

import numpy as np
import psutil
import torch
from tqdm import tqdm

from pipeline import params
from pipeline.nads import derivatives
from pipeline.nads.covariances import SYMMETRIES, Covariance, Leading
from pipeline.project.errors import InputError
from pipeline.project.seeds import derive

FIRST_CHECK, CHECK_GROWTH = 4, 1.2
"""Networks after which the error is looked at for the first time, and how much their number grows between two looks."""

SEPARATION = 3.5
"""Gap between neighbouring eigenvalues, in standard errors of one, from which they count as separate.

Two equal eigenvalues of C show a gap of t standard errors with probability exp(−t²/4) (the level repulsion of a random
symmetric 2×2 matrix): 5 % at 3.5.
"""

NEIGHBOURS = 5
"""Directions on either side over which the parts' differences are averaged to give one eigenvalue's standard error."""


@dataclasses.dataclass(frozen=True)
class NADs:
    """The NADs of one architecture and how they were made.

    directions: (K, D) float64, orthonormal rows, index 0 first, of the pairs that the symmetries of the square make equal the
    one first that is even under the flip of left and right; shape: (C, H, W) of one input, D = C·H·W;
    eigenvalues: (K,) of C, decreasing; deviations: (K,), their standard errors, from the spread of parts of the networks; nearby: (K, 2), the first and last index
    whose eigenvalue is the same as this one within the errors: only their span means something, not the single vectors;
    groups: (K,), the index at which the group of each direction begins, groups being what lies between two clear gaps;
    halves: (2, K) and overlap: (K,), see `pipeline.covariances.Spectrum`;
    error: relative Frobenius distance that the estimate of C is expected to have from the true C, from the spread of the
    networks' own samples; split_half: the same from the distance of two halves; trace: (n, 2), numbers of networks and the
    error that there was then; networks: how many untrained networks were averaged;
    estimand, method, step, point: as in params.yaml's `estimator`; symmetry: what C was averaged over; asymmetry: relative
    size of what that averaging removed.

    Of imported NADs only directions, shape and networks (0) are known; the numbers are NaN and the words 'file'.
    """

    directions: np.ndarray
    shape: tuple
    eigenvalues: np.ndarray
    deviations: np.ndarray
    nearby: np.ndarray
    groups: np.ndarray
    halves: np.ndarray
    overlap: np.ndarray
    error: float
    split_half: float
    trace: np.ndarray
    networks: int
    estimand: str
    method: str
    step: float
    point: str
    symmetry: str
    asymmetry: float


def sample(build, shape, number, identity, estimator, device="cpu"):
    """Square root (F, D) of the sample of C that network `number` gives: a function of its arguments alone.

    build: seed → torch module, its weights made on the CPU; identity: (seed, architecture's name), from which the seeds of
    its weights and of the evaluation point derive; estimator: see `pipeline.params.Estimator`.
    """
    seed, name = identity
    point = derivatives.evaluation_point(estimator.point, seed, number, int(np.prod(shape)))
    network = build(derive(seed, "nads", name, number)).to(device)
    return derivatives.derivative(network, estimator, point, shape)


def deviations_of(eigenvalues, parts, sizes):
    """Standard errors (K,) of eigenvalues from what parts of the networks (P, K), `sizes` (P,) of them, give along the directions.

    The variance of the parts' mean, relative to its square, averaged over `NEIGHBOURS` on either side: a few parts alone have
    few degrees of freedom.
    """
    count = sizes.sum()
    mean = sizes @ parts / count
    variance = sizes @ (parts - mean) ** 2 / ((len(sizes) - 1) * count)
    relative = np.divide(variance, mean**2, out=np.zeros_like(mean), where=mean > 0)
    window = np.ones(2 * NEIGHBOURS + 1)
    sums, counts = (np.convolve(x, window)[NEIGHBOURS:-NEIGHBOURS] for x in (relative, np.ones_like(relative)))
    return np.abs(eigenvalues) * np.sqrt(sums / counts)


def groups_of(eigenvalues, deviations):
    """For each eigenvalue (K,) the index at which its group begins: a new one where the gap exceeds `SEPARATION` errors."""
    apart = eigenvalues[:-1] - eigenvalues[1:] > SEPARATION * np.maximum(deviations[:-1], deviations[1:])
    begins = np.concatenate([[0], np.flatnonzero(apart) + 1])
    return begins[np.searchsorted(begins, np.arange(len(eigenvalues)), "right") - 1]


def nearby_of(eigenvalues, deviations):
    """For each eigenvalue (K,) the first and last index (K, 2) that lie within `SEPARATION` of its standard errors."""
    reach = SEPARATION * deviations
    first = np.searchsorted(-eigenvalues, -(eigenvalues + reach), "left")
    last = np.searchsorted(-eigenvalues, -(eigenvalues - reach), "right") - 1
    return np.stack([first, last], 1)


class Estimation:
    """One estimate in progress: takes networks' samples in any order, adds them in theirs, and knows when it is enough.

    covariance: a `Covariance` or `Leading`; networks: how many there are at most; error: the error that is enough, or None.
    Where the error is looked at depends on the number of networks alone, so the result depends on the arguments alone.
    """

    def __init__(self, covariance, networks, error=None):
        self.covariance, self.networks, self.enough = covariance, networks, error
        self.early, self.trace = {}, []

    @property
    def finished(self):
        """Whether no further network is needed."""
        count = self.covariance.count
        return count >= self.networks or stops(self.trace, self.enough) is not None

    def add(self, number, root):
        """Take the sample of network `number`; it waits until those before it are there, and is dropped after the end."""
        self.early[number] = root
        while not self.finished and self.covariance.count in self.early:
            self.covariance.add(self.early.pop(self.covariance.count))
            if self.covariance.count >= self._next_check():
                self.trace.append((self.covariance.count, self.covariance.error()))

    def _next_check(self):
        last = self.trace[-1][0] if self.trace else 0
        return max(FIRST_CHECK, last + 2, 2 * int(last * CHECK_GROWTH / 2))

    def expected(self):
        """Networks that the whole estimate is expected to take, the error falling with the square root of their number."""
        if self.enough is None or not self.trace:
            return self.networks
        needed = self.trace[-1][0] * (self.trace[-1][1] / self.enough) ** 2
        return min(self.networks, max(self.covariance.count, int(needed) + 1))

    def state(self):
        """The arrays that determine the estimate so far."""
        return self.covariance.state() | {"trace": np.array(self.trace, np.float64).reshape(-1, 2)}

    def restore(self, state, count):
        """Go on from the `state` of an estimate of `count` networks."""
        self.covariance.restore(state, count)
        self.trace = [(int(number), float(error)) for number, error in state["trace"]]

    def nads(self, estimator):
        """The finished estimate as `NADs`."""
        spectrum, symmetry = self.covariance.spectrum(), self.covariance.resolved()
        deviations = deviations_of(spectrum.eigenvalues, spectrum.parts, spectrum.sizes)
        return NADs(
            directions=spectrum.directions,
            shape=self.covariance.shape,
            eigenvalues=spectrum.eigenvalues,
            deviations=deviations,
            nearby=nearby_of(spectrum.eigenvalues, deviations),
            groups=groups_of(spectrum.eigenvalues, deviations),
            halves=spectrum.halves,
            overlap=spectrum.overlap,
            error=self.covariance.error(),
            split_half=self.covariance.split_half(),
            trace=np.array(self.trace, np.float64).reshape(-1, 2),
            networks=self.covariance.count,
            estimand=estimator.estimand,
            method=estimator.method,
            step=estimator.step,
            point=estimator.point,
            symmetry=symmetry,
            asymmetry=self.covariance.asymmetry(symmetry),
        )


def stops(trace, enough):
    """The number of networks at which an estimate with this `trace` stops for its error, or None."""
    return next((int(count) for count, error in trace if enough is not None and error <= enough), None)


def holder(shape, rows, networks, first, symmetry, available):
    """The empty `Covariance` (or `Leading`, where `first` directions are asked for) of an estimate, if memory allows it.

    rows: vectors per network; available: bytes. Raises InputError with the figure.
    """
    size = "×".join(map(str, shape))
    if first is None:
        needed = Covariance.memory(shape)
        hint = "ask for the leading directions only (first: 100)"
    else:
        symmetry = "none" if symmetry == "measured" else symmetry
        rows *= networks * {"none": 1, "transposition": 2, "square": 8}[symmetry]
        if rows < first:
            raise InputError(f"{networks} networks give {rows} vectors, too few for the first {first} directions")
        needed = Leading.memory(shape, rows)
        hint = "ask for fewer networks"
    if needed > available:
        raise InputError(
            f"NADs of inputs {size} (D = {int(np.prod(shape)):,}) from {networks} networks need {needed / 1e9:,.1f} GB "
            f"and {available / 1e9:,.1f} GB are free; {hint}"
        )
    return Covariance(shape, symmetry) if first is None else Leading(shape, first, symmetry)


def rows_of(network, estimator, shape):
    """Vectors that one network gives: the number of features under `readout`, else 1."""
    if estimator.method == "plain":
        return 1
    return derivatives.readout(network.eval(), torch.zeros(1, *shape))[0].in_features


def estimate(
    make,
    shape,
    networks,
    *,
    estimand="secant",
    method="readout",
    step=100.0,
    point="normal",
    symmetry="none",
    error=None,
    first=None,
    seed=0,
):
    """The `NADs` of the networks that `make()` returns, torch modules from (N, C, H, W) to (N, 1), drawn anew at each call.

    shape: (C, H, W); networks: how many are averaged at most; estimand, method, step, point: as in params.yaml's
    `estimator` (`readout` gives way to `plain`, with a notice, where a network has no linear read-out); symmetry: 'none',
    'transposition' or 'square' if the law of the networks has it, or 'measured'; error: stop at this relative error of C;
    first: only so many leading directions, without any D×D matrix. Weights are drawn under seeds derived from `seed`.
    Raises InputError for values that cannot be run and for estimates that do not fit into memory.

    Runs in this process with torch's threads; large estimates are the business of the stage `estimate`, which uses all
    cores and goes on where it was interrupted.
    """
    estimator = params.checked(
        params.Estimator, estimand=estimand, method=method, step=step, point=point, symmetry=False, compare=False
    )
    if symmetry not in (*SYMMETRIES, "measured"):
        raise InputError(f"symmetry must be one of {', '.join(SYMMETRIES)} or measured, not {symmetry!r}")
    if networks < 2:
        raise InputError(f"networks must be at least 2 (halves are compared), not {networks}")

    def build(number):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(number)
            return make()

    probe = build(seed)
    derivatives.check(probe, shape)
    estimator, reason = derivatives.usable(probe, estimator, shape)
    if reason:
        tqdm.write(f"notice: {reason}; `plain` is used, which needs far more networks")
    rows = rows_of(probe, estimator, shape)
    free = psutil.virtual_memory().available
    estimation = Estimation(holder(shape, rows, networks, first, symmetry, free), networks, error)
    with tqdm(total=networks, desc="NADs", unit="network", disable=None) as bar:
        for number in range(networks):
            estimation.add(number, sample(build, shape, number, (seed, "library"), estimator))
            bar.update()
            if estimation.finished:
                break
    return estimation.nads(estimator)


def imported(rows, shape, origin="the array"):
    """NADs made elsewhere, `rows` (K, D) with K ≤ D, completed to a basis where K < D.

    The given rows are kept as they are; the others span what is left, in no particular order, since nothing is known of it.
    Raises InputError, naming the `origin`, unless the rows are finite numbers of the right shape, orthonormal within 0.001.
    """
    dimension = int(np.prod(shape))
    size = "×".join(map(str, shape))
    if rows.ndim != 2 or rows.shape[1] != dimension or not 0 < len(rows) <= dimension:
        raise InputError(
            f"{origin} holds an array of shape {rows.shape}, not (K, {dimension}) with K ≤ {dimension} for {size}"
        )
    if not np.issubdtype(rows.dtype, np.floating) or not np.isfinite(rows).all():
        raise InputError(f"{origin} holds values that are not finite real numbers")
    rows = rows.astype(np.float64)
    worst = np.abs(rows @ rows.T - np.eye(len(rows))).max()
    if worst > 1e-3:
        raise InputError(f"{origin} holds rows that are not orthonormal (their products are off by {worst:.2g})")
    # The columns of a complete QR decomposition beyond the K-th are orthogonal to all rows.
    basis = np.linalg.qr(rows.T, mode="complete")[0].T
    directions = np.concatenate([rows, basis[len(rows) :]])
    unknown = np.full(dimension, np.nan)
    return NADs(
        directions=directions,
        shape=tuple(shape),
        eigenvalues=unknown,
        deviations=unknown,
        nearby=np.stack([np.arange(dimension)] * 2, 1),
        groups=np.zeros(dimension, np.int64),
        halves=np.stack([unknown, unknown]),
        overlap=unknown,
        error=float("nan"),
        split_half=float("nan"),
        trace=np.zeros((0, 2)),
        networks=0,
        estimand="file",
        method="file",
        step=float("nan"),
        point="file",
        symmetry="none",
        asymmetry=float("nan"),
    )
