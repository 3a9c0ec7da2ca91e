"""`poison` (paper 1, §5, fig 7): images with their class written into one NAD coefficient; what does a network learn from them?

A network that prefers the carrier to the images' content fails on clean images. The control takes samples of a Gaussian
mixture with the images' mean and covariance per class instead of the images.
"""

import dataclasses

import torch

from pipeline import datasets
from pipeline.params import Training, check_indices, require
from pipeline.project.seeds import stream
from pipeline.project.shapes import D

COORDINATES = ("data", "index")
CHANNELS = 3
OUTPUTS = None
SCHEDULE = "linear"
NEEDS_IMAGES, NEEDS_NADS = True, True

CLEAN = -1
"""The index of cells that are trained on clean data."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """The size of the coefficient that replaces an image's own on its class's carrier, for pixels in [0, 1] (paper 1: 0.05)."""

    size: float

    def __post_init__(self):
        require(self.size > 0, f"size must be positive, not {self.size}")


@dataclasses.dataclass(frozen=True)
class Plan(Training):
    """One architecture's part of the grid: first NAD index of the carriers, on the images and on the Gaussian mixture.

    Either list may be empty, not both; where one is not, a network is also trained on that data without carriers.
    """

    indices: tuple[int, ...]
    mixture_indices: tuple[int, ...]

    def __post_init__(self):
        super().__post_init__()
        require(self.indices or self.mixture_indices, "indices and mixture_indices are both empty")
        check_indices(self.indices)
        check_indices(self.mixture_indices, "mixture_indices")
        for index in (*self.indices, *self.mixture_indices):
            require(index < D - 1, f"ten classes take two NADs, so the last index is {D - 2}, not {index}")

    def needs(self):
        """The NAD indices that the estimate must hold (ten classes take two NADs)."""
        return [index + 1 for index in (*self.indices, *self.mixture_indices)]

    def grids(self):
        """(data, first indices) of the two grids that are not empty."""
        grids = {"images": self.indices, "mixture": self.mixture_indices}
        return {data: indices for data, indices in grids.items() if indices}


def check(params):
    """Every value that the common rules accept can be run."""


def cells(params):
    """Rows of the grid: architecture, seed, data, index (−1: clean), size."""
    return [
        {
            "architecture": name,
            "seed": params.seed + offset,
            "data": data,
            "index": index,
            "size": params.settings.size,
        }
        for name, plan in params.grid.networks.items()
        for offset in range(params.grid.seeds)
        for data, indices in plan.grids().items()
        for index in (CLEAN, *indices)
    ]


def directions(params, nads):
    """All NADs of every architecture, by its name: how many follow the first depends on the number of classes."""
    return {name: nads(name)["directions"] for name in params.grid.networks}


def uses(cell):
    """The network's NADs."""
    return [cell["architecture"]]


def draw(params, seed, images):
    """For one seed and both splits: which images, their class numbers, and the mixture's samples of the same classes.

    Raises InputError where the images have more classes than there are carriers after the last index.
    """
    arrays = {}
    plans, further = params.grid.networks.values(), datasets.carrier_of(len(images["classes"]) - 1)[0]
    for index in (index for plan in plans for indices in plan.grids().values() for index in indices):
        require(
            index + further < D,
            f"poison: {len(images['classes'])} classes take {further + 1} NADs, so the last index is {D - 1 - further}, "
            f"not {index}",
        )
    mixture = any(plan.mixture_indices for plan in plans)
    for split, count in (("train", params.grid.train_samples), ("test", params.grid.test_samples)):
        rng = stream(seed, "poison", split)
        classes = images[f"{split}_labels"]
        arrays[f"{split}_chosen"] = chosen = datasets.chosen(rng, len(classes), count)
        arrays[f"{split}_labels"] = classes[chosen]
        if mixture:
            arrays[f"{split}_mixture"] = datasets.gaussian_mixture(
                rng, images["train_images"], images["train_labels"], classes[chosen]
            )
    return arrays


def clean(cell, split, draw, images):
    """Inputs (N, 3, 32, 32) in units of 1 and class numbers (N,) of a cell's `split`, without carriers."""
    y = torch.as_tensor(draw[f"{split}_labels"]).long()
    if cell["data"] == "mixture":
        return torch.as_tensor(draw[f"{split}_mixture"]).float(), y
    return datasets.in_unit_range(images[f"{split}_images"][draw[f"{split}_chosen"]]), y


def with_carriers(cell, x, y, directions):
    """x with the cell's carriers, or x itself where the cell has none."""
    if cell["index"] == CLEAN:
        return x
    return datasets.poisoned(x, y, directions[0][cell["index"] :], cell["size"])


def dataset(cell, split, draw, directions, images):
    """Inputs (N, 3, 32, 32), normalised, and class numbers (N,) of a cell's `split`; directions: the NADs (D, D)."""
    x, y = clean(cell, split, draw, images)
    return datasets.normalised(with_carriers(cell, x, y, directions), images["mean"], images["deviation"]), y


def test_sets(cell, draw, directions, images):
    """Clean test data, and the same with the carriers of their classes."""
    x, y = clean(cell, "test", draw, images)
    yield "clean", datasets.normalised(x, images["mean"], images["deviation"]), y
    if cell["index"] != CLEAN:
        yield "poisoned", *dataset(cell, "test", draw, directions, images)


def metrics(tables, directions):
    """Per architecture and data: accuracy on clean data of the network trained on clean data, and at the ends of the grid."""
    summary = {}
    rows = tables["results"][tables["results"]["test_set"] == "clean"]
    for (name, data), some in rows.groupby(["architecture", "data"], sort=False):
        means = some.groupby("index")["accuracy"].mean()
        carriers = means.drop(CLEAN)
        summary.setdefault(name, {})[data] = {
            "clean": round(float(means[CLEAN]), 4),
            "first": round(float(carriers.iloc[0]), 4),
            "last": round(float(carriers.iloc[-1]), 4),
        }
    return summary
