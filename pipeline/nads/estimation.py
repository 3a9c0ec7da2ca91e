"""An estimate of NADs from one untrained network after another until its error is small enough, and that as one call.

from pipeline.nads import estimate
nads = estimate(MyNetwork, shape=(3, 32, 32), networks=64)
"""

from collections.abc import Callable, Iterable

import numpy as np
import psutil
import torch
from torch import nn
from tqdm import tqdm

from pipeline.nads.covariance import Covariance
from pipeline.nads.directions import NADs
from pipeline.nads.estimator import Estimator, Source
from pipeline.nads.jacobian import check, jacobian_of_untrained
from pipeline.nads.leading import Leading
from pipeline.nads.readout import usable, vectors_of
from pipeline.nads.symmetry import ORDERS, SYMMETRIES
from pipeline.nads.uncertainty import groups_of, nearby_of, standard_errors
from pipeline.project.errors import InputError

FIRST_CHECK, CHECK_GROWTH = 4, 1.2
"""Networks after which the error is looked at for the first time, and how much their number grows between two looks."""


class Estimation:
    """One estimate of NADs under way, which takes networks' Jacobians in any order, adds them in theirs, and stops.

    accumulator: the estimate of C itself; networks: how many there are at most; target_error: the relative error of C
    at which fewer are enough, or None. Where the error is looked at depends on the number of networks alone, so the
    result depends on the arguments alone. `trace` is the list of these looks: (number of networks, error).
    """

    def __init__(self, accumulator: Covariance | Leading, networks: int, target_error: float | None = None) -> None:
        self.accumulator, self.networks, self.target_error = accumulator, networks, target_error
        self.waiting, self.trace = {}, []

    @property
    def finished(self) -> bool:
        """Whether no further network is needed."""
        count = self.accumulator.count
        return count >= self.networks or stopping_count(self.trace, self.target_error) is not None

    def add(self, number: int, jacobian: np.ndarray) -> None:
        """Take the Jacobian of network `number`: it waits for those before it, and is dropped after the end."""
        self.waiting[number] = jacobian
        while not self.finished and self.accumulator.count in self.waiting:
            self.accumulator.add(self.waiting.pop(self.accumulator.count))
            if self.accumulator.count >= self._next_check():
                self.trace.append((self.accumulator.count, self.accumulator.error()))

    def _next_check(self) -> int:
        last = self.trace[-1][0] if self.trace else 0
        return max(FIRST_CHECK, last + 2, 2 * int(last * CHECK_GROWTH / 2))

    def expected_networks(self) -> int:
        """Networks that the whole estimate is expected to take, as the error falls with the root of their number."""
        if self.target_error is None or not self.trace:
            return self.networks
        needed = self.trace[-1][0] * (self.trace[-1][1] / self.target_error) ** 2
        return min(self.networks, max(self.accumulator.count, int(needed) + 1))

    def state(self) -> dict[str, np.ndarray]:
        """The arrays that, with the number of networks, determine the estimate so far."""
        return self.accumulator.state() | {"trace": np.array(self.trace, np.float64).reshape(-1, 2)}

    def restore(self, state: dict[str, np.ndarray], count: int) -> None:
        """Go on from the `state` of an estimate of `count` networks."""
        self.accumulator.restore(state, count)
        self.trace = [(int(number), float(error)) for number, error in state["trace"]]

    def nads(self, estimator: Estimator) -> NADs:
        """The NADs of the networks added so far.

        Raises InputError if their C is zero or not finite, so that it has no first eigenvector.
        """
        with np.errstate(all="ignore"):
            # Relative to C itself, and so finite exactly where C is finite and not zero.
            split_half = self.accumulator.split_half()
        if not np.isfinite(split_half):
            raise InputError(
                f"C, the covariance of the networks' input derivative ({estimator.estimand}, step {estimator.step:g}), is zero or "
                "not finite; take another step, or look at what the network does with such inputs"
            )
        spectrum, symmetry = self.accumulator.spectrum(), self.accumulator.averaged_over()
        errors = standard_errors(spectrum.eigenvalues, spectrum.parts, spectrum.sizes)
        return NADs(
            directions=spectrum.directions,
            shape=self.accumulator.shape,
            eigenvalues=spectrum.eigenvalues,
            standard_errors=errors,
            nearby=nearby_of(spectrum.eigenvalues, errors),
            groups=groups_of(spectrum.eigenvalues, errors),
            halves=spectrum.halves,
            overlap=spectrum.overlap,
            error=self.accumulator.error(),
            split_half=split_half,
            trace=np.array(self.trace, np.float64).reshape(-1, 2),
            networks=self.accumulator.count,
            estimand=estimator.estimand,
            method=estimator.method,
            step=estimator.step,
            point=estimator.point,
            symmetry=symmetry,
            asymmetry=self.accumulator.asymmetry(symmetry),
        )


def stopping_count(trace: Iterable[tuple[int, float]], target_error: float | None) -> int | None:
    """The number of networks at which an estimate with this `trace` stops for its error, or None."""
    return next((int(count) for count, error in trace if target_error is not None and error <= target_error), None)


def accumulator(
    shape: tuple[int, ...], vectors: int, networks: int, first: int | None, symmetry: str, available: float
) -> Covariance | Leading:
    """The empty `Covariance` of an estimate, or `Leading` where only `first` directions are wanted, if memory allows.

    shape: (C, H, W) of one input; vectors: per network; symmetry: one of `SYMMETRIES` or 'measured'; available: bytes.
    Raises InputError for what does not fit, with the figure, and for a symmetry that images of this shape cannot have.
    """
    size = "×".join(map(str, shape))
    if symmetry in ("transposition", "square") and shape[1] != shape[2]:
        raise InputError(f"inputs of {size} are not square, so nothing can be averaged over the symmetry {symmetry}")
    if first is None:
        needed = Covariance.memory(shape)
        hint = "ask for the leading directions only (first: 100)"
    else:
        symmetry = "none" if symmetry == "measured" else symmetry
        vectors *= networks * ORDERS[symmetry]
        if vectors < first:
            raise InputError(f"{networks} networks give {vectors} vectors, too few for the first {first} directions")
        needed = Leading.memory(shape, vectors)
        hint = "ask for fewer networks"
    if needed > available:
        raise InputError(
            f"NADs of inputs {size} (D = {int(np.prod(shape)):,}) from {networks} networks need {needed / 1e9:,.1f} GB "
            f"and {available / 1e9:,.1f} GB are free; {hint}"
        )
    return Covariance(shape, symmetry) if first is None else Leading(shape, first, symmetry)


def estimate(
    make: Callable[[], nn.Module],
    shape: tuple[int, int, int],
    networks: int,
    *,
    estimand: str = "secant",
    method: str = "readout",
    step: float = 100.0,
    point: str = "normal",
    symmetry: str = "none",
    error: float | None = None,
    first: int | None = None,
    seed: int = 0,
) -> NADs:
    """The NADs of the untrained networks that `make()` returns: torch modules from (N, C, H, W) to (N, 1), drawn anew.

    shape: (C, H, W); networks: how many are averaged at most; estimand, method, step, point: see
    `pipeline.nads.estimator.Estimator` (`readout` gives way to `plain`, with a notice, where a network has no linear
    read-out); symmetry: 'none', 'transposition' or 'square' if C has it, or 'measured'; error: stop at this relative
    error of C; first: only so many leading directions, without any D×D matrix. Weights are drawn under seeds derived
    from `seed`. Raises InputError for values that cannot be run and for estimates that do not fit into memory.

    Runs in this process with torch's threads; large estimates are the business of the stage `estimate`, which uses all
    cores and goes on where it was interrupted.
    """
    if symmetry not in (*SYMMETRIES, "measured"):
        raise InputError(f"symmetry must be one of {', '.join(SYMMETRIES)} or measured, not {symmetry!r}")
    try:
        estimator = Estimator(estimand, method, float(step), point, symmetry in ("transposition", "square"), False)
        source = Source(networks, error, tuple(shape), first)
    except (TypeError, ValueError) as problem:
        raise InputError(str(problem)) from None

    def build(number):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(number)
            return make()

    probe = build(seed)
    check(probe, source.input)
    estimator, reason = usable(probe, estimator, source.input)
    if reason:
        tqdm.write(f"notice: {reason}; `plain` is used, which needs far more networks")
    vectors = vectors_of(probe, estimator, source.input)
    free = psutil.virtual_memory().available
    estimation = Estimation(accumulator(source.input, vectors, networks, first, symmetry, free), networks, error)
    with tqdm(total=networks, desc="NADs", unit="network", disable=None) as bar:
        for number in range(networks):
            jacobian = jacobian_of_untrained(build, source.input, number, (seed, "library"), estimator)
            estimation.add(number, jacobian)
            bar.update()
            if estimation.finished:
                break
    return estimation.nads(estimator)
