"""`poison` (paper 1, §5, fig 7): does a network learn images, or their class along a NAD?

Each image carries its class along a NAD. A network that prefers the carrier to the content fails on
clean images. In the control, samples of a Gaussian mixture with each class's mean and covariance
replace the images.
"""

import dataclasses

import torch
from pydantic import PositiveFloat

from pipeline.cells import pictures
from pipeline.cells.shapes import Shape, dimension
from pipeline.experiments.experiment import OfBases
from pipeline.experiments.plan import Part, check_indices
from pipeline.measures.fitted import counts
from pipeline.project.errors import InputError

CLEAN = -1
"""The index of cells that are trained on clean data."""


def nads_of(classes: int, shape: Shape) -> int:
    """The number of NADs (D,) of a shape that hold the carriers of so many classes."""
    return pictures.carrier_of(classes - 1, 3 // shape[0])[0] + 1


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

    def check(self, shape: Shape) -> None:
        """Raise ValueError unless there are indices, different, in range, and not too late for ten
        classes."""
        if not (self.indices or self.mixture_indices):
            raise ValueError("indices and mixture_indices are both empty")
        for name, indices in vars(self).items():
            check_indices(indices, name, shape)
        self.check_classes(10, shape)

    def check_classes(self, classes: int, shape: Shape) -> None:
        """Raise ValueError where there are too few NADs from the last index on for the classes."""
        needed, last = nads_of(classes, shape), max(self.indices + self.mixture_indices)
        if last > (most := dimension(shape) - needed):
            raise ValueError(
                f"{classes} classes take {needed} NADs, so the last index is {most}, not {last}"
            )

    def last(self, shape: Shape) -> int:
        """The last NAD of the carriers of ten classes."""
        return max(self.indices + self.mixture_indices) + nads_of(10, shape) - 1


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
        for member in plan.members.values():
            try:
                member.grid.check_classes(len(images["classes"]), member.input)
            except ValueError as error:
                raise InputError(f"poison: {error}") from None
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
