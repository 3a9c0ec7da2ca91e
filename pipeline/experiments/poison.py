"""`poison` (paper 1, §5, fig 7): images that carry their class along a NAD; what is learned?

A network that prefers the carrier to the images' content fails on clean images. The control takes
samples of a Gaussian mixture with the images' mean and covariance per class instead of the images.
"""

import dataclasses

import torch

from pipeline.cells import pictures
from pipeline.cells.seeds import stream
from pipeline.cells.shapes import INPUT, Input, dimension
from pipeline.experiments.experiment import Experiment
from pipeline.experiments.plan import Part, check_indices, check_positive
from pipeline.measures.fitted import counts
from pipeline.project.errors import InputError

CLEAN = -1
"""The index of cells that are trained on clean data."""


@dataclasses.dataclass(frozen=True)
class Carriers:
    """An image's coefficient on its class's carrier, of pixels in [0, 1] (paper 1: 0.05)."""

    size: float

    def __post_init__(self) -> None:
        check_positive(self.size, "size")


@dataclasses.dataclass(frozen=True)
class FirstIndices(Part):
    """First NAD indices of one architecture's carriers, on images and on the Gaussian mixture.

    Either list may be empty, not both; where one is not, a network is also trained on that data
    without carriers.
    """

    indices: tuple[int, ...]
    mixture_indices: tuple[int, ...]

    def __post_init__(self) -> None:
        if not (self.indices or self.mixture_indices):
            raise ValueError("indices and mixture_indices are both empty")

    def check(self, pixels: Input) -> None:
        """They are different indices of NADs, with one more after the last."""
        count = dimension(pixels)
        check_indices(self.indices, count=count)
        check_indices(self.mixture_indices, "mixture_indices", count)
        if self.last() >= count:
            raise ValueError(
                f"ten classes take two NADs, so the last index is {count - 2}, not {count - 1}"
            )

    def last(self, pixels: Input = INPUT) -> int:
        """The last of them, and the next (ten classes take two NADs)."""
        return max(*self.indices, *self.mixture_indices, -1, -1) + 1

    def by_data(self) -> dict[str, tuple[int, ...]]:
        """The first indices on each kind of data that has any."""
        return {
            data: indices
            for data, indices in {"images": self.indices, "mixture": self.mixture_indices}.items()
            if indices
        }


class Poison(Experiment):
    """Pictures of which each carries its class along a NAD."""

    coordinates = ("data", "index")
    channels = 3
    outputs = None
    schedule = "linear"
    needs_images = True
    Settings = Carriers
    Grid = FirstIndices

    def places(self, member):
        """Clean data, and every first index, on each kind of data."""
        for data, indices in member.grid.by_data().items():
            for index in (CLEAN, *indices):
                yield {"data": data, "index": index}

    def values(self, plan, architecture):
        """The size of the carriers' coefficient."""
        return {"size": plan.settings.size}

    def directions(self, plan, nads):
        """All NADs of every architecture, by its name."""
        return {name: nads(name)["directions"] for name in plan.members}

    def uses(self, cell):
        """The network's NADs."""
        return [cell["architecture"]]

    def draw(self, plan, seed, images):
        """Pictures, their class numbers (N,), and the mixture's samples of the same classes.

        Raises InputError where the images have more classes than there are carriers after the last
        index.
        """
        arrays, classes = pictures.normalisation(images), len(images["classes"])
        further, _, _ = pictures.carrier_of(classes - 1)
        grids = [member.grid.by_data() for member in plan.members.values()]
        last = max(index for grid in grids for indices in grid.values() for index in indices)
        if last + further >= (count := dimension(images["train_images"].shape[2:])):
            raise InputError(
                f"poison: {classes} classes take {further + 1} NADs, so the last index is "
                f"{count - 1 - further}, not {last}"
            )
        for split, count in (("train", plan.train_samples), ("test", plan.test_samples)):
            rng = stream(seed, self.name, split)
            arrays[f"{split}_pictures"], labels = pictures.chosen(rng, images, split, count)
            arrays[f"{split}_labels"] = labels
            if any("mixture" in grid for grid in grids):
                arrays[f"{split}_mixture"] = pictures.gaussian_mixture(
                    rng, images["train_images"], images["train_labels"], labels
                )
        return arrays

    def clean(self, cell, split, draw):
        """Inputs (N, 3, H, W) in [0, 1] and class numbers (N,) of a cell, without carriers."""
        y = torch.as_tensor(draw[f"{split}_labels"]).long()
        if cell["data"] == "mixture":
            return torch.as_tensor(draw[f"{split}_mixture"]).float(), y
        return pictures.in_unit_range(draw[f"{split}_pictures"]), y

    def with_carriers(self, cell, x, y, directions):
        """x with the cell's carriers, if it has any; directions: the NADs (D, D)."""
        if cell["index"] == CLEAN:
            return x
        return pictures.poisoned(x, y, directions[0][cell["index"] :], cell["size"])

    def dataset(self, cell, split, draw, directions):
        """Inputs (N, 3, H, W), normalised, and class numbers (N,) of a cell's `split`."""
        x, y = self.clean(cell, split, draw)
        return pictures.normalised(
            self.with_carriers(cell, x, y, directions), draw["mean"], draw["deviation"]
        ), y

    def test_sets(self, cell, draw, directions):
        """Clean test data, and the same with the carriers of their classes."""
        x, y = self.clean(cell, "test", draw)
        yield "clean", pictures.normalised(x, draw["mean"], draw["deviation"]), y
        if cell["index"] != CLEAN:
            yield "poisoned", *self.dataset(cell, "test", draw, directions)

    def metrics(self, tables, directions):
        """By data: cells, fitted cells, clean accuracy without carriers and at the ends."""
        summary = {}
        rows = tables["results"][tables["results"]["test_set"] == "clean"]
        for (name, data), some in rows.groupby(["architecture", "data"], sort=False):
            means = some.groupby("index")["accuracy"].mean()
            carriers = means.drop(CLEAN)
            summary.setdefault(name, {})[data] = counts(some) | {
                "clean": round(float(means[CLEAN]), 4),
                "first": round(float(carriers.iloc[0]), 4),
                "last": round(float(carriers.iloc[-1]), 4),
            }
        return summary
