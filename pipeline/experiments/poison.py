"""`poison` (paper 1, §5, fig 7): does a network learn images, or their class along a
NAD?

Each image carries its class along a NAD. A network that prefers the carrier to the
content fails on clean images.
"""

import dataclasses

from pydantic import PositiveFloat

from pipeline.experiments.experiment import BasisExperiment
from pipeline.experiments.plan import Indices
from pipeline.project.errors import InputError
from pipeline.training import pictures
from pipeline.training.shapes import Shape, dimension

CLEAN = -1
"""The index of cells that are trained on clean images."""


def nads_of(classes: int, shape: Shape) -> int:
    """The number of NADs (D,) of a shape that hold the carriers of so many classes."""
    return pictures.carrier_of(classes - 1, 3 // shape[0])[0] + 1


@dataclasses.dataclass(frozen=True)
class Carriers:
    """An image's coefficient on its class's carrier, of pixels in [0, 1] (paper 1:
    0.05)."""

    size: PositiveFloat


@dataclasses.dataclass(frozen=True)
class FirstIndices(Indices):
    """The first NAD indices of one architecture's carriers.

    A network is also trained without carriers.
    """

    def nads(self, shape: Shape, classes: int = 10) -> int:
        """The number of first NADs up to the last carrier of so many classes.

        Raises ValueError also where an index is too late for the carriers of all
        classes.
        """
        last = super().nads(shape) - 1
        carriers = nads_of(classes, shape)
        if last > (most := dimension(shape) - carriers):
            raise ValueError(
                f"{classes} classes take {carriers} NADs, so the last index is {most}, not {last}"
            )
        return last + carriers


class Poison(BasisExperiment):
    """Pictures of which each carries its class along a NAD."""

    schedule = "linear"
    Settings = Carriers
    Grid = FirstIndices

    def points(self, member):
        """Clean images, and carriers from every first index on."""
        for index in (CLEAN, *member.grid.indices):
            yield {"index": index}

    def draw(self, plan, seed, images):
        """Pictures, labels (N,), and the mean and deviation (3,) of all training
        images.

        Raises InputError where there are too few NADs after the last index for all
        classes.
        """
        for member in plan.members.values():
            try:
                member.grid.nads(member.input, len(images["classes"]))
            except ValueError as error:
                raise InputError(f"poison: {error}") from None
        return super().draw(plan, seed, images)

    def dataset(self, cell, split, draw, directions):
        """Inputs (N, 3, H, W), normalised, and class numbers (N,) of a cell;
        directions: the NADs (D, D)."""
        x = pictures.in_unit_range(draw[f"{split}_pictures"])
        y = self.classes(split, draw)
        if cell["index"] != CLEAN:
            x = pictures.poisoned(x, y, directions[0][cell["index"] :], cell["size"])
        return pictures.normalised(x, draw), y

    def test_sets(self, cell, draw, directions):
        """Clean test images, and the same with the carriers of their classes."""
        yield "clean", *self.dataset(cell | {"index": CLEAN}, "test", draw, directions)
        if cell["index"] != CLEAN:
            yield "poisoned", *self.dataset(cell, "test", draw, directions)
