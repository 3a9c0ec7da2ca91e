"""An estimate of NADs from one untrained network after another."""

import dataclasses
import math
import sys
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from tqdm import auto

from pipeline.nads.covariance import Candidates, Covariance, count_parts
from pipeline.nads.derivative import images_per_pass
from pipeline.nads.directions import NADs
from pipeline.nads.estimator import Source
from pipeline.nads.jacobian import Sampler
from pipeline.nads.leading import Leading
from pipeline.nads.readout import resolve_method
from pipeline.nads.spectrum import (
    Spectrum,
    degenerate_ranges,
    orient,
    standard_errors,
)
from pipeline.nads.symmetry import ORDERS, one_channel
from pipeline.networks import SYMMETRIES, Symmetry, checks
from pipeline.project.errors import InputError, notice, prefix_errors
from pipeline.project.limits import free_memory
from pipeline.project.progress import progress, shows_bars
from pipeline.training.shapes import as_text

FIRST_CHECK = 4
"""Number of networks at the first check of the error."""

CHECK_GROWTH = 1.2
"""Growth of the number of networks between two checks."""

SLOW = 2048
"""Size of C from which its decomposition takes about a minute."""

Accumulator = Covariance | Candidates | Leading

Results = Iterator[tuple[int, np.ndarray | Exception]]
"""Numbers of networks with their Jacobians, or what ended their computation."""


@dataclasses.dataclass
class Estimation:
    """One estimate of NADs under way.

    It adds networks in their order and stops by itself.

    Attributes:
        sampler: Computes the Jacobian of a network from its number.
        accumulator: The estimate of C, or of A where C is I ⊗ A over the channels.
        networks: Number of networks at most.
        target_error: Relative error of C at which fewer networks are enough, or None.
        channels: Number of channels that are alike.
        pending: Jacobians of networks that wait for those before them.
        next_check: Number of networks at the next check of the error.
        is_precise: Whether the error was met.
    """

    sampler: Sampler
    accumulator: Accumulator
    networks: int
    target_error: float | None = None
    channels: int = 1
    pending: dict[int, np.ndarray] = dataclasses.field(default_factory=dict)
    next_check: int = FIRST_CHECK
    is_precise: bool = False

    @property
    def is_finished(self) -> bool:
        """Whether no further network is needed."""
        return self.is_precise or self.accumulator.count >= self.networks

    def add(self, number: int, jacobian: np.ndarray) -> None:
        """Add a network, as soon as all networks before it have been added.

        Args:
            number: Number of the network.
            jacobian: Its Jacobian J, (F, D).
        """
        accumulator = self.accumulator
        self.pending[number] = one_channel(jacobian, self.channels)
        while not self.is_finished and accumulator.count in self.pending:
            accumulator.add(self.pending.pop(accumulator.count))
            if self.target_error is not None and accumulator.count == self.next_check:
                self.is_precise = accumulator.error() <= self.target_error
                # Even numbers, so that halves have the same size.
                grown = 2 * int(self.next_check * CHECK_GROWTH / 2)
                self.next_check = max(self.next_check + 2, grown)

    def run(
        self, compute: Callable[[Sampler, Iterable[int]], Results], description: str
    ) -> None:
        """Add networks until no further network is needed.

        Args:
            compute: Yields the number of each network with its Jacobian, or with the
                exception that ended it. It takes the numbers one by one.
            description: Text of the progress bar or lines.

        Raises:
            Exception: Of a network that cannot be run.
        """
        results = auto.tqdm(
            compute(self.sampler, self._missing_numbers()),
            desc=description,
            total=self.networks,
            unit="network",
            disable=not shows_bars(),
        )
        with progress(description, self.networks, lambda: self.accumulator.count):
            for number, jacobian in results:
                if isinstance(jacobian, Exception):
                    raise jacobian
                # The loop runs to its end, which keeps the workers for the next
                # estimate. Networks that were under way when no further was needed are
                # left out.
                self.add(number, jacobian)

    def _missing_numbers(self) -> Iterator[int]:
        for number in range(self.networks):
            if self.is_finished:
                return
            yield number

    def nads(self) -> NADs:
        """Compute the NADs of the networks so far.

        Raises:
            InputError: If C is zero or not finite.
        """
        estimator = self.sampler.estimator
        accumulator = self.accumulator
        with np.errstate(all="ignore"):
            if isinstance(accumulator, Candidates):
                accumulator, error = accumulator.choose()
            else:
                error = accumulator.error()
            # Relative to C itself, and so finite exactly where C is finite and not
            # zero.
            split_half = accumulator.split_half()
        if not np.isfinite(split_half):
            raise InputError(
                "C, the covariance of the networks' input derivative "
                f"({estimator.estimand}, step {estimator.step:g}), is zero or not "
                "finite; take another step, or look at what the network does with such "
                "inputs",
                "network-derivative",
            )
        size = math.prod(accumulator.shape)
        work = f"decomposing C, {size:,} × {size:,}"
        if size >= SLOW and isinstance(accumulator, Covariance):
            print(work, file=sys.stderr, flush=True)
        with progress(work):
            decomposition = _decompose(accumulator)
        nads = dataclasses.replace(
            decomposition,
            error=error,
            split_half=split_half,
            estimand=estimator.estimand,
            method=estimator.method,
            step=estimator.step,
            point=estimator.point,
        )
        if self.channels == 1:
            return nads
        return repeat_in_channels(nads, self.channels)


def _decompose(accumulator: Covariance | Leading) -> NADs:
    """Return the eigenvectors of an estimate of C, without its errors and settings."""
    spectrum = accumulator.spectrum()
    eigenvalues = spectrum.eigenvalues
    errors = standard_errors(eigenvalues, spectrum.parts, spectrum.sizes)
    return NADs(
        directions=spectrum.directions,
        shape=accumulator.shape,
        eigenvalues=eigenvalues,
        standard_errors=errors,
        nearby=degenerate_ranges(eigenvalues, errors),
        halves=_half_eigenvalues(spectrum),
        overlap=spectrum.overlap,
        networks=accumulator.count,
        symmetry=accumulator.symmetry,
        asymmetry=accumulator.asymmetry(),
    )


def _half_eigenvalues(spectrum: Spectrum) -> np.ndarray:
    """Return uᵀCu along each direction by the even and by the odd networks, (2, K)."""
    halves = []
    for half in (0, 1):  # even parts are of networks with even numbers
        sizes = spectrum.sizes[half::2]
        halves.append(sizes @ spectrum.parts[half::2] / sizes.sum())
    return np.stack(halves)


def repeat_in_channels(nads: NADs, channels: int) -> NADs:
    """Turn the NADs of one channel into NADs of several independent channels.

    C is that of `nads` in each channel, and 0 between channels. To each direction u of
    one channel belong, with one eigenvalue, u in grey, and u in the differences of
    colours: for three channels red–green and blue–yellow.

    Args:
        nads: NADs of one channel.
        channels: Number of channels.
    """
    from scipy.linalg import helmert  # which takes a third of a second to import

    count = channels * len(nads.directions)
    colours = helmert(channels, full=True)
    directions = np.einsum("kd,bc->kbcd", nads.directions, colours).reshape(count, -1)
    nearby = channels * nads.nearby + [0, channels - 1]
    # The span of the first k holds as many directions in each colour, or one more in
    # some.
    k = np.arange(1, count + 1)
    shared = np.append(0, nads.overlap * np.arange(1, len(nads.overlap) + 1))
    overlap = channels * np.interp(k / channels, np.arange(len(shared)), shared) / k
    return dataclasses.replace(
        nads,
        directions=orient(directions),
        shape=(channels, *nads.shape[1:]),
        eigenvalues=np.repeat(nads.eigenvalues, channels),
        standard_errors=np.repeat(nads.standard_errors, channels),
        nearby=np.repeat(nearby, channels, 0),
        halves=np.repeat(nads.halves, channels, 1),
        overlap=overlap,
        symmetry=str(Symmetry(nads.symmetry, channels=True)),
    )


def start_estimate(
    sampler: Sampler, source: Source, symmetry: Symmetry, name: str = ""
) -> Estimation:
    """Start an empty estimate, with the method that the networks allow.

    Args:
        sampler: Computes the Jacobian of a network from its number.
        source: Number of networks, error, inputs and number of directions.
        symmetry: The symmetry over which C is averaged.
        name: Beginning of a notice of another method.

    Raises:
        InputError: For a symmetry that such inputs cannot have, for more directions
            than the networks' vectors span, for what does not fit into memory, and for
            outputs that depend on the other images of a pass.
    """
    network = sampler.build(0).to(sampler.device).eval()
    with prefix_errors("the network: "):
        count = images_per_pass(network, source.input)
        checks.check_batch(network, source.input, count)
    estimator, vectors, reason = resolve_method(
        network, sampler.estimator, source.input
    )
    if reason is not None:
        notice(f"{name}{reason}; `plain` is used, which needs far more networks")
    square = symmetry.square
    channels = source.input[0] if symmetry.channels else 1
    rows = source.networks * vectors * channels * ORDERS[square]
    check_source(source, square, channels, rows)
    accumulator = make_accumulator(source, square, channels)
    sampler = dataclasses.replace(sampler, estimator=estimator)
    return Estimation(sampler, accumulator, source.networks, source.error, channels)


def check_source(source: Source, square: str, channels: int, rows: int) -> None:
    """Check that an estimate is possible, and that it fits into memory.

    Args:
        source: Number of networks, inputs and number of directions.
        square: Symmetry of the square over which C is averaged, or 'measured'.
        channels: Number of channels that are alike.
        rows: Number of vectors of all networks, moved by the symmetry.

    Raises:
        InputError: If it is not possible or does not fit.
    """
    _, height, width = source.input
    size = as_text(source.input)
    if square in ("transposition", "square") and height != width:
        raise InputError(
            f"inputs of {size} are not square, so nothing can be averaged over the "
            f"symmetry {square}",
            "wrong-shape",
        )
    advice = "estimate only the leading directions (first: 100)"
    if source.first is not None:
        advice = "estimate from fewer networks, or with method: plain"
        if rows * channels < source.first:
            raise InputError(
                f"{source.networks} networks give {rows * channels} directions, too "
                f"few for the first {source.first}",
                "out-of-range",
            )
    needed = memory_needed(source, square, channels, rows)
    free = free_memory()
    if needed > free:
        raise InputError(
            f"NADs of inputs {size} (D = {math.prod(source.input):,}) from "
            f"{source.networks} networks need {needed / 1e9:,.1f} GB of memory, "
            f"but only {free / 1e9:,.1f} GB are free; {advice}",
            "out-of-range",
        )


def memory_needed(source: Source, square: str, channels: int, rows: int) -> int:
    """Return the bytes that an estimate needs.

    Args:
        source: Inputs and number of directions.
        square: Symmetry of the square over which C is averaged, or 'measured'.
        channels: Number of channels that are alike.
        rows: Number of vectors of all networks, moved by the symmetry.
    """
    whole = math.prod(source.input)
    dimension = whole // channels
    if source.first is not None:
        # Two copies of the vectors, matrices of their products, five copies of the
        # directions.
        return 8 * rows * dimension + 20 * rows**2 + 40 * source.first * dimension
    matrices = count_parts((dimension,))
    if square == "measured":
        matrices *= len(SYMMETRIES)
    matrices += 13  # the work space of three decompositions
    numbers = matrices * dimension**2
    if channels > 1:
        numbers += 2 * whole**2
    return 8 * numbers


def make_accumulator(source: Source, square: str, channels: int) -> Accumulator:
    """Make the empty estimate of all directions, or of the first ones.

    Args:
        source: Inputs and number of directions.
        square: Symmetry of the square over which C is averaged, or 'measured'.
        channels: Number of channels that are alike.
    """
    shape = (source.input[0] // channels, *source.input[1:])
    if source.first is not None:
        first = math.ceil(source.first / channels)
        return Leading(shape, first, "none" if square == "measured" else square)
    if square == "measured":
        return Candidates(shape)
    return Covariance(shape, square)


def run_in_process(sampler: Sampler, numbers: Iterable[int]) -> Results:
    """Yield each number with its Jacobian, computed by this process.

    Args:
        sampler: Computes the Jacobian of a network from its number.
        numbers: Numbers of networks.
    """
    for number in numbers:
        yield number, sampler(number)
