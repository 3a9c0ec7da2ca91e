"""An estimate of NADs from one untrained network after another, also as one call."""

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from torch import nn
from tqdm import tqdm

from pipeline.nads.covariance import Candidates, Covariance, parts_of
from pipeline.nads.directions import NADs
from pipeline.nads.estimator import Estimator, Source
from pipeline.nads.jacobian import Sampler
from pipeline.nads.leading import Leading
from pipeline.nads.readout import usable
from pipeline.nads.spectrum import nearby_of, oriented, standard_errors
from pipeline.nads.symmetry import ORDERS, of_one_channel
from pipeline.networks import SYMMETRIES, Symmetry, custom
from pipeline.project.errors import InputError, notice, prefix_errors
from pipeline.project.limits import free_memory
from pipeline.training.shapes import as_text

# Networks at the first look at the error, and how much their number grows between two
# looks.
FIRST_LOOK = 4
LOOK_GROWTH = 1.2


@dataclasses.dataclass
class Estimation:
    """One estimate of NADs under way, which adds networks in their order and stops by
    itself.

    accumulator: the estimate of C, or of A where C is I ⊗ A over so many `channels`;
    networks: their number at most; target_error: the relative error of C at which fewer
    are enough, or None; look: the number of networks at the next look at the error;
    reached: whether that was met.
    """

    sampler: Sampler
    accumulator: Covariance | Candidates | Leading
    networks: int
    target_error: float | None = None
    channels: int = 1
    waiting: dict[int, np.ndarray] = dataclasses.field(default_factory=dict)
    look: int = FIRST_LOOK
    reached: bool = False

    @property
    def finished(self) -> bool:
        """Whether no further network is needed."""
        return self.accumulator.count >= self.networks or self.reached

    def add(self, number: int, jacobian: np.ndarray) -> None:
        """Take the Jacobian of network `number`, which waits for those before it."""
        self.waiting[number] = of_one_channel(jacobian, self.channels)
        while not self.finished and self.accumulator.count in self.waiting:
            self.accumulator.add(self.waiting.pop(self.accumulator.count))
            if self.target_error is not None and self.accumulator.count == self.look:
                self.reached = self.accumulator.error() <= self.target_error
                self.look = max(self.look + 2, 2 * int(self.look * LOOK_GROWTH / 2))

    def fill(
        self,
        run: Callable[
            [Sampler, Iterable[int]], Iterator[tuple[int, np.ndarray | Exception]]
        ],
        wanted: Callable[[int], bool] = lambda number: True,
        **bar: object,
    ) -> None:
        """Add networks until no further is needed.

        run: yields the number of each network, of those that it takes one by one, with
        the result of the sampler; wanted: whether the network of a number is still to
        be begun; bar: options of tqdm's bar. Raises the exception of a network that
        cannot be run.
        """

        def needed(number):
            return not self.finished and wanted(number)

        results = run(self.sampler, itertools.takewhile(needed, range(self.networks)))
        for number, jacobian in tqdm(results, unit="network", disable=None, **bar):
            if isinstance(jacobian, Exception):
                raise jacobian
            # The loop runs to its end, which keeps the workers for the next estimate.
            # Networks that were under way when no further was needed are left out.
            self.add(number, jacobian)

    def nads(self) -> NADs:
        """The NADs of the networks so far; raises InputError if C is zero or not
        finite."""
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
                f"C, the covariance of the networks' input derivative ({estimator.estimand}, step "
                f"{estimator.step:g}), is zero or not finite; take another step, or look at what "
                "the network does with such inputs"
            )
        spectrum = accumulator.spectrum()
        eigenvalues = spectrum.eigenvalues
        parts = spectrum.parts
        sizes = spectrum.sizes
        errors = standard_errors(eigenvalues, parts, sizes)
        nads = NADs(
            directions=spectrum.directions,
            shape=accumulator.shape,
            eigenvalues=eigenvalues,
            standard_errors=errors,
            nearby=nearby_of(eigenvalues, errors),
            # Even parts are of networks of even number.
            halves=np.stack(
                [sizes[h::2] @ parts[h::2] / sizes[h::2].sum() for h in (0, 1)]
            ),
            overlap=spectrum.overlap,
            error=error,
            split_half=split_half,
            networks=accumulator.count,
            **{
                name: getattr(estimator, name)
                for name in ("estimand", "method", "step", "point")
            },
            symmetry=accumulator.symmetry,
            asymmetry=accumulator.asymmetry(),
        )
        return in_channels(nads, self.channels) if self.channels > 1 else nads


def in_channels(nads: NADs, channels: int) -> NADs:
    """The NADs of inputs of several channels: C is that of `nads` in each, and 0
    between them.

    To each direction u of one channel belong, with one eigenvalue, u in grey, and u in
    the differences of colours: of three channels red–green and blue–yellow.
    """
    from scipy.linalg import helmert  # which takes a third of a second to import

    count = channels * len(nads.directions)
    colours = helmert(channels, full=True)
    directions = np.einsum("kd,bc->kbcd", nads.directions, colours).reshape(count, -1)
    repeated = {
        name: np.repeat(getattr(nads, name), channels, -1)
        for name in ("eigenvalues", "standard_errors", "halves")
    }
    # The span of the first k holds as many directions in each colour, or one more in
    # some.
    k = np.arange(1, count + 1)
    of_one = np.append(0, nads.overlap * np.arange(1, len(nads.overlap) + 1))
    return dataclasses.replace(
        nads,
        **repeated,
        directions=oriented(directions),
        shape=(channels, *nads.shape[1:]),
        nearby=np.repeat(channels * nads.nearby + [0, channels - 1], channels, 0),
        overlap=channels * np.interp(k / channels, np.arange(len(of_one)), of_one) / k,
        symmetry=str(Symmetry(nads.symmetry, channels=True)),
    )


def in_turn(
    sampler: Sampler, numbers: Iterable[int]
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each number with its Jacobian, made by this process."""
    return ((number, sampler(number)) for number in numbers)


def begun(
    sampler: Sampler, source: Source, symmetry: Symmetry, name: str = ""
) -> Estimation:
    """The empty estimate of a sampler's networks, by the estimator that they allow.

    Raises InputError for a symmetry that such inputs cannot have, for more directions
    than the networks' vectors span, and for what does not fit into memory. A notice of
    another method begins with `name`.
    """
    network = sampler.build(sampler.identity[0])
    estimator, vectors, reason = usable(network, sampler.estimator, source.input)
    if reason:
        notice(f"{name}{reason}; `plain` is used, which needs far more networks")
    first = source.first
    networks = source.networks
    size = as_text(source.input)
    channels = source.input[0] if symmetry.channels else 1
    square = symmetry.square
    shape = (source.input[0] // channels, *source.input[1:])
    whole = math.prod(source.input)
    dimension = math.prod(shape)
    if square in ("transposition", "square") and shape[1] != shape[2]:
        raise InputError(
            f"inputs of {size} are not square, so nothing can be averaged over the symmetry "
            f"{square}"
        )
    if first is None:
        sums = parts_of(shape)
        if square == "measured":
            sums *= len(SYMMETRIES)
        # The sums and the work space of three decompositions.
        needed = ((sums + 13) * dimension**2 + 2 * (channels > 1) * whole**2) * 8
        advice = "the first directions (first: 100)"
    else:
        rows = networks * vectors * channels * ORDERS[square]
        if rows < first:
            raise InputError(
                f"{networks} networks give {rows} vectors, too few for the first {first} directions"
            )
        # Two copies of the vectors, matrices of their products, five copies of the
        # directions.
        needed = 8 * rows * dimension + 20 * rows**2 + 40 * first * dimension
        advice = "fewer networks or for method: plain"
    if needed > (free := free_memory()):
        raise InputError(
            f"NADs of inputs {size} (D = {whole:,}) from {networks} networks need "
            f"{needed / 1e9:,.1f} GB and {free / 1e9:,.1f} GB are free; ask for {advice}"
        )
    empty = _empty(shape, square, first and math.ceil(first / channels))
    sampler = dataclasses.replace(sampler, estimator=estimator)
    return Estimation(sampler, empty, networks, source.error, channels)


def _empty(
    shape: tuple[int, ...], square: str, first: int | None
) -> Covariance | Candidates | Leading:
    """The accumulator of all directions, or of the first ones, averaged over a
    symmetry."""
    if first is not None:
        return Leading(shape, first, "none" if square == "measured" else square)
    return Candidates(shape) if square == "measured" else Covariance(shape, square)


@custom.usual_defaults()
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
    """The NADs of the untrained networks that `make()` builds (paper 1, §4); see
    docs/api.md.

    make: builds a torch module from (N, C, H, W) to (N, 1), its weights drawn anew at
    each call; shape: (C, H, W) of one input; networks: their number, at most; estimand,
    method, step, point: see `pipeline.nads.estimator.Estimator`; symmetry: 'none',
    'transposition' or 'square', over which C is averaged, or 'measured', that of the
    least error, and with '+channels' at its end also over the channels; error: relative
    error of C at which the estimate stops; first: number of leading directions, without
    any D×D matrix; seed: decides weights and image.

    Raises InputError for values that cannot be run, for networks as `custom.check`
    does, for a C that is zero or not finite, and for estimates that do not fit into
    memory.

    >>> from torch import nn >>> network = lambda: nn.Sequential(nn.Flatten(),
    nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1)) >>> nads = estimate(network, shape=(1,
    4, 4), networks=8) >>> nads.directions.shape, nads.method, nads.error < 0.5 ((16,
    16), 'readout', True)
    """
    if isinstance(make, nn.Module) or not callable(make):
        raise InputError(
            "estimate needs a function that builds a new network, such as `lambda: Net()`, not a "
            + ("network" if isinstance(make, nn.Module) else type(make).__name__)
        )

    with prefix_errors("", ValueError):
        over = Symmetry.named(symmetry)
        symmetric = symmetry not in ("none", "measured")
        estimator = Estimator(estimand, method, float(step), point, symmetric, False)
        source = Source(networks, error, tuple(shape), first)
    wanted = source.input if estimand == "output" else (1,)
    build = functools.partial(custom.build, make)
    usual = functools.partial(build, contiguous=True)
    if custom.needs_contiguous("the network", build, usual, source.input):
        build = usual
    for text in custom.check("the network", build, source.input, wanted):
        notice(text)
    estimation = begun(
        Sampler(build, source.input, (seed, "library"), estimator), source, over
    )
    estimation.fill(in_turn, desc="NADs", total=networks)
    return estimation.nads()
