"""What an experiment is: a grid of networks, each trained on data made of given directions, and what they are tested on."""

import dataclasses
import typing
from collections.abc import Callable, Iterator

import numpy as np
import torch

from pipeline.datasets import separable
from pipeline.project import artifacts
from pipeline.project.shapes import INPUT, D, Input, dimension
from pipeline.training import Training

Cell = dict[str, typing.Any]
"""One training run: its architecture, its seed, its coordinates in the grid, the values its data are made with, and, unless these
are images of 32×32 pixels, the height and width of its inputs."""

Labelled = tuple[torch.Tensor, torch.Tensor]
"""Inputs (N, C, H, W) and class numbers (N,)."""
Settings, Grid = typing.TypeVar("Settings"), typing.TypeVar("Grid")
"""The types of an experiment's own values, and of an architecture's part of its grid."""


def pixels(cell: Cell) -> Input:
    """Height and width of a cell's inputs: 32×32 pixels, where it does not say."""
    return cell.get("height", INPUT[0]), cell.get("width", INPUT[1])


@dataclasses.dataclass(frozen=True)
class Nothing:
    """A block without keys."""


class Part:
    """One architecture's part of a grid."""

    def check(self, pixels: Input) -> None:
        """Raise ValueError unless there are such places for inputs of so many pixels."""

    def last(self, pixels: Input = INPUT) -> int:
        """The last NAD index that the estimate must hold, of a network with inputs of so many pixels."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Indices(Part):
    """One architecture's part of a grid over its own NADs: their indices."""

    indices: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.indices:
            raise ValueError("indices is empty; name at least one NAD index")

    def check(self, pixels: Input) -> None:
        """They are different indices of NADs."""
        check_indices(self.indices, count=dimension(pixels))

    def last(self, pixels: Input = INPUT) -> int:
        """The last of them."""
        return max(self.indices)


def check_indices(indices: tuple[int, ...], name: str = "indices", count: int = D) -> None:
    """Raise ValueError unless `indices` are different indices of `count` NADs."""
    found = set()
    for index in indices:
        if not 0 <= index < count:
            raise ValueError(f"NAD index {index} is out of range; indices run from 0 to {count - 1}")
        if index in found:
            raise ValueError(f"{name} repeat a value, {index}")
        found.add(index)


@dataclasses.dataclass(frozen=True)
class Amplitude:
    """Amplitude ε and noise σ of D(v), the same for every architecture."""

    eps: float
    sigma: float

    def __post_init__(self) -> None:
        check_amplitude(self.eps)
        check_positive(self.sigma)


@dataclasses.dataclass(frozen=True)
class AmplitudePerArchitecture:
    """Amplitude ε of D(v), and its noise σ by architecture."""

    eps: float
    sigma: dict[str, float]

    def __post_init__(self) -> None:
        check_amplitude(self.eps)
        for name, sigma in self.sigma.items():
            check_positive(sigma, f"sigma.{name}")


LARGEST = 1_000_000
"""Largest ε, σ and other size of inputs: sums of squares over a layer of a network are then numbers that float32 holds."""


def check_amplitude(eps: float, name: str = "eps") -> None:
    """Raise ValueError unless an amplitude can be one."""
    if not eps >= 0:
        raise ValueError(f"{name} must not be negative, not {eps}")
    if eps > LARGEST:
        raise ValueError(f"{name} must be at most {LARGEST:,}, not {eps}")


def check_positive(size: float, name: str = "sigma") -> None:
    """Raise ValueError unless a standard deviation, or another size that cannot be 0, can be one."""
    if not size > 0:
        raise ValueError(f"{name} must be positive, not {size}")
    if size > LARGEST:
        raise ValueError(f"{name} must be at most {LARGEST:,}, not {size}")


@dataclasses.dataclass(frozen=True)
class Member(typing.Generic[Grid]):
    """One architecture's part of an experiment.

    specification: its network's place and arguments (see `pipeline.networks`); training: how it is trained; grid: its part of
    the grid, the experiment's `Grid`; estimands: those whose NADs of it are estimated, the chosen one first; seeds: how many of the
    plan's seeds it is trained with, None for all; input: height and width of its inputs; digest: of the code of a network that is
    not built in, None of one that is.
    """

    specification: dict[str, typing.Any]
    training: Training
    grid: Grid
    estimands: tuple[str, ...] = ()
    seeds: int | None = None
    input: Input = INPUT
    digest: str | None = None


@dataclasses.dataclass(frozen=True)
class Plan(typing.Generic[Settings, Grid]):
    """One experiment at one scale, checked: all that params.yaml says of it.

    seeds: of the cells; train_samples, test_samples: per cell; settings: the experiment's `Settings`; members: by architecture.
    """

    experiment: str
    scale: str
    seeds: tuple[int, ...]
    train_samples: int
    test_samples: int
    settings: Settings
    members: dict[str, Member[Grid]]

    @classmethod
    def read(cls, experiment: "Experiment", document: dict[str, typing.Any]) -> "Plan":
        """The plan of an experiment from what JSON holds of it; raises InputError where that is no plan of it."""
        kind = cls[experiment.Settings, experiment.Grid]
        return artifacts.as_planned(kind, experiment.name, document, experiment=experiment.name)

    @property
    def inputs(self) -> list[Input]:
        """The heights and widths that the inputs have."""
        return sorted({member.input for member in self.members.values()})

    @property
    def precision(self) -> str:
        """The arithmetic of training, which a scale chooses for all its networks."""
        return next(iter(self.members.values())).training.precision


def check_every_noise(plan: Plan) -> None:
    """Raise ValueError unless every architecture of a plan with `AmplitudePerArchitecture` has its σ."""
    if lacking := [name for name in plan.members if name not in plan.settings.sigma]:
        raise ValueError(f"sigma has no value for {', '.join(lacking)}, which the grid trains")


class Experiment:
    """One question put to a grid of networks; a subclass answers it in one file of `pipeline.experiments`.

    coordinates: the columns of cells.csv that place a cell in its grid; channels: of the inputs; outputs: of the networks, None
    for one per class of the images; schedule: of the learning rate; needs_images, needs_nads: what the data are made of;
    parts: groups of channels (name → slice) that are also tested alone, all others being zero;
    Settings: the experiment's own values in params.yaml, in a block of its name or, at_top_level, beside those blocks; Grid: an
    architecture's part of the grid.
    """

    coordinates: tuple[str, ...] = ("index",)
    channels: int = 1
    outputs: int | None = 2
    schedule: str = "triangular"
    needs_images: bool = False
    needs_nads: bool = True
    parts: typing.ClassVar[dict[str, slice]] = {}
    at_top_level: bool = False
    Settings: type = Nothing
    Grid: type = Indices

    @property
    def name(self) -> str:
        """The experiment's name: that of its file."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def needs_networks(self) -> bool:
        """Whether a later stage needs the trained networks themselves: for a boundary, or to ask them about altered inputs.

        Of all others, what is kept is what they make of their test sets.
        """
        kind = type(self)
        return kind.plane is not Experiment.plane or kind.alterations is not Experiment.alterations

    def check(self, plan: Plan) -> None:
        """Raise ValueError on a plan whose values are right one by one but not together."""

    def check_networks(self, plan: Plan, symmetry: Callable[[dict[str, typing.Any]], str]) -> None:
        """Raise ValueError on a plan whose networks, which can be built, are not such as the rest of it needs.

        symmetry: gives the one that a specification's network states, as `pipeline.networks.symmetry` does.
        """

    def places(self, member: Member) -> Iterator[dict[str, typing.Any]]:
        """The coordinates of every cell of one architecture and seed: each of its indices."""
        for index in member.grid.indices:
            yield {"index": index}

    def values(self, plan: Plan, architecture: str) -> dict[str, typing.Any]:
        """What the data of an architecture's cells are made with, besides directions and draws: columns of cells.csv."""
        return {}

    def cells(self, plan: Plan) -> list[Cell]:
        """The grid: architecture by architecture and seed by seed, every place."""
        return [
            {"architecture": name, "seed": seed}
            | place
            | self.values(plan, name)
            | ({} if self.needs_images and member.input == INPUT else dict(zip(("height", "width"), member.input)))
            for name, member in plan.members.items()
            for seed in plan.seeds[: member.seeds]
            for place in self.places(member)
        ]

    def directions(self, plan: Plan, nads: Callable[..., dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
        """Every vector or basis that the data are made of, by name: the NADs at the grid's indices.

        nads: gives the arrays of data/nads of an architecture, and of one of its estimands.
        """
        return {
            f"{name}-{index}": nads(name)["directions"][index]
            for name, member in plan.members.items()
            for index in member.grid.indices
        }

    def uses(self, cell: Cell) -> list[str]:
        """The names of the directions that one cell's data are made of."""
        return [f"{cell['architecture']}-{cell[coordinate]}" for coordinate in self.coordinates]

    def draw(self, plan: Plan, seed: int, images: dict | None) -> dict[str, np.ndarray]:
        """The arrays that, with a cell and its directions, determine every data set of one seed.

        images: what `pipeline.project.artifacts.images` gives, where the experiment needs images. Names of arrays that decide
        only the test begin with `test`.
        """
        raise NotImplementedError

    def reads(self, cell: Cell, array: str) -> bool:
        """Whether an array of the draw decides the data sets of a cell."""
        return True

    def dataset(self, cell: Cell, split: str, draw: dict, directions: list[np.ndarray]) -> Labelled:
        """A cell's training or test set; directions: those that it uses."""
        raise NotImplementedError

    def test_sets(self, cell: Cell, draw: dict, directions: list) -> Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
        """Yields (name, inputs, class numbers) of everything a cell's network is tested on: `all`, and each part alone."""
        x, y = self.dataset(cell, "test", draw, directions)
        yield "all", x, y
        for name, kept in self.parts.items():
            yield name, separable.only(x, kept), y

    def plane(self, cell: Cell, draw: dict, directions: list) -> tuple[torch.Tensor, torch.Tensor] | None:
        """The two directions (C, H, W) that span the plane in which the decision boundary is measured, or None."""
        return None

    def alterations(self, cell: Cell, directions: list, x: torch.Tensor) -> Iterator[tuple[dict, torch.Tensor]]:
        """Yields (columns, altered inputs) of test inputs x with a part taken away."""
        return iter(())

    def metrics(self, tables: dict, directions: dict[str, np.ndarray]) -> dict:
        """The few numbers that `dvc metrics diff` shows, by architecture.

        tables: the tables that `evaluate` writes, and `losses`, those of training, each by name; directions: all, by name.
        """
        raise NotImplementedError


class OfDirections(Experiment):
    """An experiment on D(v₁) ⊕ … ⊕ D(v_C): every channel is linearly separable, all share the label."""

    def amplitudes(self, cell: Cell) -> tuple[float, ...]:
        """ε of each channel."""
        return (cell["eps"],)

    def draw(self, plan: Plan, seed: int, images: dict | None) -> dict[str, np.ndarray]:
        """Labels (N,) and draws (N, C, D) of both splits, for all inputs of the plan."""
        sizes = plan.train_samples, plan.test_samples
        return separable.draws(seed, self.name, *sizes, self.channels, plan.inputs)

    def reads(self, cell: Cell, array: str) -> bool:
        """Labels, and the draws for inputs like the cell's."""
        return array.endswith("labels") or array in (
            separable.drawn(split, pixels(cell)) for split in ("train", "test")
        )

    def dataset(self, cell: Cell, split: str, draw: dict, directions: list[np.ndarray]) -> Labelled:
        """Inputs (N, C, H, W) and class numbers (N,); directions: v of each channel, (D,)."""
        y, normal = draw[f"{split}_labels"], draw[separable.drawn(split, pixels(cell))]
        channels = [
            separable.linearly_separable(normal[:, channel], y, v, eps, cell["sigma"], (1, *pixels(cell)))
            for channel, (v, eps) in enumerate(zip(directions, self.amplitudes(cell)))
        ]
        return separable.direct_sum(*channels), torch.as_tensor(y > 0).long()
