"""An experiment: a grid of networks, the data on which each network is trained, and its
test sets."""

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

BaseNoise = dict[str, np.ndarray]
"""The arrays of one seed, by name, that determine all its data sets together with cells
and directions: labels, standard-normal numbers, pictures."""

Directions = list[np.ndarray]
"""The vectors or bases that `Experiment.direction_names` names for a cell."""

NO_NAD = -1
"""The index of cells that are trained on images without a NAD. pandas would drop groups
whose index is missing."""

SHAPE = ("channels", "height", "width")
"""The columns of cells.csv that hold this shape."""


def shape_of(cell: Cell) -> Shape:
    """Return the shape (C, H, W) of the inputs of a cell's architecture.

    D(v) and NADs have the same shape.
    """
    return tuple(cell[side] for side in SHAPE)


class Experiment:
    """One question put to a grid of networks: the base class of all experiments.

    Attributes:
        coordinates: Columns of cells.csv that place a cell in its grid.
        channels: Number of input channels, for an architecture of one channel.
        supported_channels: Numbers of channels of the architectures that it can train.
        outputs: Number of the networks' outputs; None for one per class of the images.
        schedule: Default schedule of the learning rate, as in the experiment's paper.
        needs_images: Whether the data are made from images.
        needs_nads: Whether the data are made from NADs.
        needs_courses: Whether the weights after 0, 1, 2, 4, … and all epochs are kept
            for evaluation.
        needs_networks: Whether evaluation needs trained networks, as boundaries and
            courses do. Otherwise the outputs on the test sets are stored instead of
            the weights.
        channel_groups: Channels by name. Each group is also tested by itself, with
            zeros in all other channels.
        at_top_level: Whether params.yaml has the settings beside the experiments'
            blocks instead of in the block of this experiment.
        Settings: Dataclass of the experiment's own values in params.yaml.
        Grid: Dataclass of one architecture's part of the grid, with a method
            `count_nads`.
    """

    coordinates: tuple[str, ...] = ("index",)
    channels: int = 1
    supported_channels: tuple[int, ...] = (1,)
    outputs: int | None = 2
    schedule: str = "triangular"
    needs_images: bool = False
    needs_nads: bool = True
    needs_courses: bool = False
    needs_networks: bool = False
    channel_groups: typing.ClassVar[dict[str, slice]] = {}
    at_top_level: bool = False
    Settings: type = Nothing
    Grid: type = Indices

    @property
    def name(self) -> str:
        """The experiment's name, which is the name of its file."""
        return type(self).__module__.rpartition(".")[2]

    def inputs(self, shape: Shape) -> Shape:
        """Return the shape (C, H, W) of the inputs on which a network is trained.

        Args:
            shape: Shape of the architecture's inputs, which is also that of its NADs.
        """
        return (self.channels * shape[0], *shape[1:])

    def grid_points(self, member: Member) -> Iterator[dict[str, typing.Any]]:
        """Yield the coordinates of every cell of one architecture and seed."""
        for index in member.grid.indices:
            yield {"index": index}

    def values(self, plan: Plan, architecture: str) -> dict[str, typing.Any]:
        """Return the settings of an architecture's data, columns of cells.csv.

        Args:
            plan: The experiment's plan.
            architecture: A name among its members.
        """
        values = {}
        for key, value in vars(plan.settings).items():
            values[key] = value[architecture] if isinstance(value, dict) else value
        return values

    def cells(self, plan: Plan) -> list[Cell]:
        """Return the grid, nested by architecture, seed and grid point."""
        cells = []
        for name, member in plan.members.items():
            values = self.values(plan, name)
            values.update(zip(SHAPE, member.input, strict=True))
            for seed in plan.seeds[: member.seeds]:
                for point in self.grid_points(member):
                    cells.append(
                        {"architecture": name, "seed": seed, **point, **values}
                    )
        return cells

    def directions(
        self, plan: Plan, nads: Callable[..., dict[str, np.ndarray]]
    ) -> dict[str, np.ndarray]:
        """Return the vectors or bases from which the data are made, by name.

        By default these are the NADs of the grid's indices.

        Args:
            plan: The experiment's plan.
            nads: Function from an architecture, and an estimand, to the arrays of its
                file in data/nads/.
        """
        directions = {}
        for name, member in plan.members.items():
            for index in member.grid.indices:
                directions[f"{name}-{index}"] = nads(name)["directions"][index]
        return directions

    def direction_names(self, cell: Cell) -> list[str]:
        """Return the names of the directions from which one cell's data are made."""
        names = []
        for coordinate in self.coordinates:
            names.append(f"{cell['architecture']}-{cell[coordinate]}")
        return names

    def draw_base_noise(self, plan: Plan, seed: int, images: dict | None) -> BaseNoise:
        """Draw the arrays that determine all data sets of one seed.

        Args:
            plan: The experiment's plan.
            seed: The seed.
            images: The dict of `artifacts.read_images` if the experiment needs images.

        Returns:
            Arrays by name. The name of an array that only test sets are made from
            begins with `test`.
        """
        raise NotImplementedError

    def depends_on(self, cell: Cell, array: str) -> bool:
        """Return whether a cell's data sets depend on an array of the base noise.

        Args:
            cell: The cell.
            array: The array's name.
        """
        return True

    def dataset(
        self,
        cell: Cell,
        split: str,
        base_noise: BaseNoise,
        directions: Directions,
    ) -> Labelled:
        """Return inputs (N, C, H, W) and class numbers (N,) of a cell.

        Args:
            cell: The cell.
            split: 'train' or 'test'.
            base_noise: The arrays of the cell's seed.
            directions: The arrays named by `direction_names`.
        """
        raise NotImplementedError

    def classes(self, split: str, base_noise: BaseNoise) -> torch.Tensor:
        """Return the class numbers (N,) of a split.

        With two outputs, the labels −1 and +1 are the classes 0 and 1.

        Args:
            split: 'train' or 'test'.
            base_noise: The arrays of a seed.
        """
        labels = base_noise[f"{split}_labels"]
        if self.outputs == 2:
            labels = labels > 0
        return torch.as_tensor(labels).long()

    def test_sets(
        self, cell: Cell, base_noise: BaseNoise, directions: Directions
    ) -> Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
        """Yield (name, inputs, class numbers) of every test set.

        By default the first one is `all`, and the others have one channel group each.
        Arguments are those of `dataset`.
        """
        x, y = self.dataset(cell, "test", base_noise, directions)
        yield "all", x, y
        for name, channels in self.channel_groups.items():
            yield name, separable.only(x, channels), y

    def boundary_plane(
        self, cell: Cell, base_noise: BaseNoise, directions: Directions
    ) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Return two directions (C, H, W) that span the decision boundary's plane.

        An experiment without boundaries returns None. Arguments are those of `dataset`.
        """
        return None


class SeparableExperiment(Experiment):
    """An experiment on D(v₁) ⊕ … ⊕ D(v_C): separable channels that share the label.

    With label noise, which the papers do not have, a channel carries the opposite label
    in a fraction η of the training samples. Test samples have none.

    Attributes:
        amplitudes: Name of the setting with ε, for each channel.
        label_noise: Name of the setting with η, for each channel; empty without label
            noise.
    """

    amplitudes: tuple[str, ...] = ("eps",)
    label_noise: tuple[str, ...] = ()

    def labels_and_amplitudes(
        self, cell: Cell, split: str, base_noise: BaseNoise
    ) -> list[tuple[np.ndarray, float]]:
        """Return the labels (N,) of each D(v), and their amplitude ε.

        Args:
            cell: The cell.
            split: 'train' or 'test'.
            base_noise: The arrays of the cell's seed.
        """
        pairs = []
        for channel, amplitude in enumerate(self.amplitudes):
            labels = base_noise[f"{split}_labels"]
            if split == "train" and "train_numbers" in base_noise:
                numbers = base_noise["train_numbers"][:, channel]
                rate = cell[self.label_noise[channel]]
                labels = separable.flip_labels(labels, numbers, rate)
            pairs.append((labels, cell[amplitude]))
        return pairs

    def draw_base_noise(self, plan, seed, images):
        """Draw labels (N,) and standard-normal numbers (N, channels, D) of both splits.

        There is one array of numbers for each shape of the plan's inputs, which does
        not depend on the other shapes. With label noise there are also uniform numbers
        (N, channels) in [0, 1), one for each training sample and channel.
        """
        arrays = {}
        counts = {"train": plan.train_samples, "test": plan.test_samples}
        for split, count in counts.items():
            rng = stream(seed, self.name, split)
            arrays[f"{split}_labels"] = separable.labels(rng, count)
            for shape in plan.inputs:
                name = separable.noise_name(split, shape)
                noise_rng = rng if shape == INPUT else stream(seed, self.name, name)
                channels = []
                for _ in range(self.channels):
                    channels.append(
                        separable.normal(noise_rng, count, dimension(shape))
                    )
                arrays[name] = np.stack(channels, 1)
        if any(getattr(plan.settings, rate) for rate in self.label_noise):
            rng = stream(seed, self.name, "label noise")
            arrays["train_numbers"] = rng.random((plan.train_samples, self.channels))
        return arrays

    def depends_on(self, cell, array):
        """Return False for standard-normal numbers of another shape."""
        if "normal" not in array:
            return True
        shape = shape_of(cell)
        return array in (
            separable.noise_name("train", shape),
            separable.noise_name("test", shape),
        )

    def dataset(self, cell, split, base_noise, directions):
        """Return the direct sum of one D(v) for each of the directions (D,)."""
        shape = shape_of(cell)
        pairs = self.labels_and_amplitudes(cell, split, base_noise)
        normal = base_noise[separable.noise_name(split, shape)]
        channels = []
        for channel, (labels, eps) in enumerate(pairs):
            x = separable.linearly_separable(
                normal[:, channel],
                labels,
                directions[channel],
                eps,
                cell["sigma"],
                shape,
                cell.get("sigma_v", 0.0),
            )
            channels.append(x)
        return separable.direct_sum(*channels), self.classes(split, base_noise)


class PictureExperiment(Experiment):
    """An experiment on pictures, by themselves or beside other channels."""

    needs_images = True

    def inputs(self, shape):
        """Return the shape of the pictures and of the channels beside them."""
        return (self.channels, *shape[1:])

    def draw_base_noise(self, plan, seed, images):
        """Draw pictures (N, 3, H, W) and labels (N,) of both splits.

        The arrays `mean` and `deviation` (3,) are those of all training images. With
        two sides of classes there are also standard-normal numbers (N, H·W) for D(v).
        N is the plan's number of samples, or the number of all images if there are
        fewer.
        """
        arrays = {key: np.array(images[key]) for key in ("mean", "deviation")}
        positive = self.positive(plan, images["classes"])
        counts = {"train": plan.train_samples, "test": plan.test_samples}
        for split, count in counts.items():
            rng = stream(seed, self.name, split)
            chosen, labels = pictures.choose(rng, images, split, count)
            arrays[f"{split}_pictures"] = chosen
            if positive is not None:
                labels = np.where(np.isin(labels, positive), 1, -1).astype(np.int8)
                pixels = dimension(chosen.shape[2:])
                arrays[f"{split}_normal"] = separable.normal(rng, len(labels), pixels)
            arrays[f"{split}_labels"] = labels
        return arrays

    def positive(self, plan: Plan, classes: Sequence[str]) -> Sequence[int] | None:
        """Return the numbers of the classes on the positive side of two.

        Args:
            plan: The experiment's plan.
            classes: Names of all classes.

        Returns:
            None if all classes are told apart.
        """
        return None

    def normalised_pictures(self, split: str, base_noise: BaseNoise) -> torch.Tensor:
        """Return a split's normalised pictures (N, 3, H, W).

        Args:
            split: 'train' or 'test'.
            base_noise: The arrays of a seed.
        """
        x = pictures.in_unit_range(base_noise[f"{split}_pictures"])
        return pictures.normalise(x, base_noise)

    def make_linear_channel(
        self, cell: Cell, split: str, base_noise: BaseNoise, v: np.ndarray
    ) -> torch.Tensor:
        """Return D(v) beside the pictures, (N, 1, H, W).

        Args:
            cell: The cell.
            split: 'train' or 'test'.
            base_noise: The arrays of the cell's seed.
            v: Unit vector (H·W,).
        """
        return separable.linearly_separable(
            base_noise[f"{split}_normal"],
            base_noise[f"{split}_labels"],
            v,
            cell["eps"],
            cell["sigma"],
            shape_of(cell),
        )


class BasisExperiment(PictureExperiment):
    """An experiment on pictures of all classes, altered along a network's complete
    NADs.

    NADs of one channel alter each of the three channels, NADs of three channels alter
    all as one.
    """

    channels = 3
    supported_channels = (1, 3)
    outputs = None

    def directions(self, plan, nads):
        """Return the complete NADs (D, D) of every architecture, by its name."""
        return {name: nads(name)["directions"] for name in plan.members}

    def direction_names(self, cell):
        """Return the name of the cell's architecture."""
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

    def grid_points(self, member):
        """Yield one of each k and −k, and of each transpose unless both are wanted."""
        grid = member.grid
        for row, column in frequencies(grid.step, member.input[1:], grid.transposes):
            yield {"k_row": row, "k_col": column}

    def direction(self, cell: Cell) -> np.ndarray:
        """Return v (D,) of a cell."""
        return fourier(cell["k_row"], cell["k_col"], shape_of(cell)[1:])

    def directions(self, plan, nads):
        """Return the Fourier directions of the grid."""
        directions = {}
        for cell in self.cells(plan):
            (name,) = self.direction_names(cell)
            directions[name] = self.direction(cell)
        return directions

    def direction_names(self, cell):
        """Return the name of v, for example '32x32_0_-4'."""
        return [f"{cell['height']}x{cell['width']}_{cell['k_row']}_{cell['k_col']}"]
