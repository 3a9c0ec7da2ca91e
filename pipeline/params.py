"""params.yaml as typed, checked values.

Every rule that a value must obey stands here, so that a wrong value ends before any work starts. What belongs to one
experiment alone is a dataclass `Settings` in that experiment's file; it is passed in, never imported, so that a change
to one experiment's code leaves the others' results valid.
"""

import dataclasses
import difflib
import math
import re
import types
import typing
from pathlib import Path

import yaml

from pipeline import experiments
from pipeline.project.errors import InputError
from pipeline.project.shapes import SIDE, D


def require(condition, sentence):
    """Raise `InputError(sentence)` unless `condition` holds."""
    if not condition:
        raise InputError(sentence)


@dataclasses.dataclass(frozen=True)
class Images:
    """Where the images come from: `path` if given, else CIFAR-10 from this machine or from `url`, else `fallback`."""

    path: str | None
    url: str
    fallback: typing.Literal["digits"] | None


@dataclasses.dataclass(frozen=True)
class Estimator:
    """How NADs are estimated (`pipeline.anisotropy`): the derivative, how its covariance is averaged, and where.

    step: the secant's half-width h, in units of the input; point: the image at which the derivative is taken, one
    standard-normal image, a new one per network, or zero; symmetry: average over the symmetries that the network has;
    compare: estimate the other estimand too, for the figure of their overlap.
    """

    estimand: typing.Literal["secant", "gradient"]
    method: typing.Literal["readout", "plain"]
    step: float
    point: typing.Literal["normal", "many", "zero"]
    symmetry: bool
    compare: bool

    def __post_init__(self):
        require(self.step > 0, f"step must be positive, not {self.step}")
        require(
            not (self.symmetry and not self.symmetric()),
            "symmetry does not hold for the gradient at one fixed image; set symmetry: false, or point: many or zero",
        )

    def symmetric(self):
        """Whether C has the symmetries of the network's law: not so for the gradient at one fixed image."""
        return not (self.estimand == "gradient" and self.point == "normal")

    def other(self):
        """The estimator of the other estimand, averaged over symmetries where both that is asked for and C has them."""
        other = {"secant": "gradient", "gradient": "secant"}[self.estimand]
        plain = dataclasses.replace(self, estimand=other, symmetry=False)
        return dataclasses.replace(plain, symmetry=self.symmetry and plain.symmetric())


@dataclasses.dataclass(frozen=True)
class Source:
    """Where the NADs of one architecture come from: untrained networks, or a file.

    networks: how many untrained networks are averaged at most; error: the relative error of C at which fewer are enough;
    input: (C, H, W) of one input; first: only so many leading directions, for inputs whose D×D matrix fits nowhere;
    file: a .npy with orthonormal rows (K, D) instead of an estimate.
    """

    networks: int | None = None
    error: float | None = None
    input: tuple[int, ...] = (1, SIDE, SIDE)
    first: int | None = None
    file: str | None = None

    def __post_init__(self):
        require(
            len(self.input) == 3 and min(self.input) > 0, f"input must be [channels, height, width], not {self.input}"
        )
        if self.file is not None:
            require(
                self.networks is None and self.error is None and self.first is None,
                "give either file, or networks with error and first, not both",
            )
            return
        require(self.networks is not None, "the key 'networks' (or 'file') is missing")
        require(self.networks >= 2, f"networks must be at least 2 (halves are compared), not {self.networks}")
        require(self.error is None or 0 < self.error < 1, f"error must lie between 0 and 1, not {self.error}")
        dimension = math.prod(self.input)
        require(
            self.first is None or 0 < self.first <= dimension,
            f"first must lie between 1 and {dimension}, not {self.first}",
        )

    @property
    def dimension(self):
        """D = C·H·W."""
        return math.prod(self.input)

    def covers(self, index):
        """Whether these NADs will have a direction of this index."""
        return index < (self.first or self.dimension)


@dataclasses.dataclass(frozen=True)
class Training:
    """How one architecture is trained in one experiment: the optimiser's constants."""

    epochs: int
    lr: float
    momentum: float
    weight_decay: float

    def __post_init__(self):
        require(self.epochs > 0, f"epochs must be at least 1, not {self.epochs}")
        require(self.lr > 0, f"lr must be positive, not {self.lr}")
        require(0 <= self.momentum < 1, f"momentum must lie in [0, 1), not {self.momentum}")
        require(self.weight_decay >= 0, f"weight_decay must not be negative, not {self.weight_decay}")


def check_indices(indices, name="indices"):
    """Raise InputError unless `indices` are different NAD indices."""
    for index in indices:
        require(0 <= index < D, f"NAD index {index} is out of range; indices run from 0 to {D - 1}")
    require(len(set(indices)) == len(indices), f"{name} {list(indices)} repeat a value")


@dataclasses.dataclass(frozen=True)
class Plan(Training):
    """One architecture's part of an experiment's grid, for experiments over NADs: their indices, and the training.

    An experiment whose grid is another one defines its own `Plan`.
    """

    indices: tuple[int, ...]

    def __post_init__(self):
        super().__post_init__()
        require(self.indices, "indices is empty; name at least one NAD index")
        check_indices(self.indices)

    def needs(self):
        """The NAD indices that the estimate must hold."""
        return self.indices


@dataclasses.dataclass(frozen=True)
class Grid:
    """One experiment at one scale: the seeds 0 … `seeds` − 1, sample counts, and the experiment's `Plan` per architecture.

    training: values of `Training` that stand for every network whose own plan does not give them.
    """

    seeds: int
    train_samples: int
    test_samples: int
    networks: dict[str, typing.Any]
    training: dict[str, float] = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        for name in ("seeds", "train_samples", "test_samples"):
            require(getattr(self, name) > 0, f"{name} must be at least 1, not {getattr(self, name)}")
        require(self.networks, "networks is empty; name at least one architecture")


@dataclasses.dataclass(frozen=True)
class Amplitudes:
    """Amplitude ε of D(v) and its noise σ per architecture: the block of an experiment whose σ differs between networks."""

    eps: float
    sigma: dict[str, float]

    def __post_init__(self):
        require(self.eps >= 0, f"eps must not be negative, not {self.eps}")
        for name, sigma in self.sigma.items():
            require(sigma > 0, f"sigma.{name} must be positive, not {sigma}")

    def check(self, networks):
        """Raise InputError unless each of `networks` has its σ."""
        for name in networks:
            require(name in self.sigma, f"sigma has no value for {name}, which the grid trains")


@dataclasses.dataclass(frozen=True)
class Params:
    """All of params.yaml at its chosen scale.

    `settings` holds the experiment's own block, `grid` its block of the scale; both None where no experiment was named.
    `nads` maps each architecture to the `Source` of its NADs; in the file, a number alone is its `networks`. `precision` is
    the scale's: the type in which training multiplies (`pipeline.training`).
    """

    seed: int
    eps1: float
    eps2: float
    sigma: float
    images: Images
    estimator: Estimator
    architectures: dict[str, dict]
    device: typing.Literal["auto", "cpu", "cuda"]
    reuse: bool
    scale: str
    nads: dict[str, Source]
    precision: typing.Literal["float32", "bfloat16"] = "float32"
    settings: typing.Any = None
    grid: Grid | None = None


OF_SCALE = ("precision", "nads")
"""Fields of `Params` that the file gives per scale."""


def load(path="params.yaml", experiment=None, scale=None):
    """The checked `Params` of the file at `path`.

    `experiment` is an experiment module (or None: the common part only), `scale` overrides the file's own choice.
    Raises InputError with one sentence if the file is missing, is not YAML, or any value in it is wrong.
    """
    return parse(read(path), experiment, scale, str(path))


def read(path="params.yaml"):
    """The unchecked document in the file at `path`; raises InputError if it is missing or is not YAML."""
    try:
        return yaml.safe_load(Path(path).read_text())
    except FileNotFoundError:
        raise InputError(f"{path} is missing; run from the root of the repository") from None
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None


def parse(document, experiment=None, scale=None, where="params.yaml"):
    """As `load`, from what `read` gave."""
    require(isinstance(document, dict), f"{where} must hold a mapping")
    names = experiments.names()  # names only: no experiment is imported here
    common = [f.name for f in dataclasses.fields(Params) if f.name not in (*OF_SCALE, "settings", "grid")]
    _known(document, [*common, "scales", *names], where)
    scales = document.get("scales")
    require(isinstance(scales, dict) and scales, f"{where}: scales must map each scale's name to its sizes")
    scale = scale or document.get("scale")
    require(scale in scales, f"{where}: scale {scale!r} is not one of {', '.join(scales)}")
    sizes = scales[scale]
    require(isinstance(sizes, dict), f"{where}: scales.{scale} must be a mapping")
    _known(sizes, [*OF_SCALE, *names], f"{where}: scales.{scale}")

    values = {name: document.get(name, dataclasses.MISSING) for name in common} | {"scale": scale}
    values |= {name: sizes.get(name, dataclasses.MISSING) for name in OF_SCALE}
    if isinstance(values["nads"], dict):
        values["nads"] = {
            name: {"networks": source} if isinstance(source, int) else source for name, source in values["nads"].items()
        }
    params = _build(Params, {k: v for k, v in values.items() if v is not dataclasses.MISSING}, where)
    require(params.eps1 >= 0 and params.eps2 >= 0, f"{where}: eps1 and eps2 must not be negative")
    require(params.sigma > 0, f"{where}: sigma must be positive, not {params.sigma}")
    _known(params.nads, params.architectures, f"{where}: scales.{scale}.nads", "architecture")
    if experiment is None:
        return params

    short = experiment.__name__.rpartition(".")[2]
    require(short in sizes, f"{where}: scales.{scale}.{short} is missing; it gives that experiment's sizes")
    place = f"{where}: scales.{scale}.{short}"
    grid = _build(Grid, sizes[short], place)
    _known(grid.training, [f.name for f in dataclasses.fields(Training)], f"{place}.training")
    plans = {
        name: sizes[short].get("training", {}) | plan if isinstance(plan, dict) else plan
        for name, plan in grid.networks.items()
    }
    plans = _build(dict[str, getattr(experiment, "Plan", Plan)], plans, f"{place}.networks")
    grid = dataclasses.replace(grid, networks=plans)
    _known(grid.networks, params.architectures, f"{place}.networks", "architecture")
    if experiment.NEEDS_NADS:
        kind = "architecture (of those whose NADs are estimated, scales.*.nads)"
        _known(grid.networks, params.nads, f"{place}.networks", kind)
        for name, plan in grid.networks.items():
            at, source = f"{place}.networks.{name}", params.nads[name]
            require(
                source.input == (1, SIDE, SIDE),
                f"{at}: its NADs are for inputs {'×'.join(map(str, source.input))}; experiments have channels of "
                f"{SIDE}×{SIDE}",
            )
            for index in plan.needs():
                require(source.covers(index), f"{at}: NAD {index} is not among the first {source.first}")
    settings = None
    if hasattr(experiment, "Settings"):
        require(short in document, f"{where}: the block {short} is missing")
        settings = _build(experiment.Settings, document[short], f"{where}: {short}")
    else:
        require(
            short not in document, f"{where}: {short} has no block of its own; its constants stand at the top level"
        )
    params = dataclasses.replace(params, settings=settings, grid=grid)
    with _prefixed(f"{where}: {short}"):
        experiment.check(params)
    return params


def checked(kind, **values):
    """An instance of one of this module's dataclasses from values that code gives, checked like those of params.yaml."""
    return _build(kind, values, kind.__name__.lower())


def _known(mapping, names, where, kind="key"):
    """Raise unless every key of `mapping` is one of `names`; the sentence offers the nearest name."""
    for key in mapping:
        if key not in names:
            near = difflib.get_close_matches(str(key), [str(name) for name in names], n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(map(str, names))}."
            raise InputError(f"{where}: unknown {kind} {key!r}; {hint}")


def _range(triple, where):
    """The numbers that [first, last, step] stands for in a list, `last` included."""
    whole = len(triple) == 3 and all(isinstance(part, int) and not isinstance(part, bool) for part in triple)
    require(whole and triple[2] > 0, f"{where}: a range is [first, last, step] of whole numbers, not {triple}")
    return range(triple[0], triple[1] + 1, triple[2])


class _prefixed:
    """Context that puts the place of a value before the sentence that refuses it."""

    def __init__(self, where):
        self.where = where

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is InputError and not str(error).startswith(self.where.split(":")[0] + ":"):
            raise InputError(f"{self.where}: {error}") from None


def _build(kind, value, where):
    """`value` (from YAML) as an instance of the annotated type `kind`, or InputError naming the place `where`."""
    if dataclasses.is_dataclass(kind):
        require(isinstance(value, dict), f"{where} must be a mapping, not {value!r}")
        hints = typing.get_type_hints(kind)
        _known(value, list(hints), where)
        required = [f.name for f in dataclasses.fields(kind) if f.default is dataclasses.MISSING]
        for name in required:
            require(name in value, f"{where}: the key {name!r} is missing")
        separator = ": " if ":" not in where else "."
        built = {name: _build(hints[name], item, f"{where}{separator}{name}") for name, item in value.items()}
        with _prefixed(where):
            return kind(**built)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is typing.Any:
        return value
    if origin in (typing.Union, types.UnionType):
        if value is None:
            return None
        return _build(next(a for a in arguments if a is not type(None)), value, where)
    if origin is typing.Literal:
        require(value in arguments, f"{where} must be one of {', '.join(map(str, arguments))}, not {value!r}")
        return value
    if origin is tuple:
        require(isinstance(value, list), f"{where} must be a list, not {value!r}")
        items = [part for item in value for part in (_range(item, where) if isinstance(item, list) else [item])]
        return tuple(_build(arguments[0], item, where) for item in items)
    if origin is dict:
        require(isinstance(value, dict), f"{where} must be a mapping, not {value!r}")
        return {str(key): _build(arguments[1], item, f"{where}.{key}") for key, item in value.items()}
    if kind is float:
        number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        require(
            number,
            f"{where} must be a finite number, not {value!r}"
            + (
                " (YAML reads 1e-5 as text; write 1.0e-5)"
                if isinstance(value, str) and re.fullmatch(r"[\d.]+e[+-]?\d+", value)
                else ""
            ),
        )
        return float(value)
    if kind is int:
        require(
            isinstance(value, int) and not isinstance(value, bool), f"{where} must be a whole number, not {value!r}"
        )
        return value
    if kind is bool:
        require(isinstance(value, bool), f"{where} must be true or false, not {value!r}")
        return value
    if kind is str:
        require(isinstance(value, str) and value, f"{where} must be text, not {value!r}")
        return value
    require(isinstance(value, kind), f"{where} must be a {kind.__name__}, not {value!r}")
    return value
