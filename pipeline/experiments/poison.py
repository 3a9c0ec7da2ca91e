"""`poison` (paper 1, §5, fig 7): does a network learn images, or their class along a NAD?

Each image carries its class along a NAD. A network that prefers the carrier to the content fails on
clean images. In the control, samples of a Gaussian mixture with each class's mean and covariance
replace the images.
"""

import dataclasses

import torch
from pydantic import PositiveFloat

from pipeline.cells import pictures
from pipeline.cells.shapes import Input, dimension
from pipeline.experiments.experiment import OfBases
from pipeline.experiments.plan import Part, check_indices
from pipeline.measures.fitted import counts
from pipeline.project.errors import InputError

CLEAN = -1
"""The index of cells that are trained on clean data."""


@dataclasses.dataclass(frozen=True)
class Carriers:
    """An image's coefficient on its class's carrier, of pixels in [0, 1] (paper 1: 0.05)."""

    size: PositiveFloat


@dataclasses.dataclass(frozen=True)
class FirstIndices(Part):
    """First NAD indices of one architecture's carriers, on images and on the Gaussian mixture.

    One list may be empty. On the data of a list that is not, a network is also trained without
    carriers.
    """

    indices: tuple[int, ...]
    mixture_indices: tuple[int, ...]

    def check(self, pixels: Input) -> None:
        """Raise ValueError unless there are indices, different, in range, and followed by
        another."""
        if not (self.indices or self.mixture_indices):
            raise ValueError("indices and mixture_indices are both empty")
        for name, indices in vars(self).items():
            check_indices(indices, name, pixels)
        if self.last(pixels) >= (count := dimension(pixels)):
            raise ValueError(
                f"ten classes take two NADs, so the last index is {count - 2}, not {count - 1}"
            )

    def last(self, pixels: Input) -> int:
        """The NAD after the largest of these indices (ten classes take two NADs)."""
        return max(self.indices + self.mixture_indices) + 1


class Poison(OfBases):
    """Pictures of which each carries its class along a NAD."""

    coordinates = ("data", "index")
    schedule = "linear"
    Settings = Carriers
    Grid = FirstIndices

    def places(self, member):
        """Clean data and every first index, for images and for the mixture."""
        grid = member.grid
        for data, indices in (("images", grid.indices), ("mixture", grid.mixture_indices)):
            for index in (CLEAN, *indices) if indices else ():
                yield {"data": data, "index": index}

    def beside(self, plan, rng, images, classes):
        """The mixture's samples of the same classes, where the grid has indices on the mixture.

        Raises InputError where there are too few NADs after the last index for all classes.
        """
        count = len(images["classes"])
        last = max(member.grid.last(member.input) for member in plan.members.values()) - 1
        needed = pictures.carrier_of(count - 1)[0] + 1
        if last > (most := dimension(images["train_images"].shape[2:]) - needed):
            raise InputError(
                f"poison: {count} classes take {needed} NADs, so the last index is {most}, not "
                f"{last}"
            )
        if not any(member.grid.mixture_indices for member in plan.members.values()):
            return {}
        train = images["train_images"], images["train_labels"]
        return {"mixture": pictures.gaussian_mixture(rng, *train, classes)}

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
        """Inputs (N, 3, H, W), normalised, and class numbers (N,) of a cell."""
        x, y = self.clean(cell, split, draw)
        return pictures.normalised(self.with_carriers(cell, x, y, directions), draw), y

    def test_sets(self, cell, draw, directions):
        """Clean test data, and the same data with the carriers of their classes."""
        x, y = self.clean(cell, "test", draw)
        yield "clean", pictures.normalised(x, draw), y
        if cell["index"] != CLEAN:
            yield "poisoned", *self.dataset(cell, "test", draw, directions)

    def summary(self, tables, directions):
        """By data: counts of cells, and accuracies on clean data without carriers (`clean`) and at
        the first and last index."""
        found, rows = {}, tables["results"]
        for data, some in rows[rows["test_set"] == "clean"].groupby("data", sort=False):
            means = some.groupby("index")["accuracy"].mean()
            carriers = means.drop(CLEAN)
            found[data] = counts(some) | {
                "clean": round(float(means[CLEAN]), 4),
                "first": round(float(carriers.iloc[0]), 4),
                "last": round(float(carriers.iloc[-1]), 4),
            }
        return found
