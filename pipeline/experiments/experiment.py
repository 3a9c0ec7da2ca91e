"""An experiment: a grid of networks, the data on which each is trained, and its test
sets."""

import typing
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch

from pipeline.experiments.plan import (
    Amplitude,
    Frequencies,
    Indices,
    Member,
    Nothing,
    Plan,
)
from pipeline.training import pictures, separable
from pipeline.training.fourier import fourier, frequencies
from pipeline.training.loop import Labelled
from pipeline.training.seeds import stream
from pipeline.training.shapes import INPUT, Shape, dimension

Cell = dict[str, typing.Any]
"""One training run: its architecture, its seed, its coordinates in the grid, the
settings of its data, and the shape of its architecture's inputs."""

SHAPE = ("channels", "height", "width")
"""The columns of cells.csv that hold this shape."""


def shape_of(cell: Cell) -> Shape:
    """The shape (C, H, W) of a cell's D(v) and NADs: that of its architecture's inputs."""
    return tuple(cell[side] for side in SHAPE)


class Experiment:
    """One question put to a grid of networks: the base class of all experiments.

    coordinates: the columns of cells.csv that place a cell in its grid; channels:
    number of input channels of an architecture of one channel; colours: the numbers of
    channels of architectures that it can train; outputs: number of the networks'
    outputs, None for one per class of the images; schedule: of the learning rate;
    needs_images, needs_nads: whether the data are made from images or NADs;
    needs_courses: whether each network's weights after 0, 1, 2, 4, … and all epochs are
    kept for evaluation; parts: groups of channels (name → slice), of which each is also
    tested alone with zeros in all other channels; Settings: the dataclass of the
    experiment's own values, which params.yaml has in a block of the experiment's name
    or, if at_top_level, beside the blocks; Grid: the dataclass of one architecture's
    part of the grid, with a method `nads`.
    """

    coordinates: tuple[str, ...] = ("index",)
    channels: int = 1
    colours: tuple[int, ...] = (1,)
    outputs: int | None = 2
    schedule: str = "triangular"
    needs_images: bool = False
    needs_nads: bool = True
    needs_courses: bool = False
    parts: typing.ClassVar[dict[str, slice]] = {}
    at_top_level: bool = False
    Settings: type = Nothing
    Grid: type = Indices

    @property
    def name(self) -> str:
        """The experiment's name: the name of its file."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def needs_networks(self) -> bool:
        """Whether evaluation needs trained networks, for boundaries or for courses of
        training.

        Otherwise the outputs on the test sets are stored in place of the weights.
        """
        return type(self).plane is not Experiment.plane or self.needs_courses

    def inputs(self, shape: Shape) -> Shape:
        """The shape (C, H, W) of the inputs on which a network is trained.

        shape: of its architecture's inputs, which is that of its NADs.
        """
        return (self.channels * shape[0], *shape[1:])

    def points(self, member: Member) -> Iterator[dict[str, typing.Any]]:
        """The coordinates of every cell of one architecture and seed."""
        for index in member.grid.indices:
            yield {"index": index}

    def values(self, plan: Plan, architecture: str) -> dict[str, typing.Any]:
        """The settings of an architecture's data, which are columns of cells.csv."""
        return {
            key: value[architecture] if isinstance(value, dict) else value
            for key, value in vars(plan.settings).items()
        }

    def cells(self, plan: Plan) -> list[Cell]:
        """The grid: every point of every seed of every architecture, in this nesting."""
        return [
            {"architecture": name, "seed": seed}
            | point
            | self.values(plan, name)
            | dict(zip(SHAPE, member.input, strict=True))
            for name, member in plan.members.items()
            for seed in plan.seeds[: member.seeds]
            for point in self.points(member)
        ]

    def directions(
        self, plan: Plan, nads: Callable[..., dict[str, np.ndarray]]
    ) -> dict[str, np.ndarray]:
        """The vectors or bases from which the data are made, by name: the grid's NADs.

        nads: from an architecture, and an estimand, to the arrays of its file in
        data/nads/.
        """
        return {
            f"{name}-{index}": nads(name)["directions"][index]
            for name, member in plan.members.items()
            for index in member.grid.indices
        }

    def uses(self, cell: Cell) -> list[str]:
        """The names of the directions from which one cell's data are made."""
        return [
            f"{cell['architecture']}-{cell[coordinate]}"
            for coordinate in self.coordinates
        ]

    def draw(self, plan: Plan, seed: int, images: dict | None) -> dict[str, np.ndarray]:
        """The arrays by name that, with cells and directions, determine all data sets
        of one seed.

        images: the dict of `pipeline.project.artifacts.images`, where the experiment
        needs images. An array of test sets alone has a name that begins with `test`.
        """
        raise NotImplementedError

    def reads(self, cell: Cell, array: str) -> bool:
        """Whether an array of the draw decides the data sets of a cell."""
        return True

    def dataset(
        self, cell: Cell, split: str, draw: dict, directions: list[np.ndarray]
    ) -> Labelled:
        """A cell's training or test set; directions: the arrays named by `uses`."""
        raise NotImplementedError

    def classes(self, split: str, draw: dict) -> torch.Tensor:
        """Class numbers (N,) of a split: 0 and 1 of the labels −1 and +1, others as
        they are."""
        labels = draw[f"{split}_labels"]
        return torch.as_tensor(labels > 0 if self.outputs == 2 else labels).long()

    def test_sets(
        self, cell: Cell, draw: dict, directions: list
    ) -> Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
        """Yields (name, inputs, class numbers) of every test set: `all`, then each part
        alone."""
        x, y = self.dataset(cell, "test", draw, directions)
        yield "all", x, y
        for name, kept in self.parts.items():
            yield name, separable.only(x, kept), y

    def plane(
        self, cell: Cell, draw: dict, directions: list
    ) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Two directions (C, H, W), in whose plane the decision boundary is measured,
        or None."""
        return None


class SeparableExperiment(Experiment):
    """An experiment on D(v₁) ⊕ … ⊕ D(v_C): separable channels that share the label.

    With label noise, which the papers do not have, a channel carries the opposite label
    in a fraction η of the training samples. Test samples have none.

    amplitudes: the setting that holds ε of each channel; label_noise: the setting that
    holds η of each channel, empty where there is none.
    """

    amplitudes: tuple[str, ...] = ("eps",)
    label_noise: tuple[str, ...] = ()

    def carried(
        self, cell: Cell, split: str, draw: dict
    ) -> list[tuple[np.ndarray, float]]:
        """What each D(v) carries: its labels (N,) and their amplitude ε."""
        carried = []
        for channel, amplitude in enumerate(self.amplitudes):
            labels = draw[f"{split}_labels"]
            if split == "train" and "train_numbers" in draw:
                numbers = draw["train_numbers"][:, channel]
                rate = cell[self.label_noise[channel]]
                labels = separable.mislabelled(labels, numbers, rate)
            carried.append((labels, cell[amplitude]))
        return carried

    def draw(self, plan: Plan, seed: int, images: dict | None) -> dict[str, np.ndarray]:
        """Labels (N,) and draws (N, parts, D) of both splits, for each of the plan's
        inputs.

        They do not depend on which other inputs there are. Where there is label noise,
        also uniform numbers (N, parts) in [0, 1), one for each training sample and
        channel.
        """
        arrays = {}
        for split, count in (
            ("train", plan.train_samples),
            ("test", plan.test_samples),
        ):
            rng = stream(seed, self.name, split)
            arrays[f"{split}_labels"] = separable.labels(rng, count)
            for shape in plan.inputs:
                name = separable.drawn(split, shape)
                d = dimension(shape)
                own = rng if shape == INPUT else stream(seed, self.name, name)
                parts = [separable.normal(own, count, d) for _ in range(self.channels)]
                arrays[name] = np.stack(parts, 1)
        if any(getattr(plan.settings, rate) for rate in self.label_noise):
            rng = stream(seed, self.name, "label noise")
            arrays["train_numbers"] = rng.random((plan.train_samples, self.channels))
        return arrays

    def reads(self, cell: Cell, array: str) -> bool:
        """False for the draws of another shape."""
        own = [separable.drawn(split, shape_of(cell)) for split in ("train", "test")]
        return "normal" not in array or array in own

    def dataset(
        self, cell: Cell, split: str, draw: dict, directions: list[np.ndarray]
    ) -> Labelled:
        """Inputs (N, C, H, W) and class numbers (N,); directions: v (D,) of each D(v)."""
        shape = shape_of(cell)
        carried = self.carried(cell, split, draw)
        normal = draw[separable.drawn(split, shape)]
        sigma_v = cell.get("sigma_v", 0.0)
        parts = [
            separable.linearly_separable(
                normal[:, part], y, v, eps, cell["sigma"], shape, sigma_v
            )
            for part, (v, (y, eps)) in enumerate(zip(directions, carried, strict=True))
        ]
        return separable.direct_sum(*parts), self.classes(split, draw)


class PictureExperiment(Experiment):
    """An experiment on pictures, alone or beside other channels."""

    needs_images = True

    def inputs(self, shape):
        """The channels of the pictures and of those beside them."""
        return (self.channels, *shape[1:])

    def draw(self, plan, seed, images):
        """Pictures (N, 3, H, W) and labels (N,) of both splits, and the mean and
        deviation (3,) of all training images; of two sides also a draw of D(v), (N,
        H·W).

        N is the plan's number of samples, or the number of all images where there are
        fewer.
        """
        arrays = {key: np.array(images[key]) for key in ("mean", "deviation")}
        positive = self.positive(plan, images["classes"])
        for split, count in (
            ("train", plan.train_samples),
            ("test", plan.test_samples),
        ):
            rng = stream(seed, self.name, split)
            chosen, labels = pictures.chosen(rng, images, split, count)
            arrays[f"{split}_pictures"] = chosen
            if positive is not None:
                labels = np.where(np.isin(labels, positive), 1, -1).astype(np.int8)
                pixels = dimension(chosen.shape[2:])
                arrays[f"{split}_normal"] = separable.normal(rng, len(labels), pixels)
            arrays[f"{split}_labels"] = labels
        return arrays

    def positive(self, plan: Plan, classes: Sequence[str]) -> Sequence[int] | None:
        """The numbers of the classes on the positive side of two, None where all are
        told apart."""
        return None

    def pictures(self, split: str, draw: dict) -> torch.Tensor:
        """A split's pictures (N, 3, H, W), normalised."""
        return pictures.normalised(
            pictures.in_unit_range(draw[f"{split}_pictures"]), draw
        )

    def linear(self, cell: Cell, split: str, draw: dict, v: np.ndarray) -> torch.Tensor:
        """D(v) beside the pictures, (N, 1, H, W)."""
        normal = draw[f"{split}_normal"]
        y = draw[f"{split}_labels"]
        eps = cell["eps"]
        sigma = cell["sigma"]
        return separable.linearly_separable(normal, y, v, eps, sigma, shape_of(cell))


class BasisExperiment(PictureExperiment):
    """An experiment on pictures of all classes, altered along a network's complete
    NADs.

    NADs of one channel alter each of the three, those of three channels alter all as
    one.
    """

    channels = 3
    colours = (1, 3)
    outputs = None

    def directions(self, plan, nads):
        """The complete NADs (D, D) of every architecture, by the architecture's name."""
        return {name: nads(name)["directions"] for name in plan.members}

    def uses(self, cell):
        """The name of the cell's architecture."""
        return [cell["architecture"]]


class FrequencyExperiment(SeparableExperiment):
    """An experiment on one linearly separable channel along each vector v of the
    Fourier basis.

    The frequencies k and −k give the same v, which is trained once.
    """

    coordinates = ("k_row", "k_col")
    schedule = "linear"
    needs_nads = False
    Settings = Amplitude
    Grid = Frequencies

    def points(self, member):
        """One of each k and −k, and one of each k and its transpose unless both are
        wanted."""
        for row, column in frequencies(
            member.grid.step, member.input[1:], member.grid.transposes
        ):
            yield {"k_row": row, "k_col": column}

    def direction(self, cell: Cell) -> np.ndarray:
        """v (D,) of a cell."""
        return fourier(cell["k_row"], cell["k_col"], shape_of(cell)[1:])

    def directions(self, plan, nads):
        """The Fourier directions of the grid."""
        return {self.uses(cell)[0]: self.direction(cell) for cell in self.cells(plan)}

    def uses(self, cell):
        """The name of v, for example '32x32_0_-4'."""
        return [f"{cell['height']}x{cell['width']}_{cell['k_row']}_{cell['k_col']}"]
