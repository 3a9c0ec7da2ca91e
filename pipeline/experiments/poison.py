"""`poison` (paper 1, §5, fig 7): does a network learn images, or their class along a
NAD?

Each image carries its class along a NAD. A network that prefers the carrier to the
content fails on clean images.
"""

import dataclasses

from pydantic import PositiveFloat

from pipeline.experiments.experiment import NO_NAD, BasisExperiment
from pipeline.experiments.plan import CLASSES, Indices
from pipeline.project.errors import InputError
from pipeline.training import pictures
from pipeline.training.shapes import Shape, dimension


def count_carrier_nads(classes: int, shape: Shape) -> int:
    """Return the number of NADs that hold the carriers of all classes.

    Args:
        classes: Number of classes.
        shape: Shape (C, H, W) of the NADs, of one channel or of three.
    """
    offset, _, _ = pictures.carrier_of(classes - 1, 3 // shape[0])
    return offset + 1


@dataclasses.dataclass(frozen=True)
class Carriers:
    """An image's coefficient on its class's carrier, of pixels in [0, 1] (paper 1:
    0.05)."""

    size: PositiveFloat


@dataclasses.dataclass(frozen=True)
class FirstIndices(Indices):
    """The first NAD indices of one architecture's carriers.

    One network is also trained without carriers.
    """

    def count_nads(self, shape: Shape, classes: int = CLASSES) -> int:
        """Return the number of first NADs, up to the last carrier.

        Args:
            shape: Shape (C, H, W) of the NADs.
            classes: Number of classes.

        Raises:
            ValueError: The indices are not a grid, or one is too high for the carriers
                of all classes.
        """
        last = super().count_nads(shape) - 1
        carriers = count_carrier_nads(classes, shape)
        highest = dimension(shape) - carriers
        if last > highest:
            raise ValueError(
                f"{classes} classes take {carriers} NADs, so the last index is "
                f"{highest}, not {last}"
            )
        return last + carriers


class Poison(BasisExperiment):
    """Pictures that carry their class along a NAD."""

    coordinates = ("data", "index")
    schedule = "linear"
    Settings = Carriers
    Grid = FirstIndices

    def grid_points(self, member):
        """Yield clean images, and carriers from every first index on."""
        yield {"data": "images", "index": NO_NAD}
        for index in member.grid.indices:
            yield {"data": "carriers", "index": index}

    def direction_names(self, cell):
        """Return the name of the cell's architecture, for cells with carriers."""
        return super().direction_names(cell) if cell["data"] == "carriers" else []

    def draw_base_noise(self, plan, seed, images):
        """Draw pictures and labels (N,).

        Raises:
            InputError: There are too few NADs after the last index for all classes.
        """
        for member in plan.members.values():
            try:
                member.grid.count_nads(member.input, len(images["classes"]))
            except ValueError as error:
                raise InputError(f"poison: {error}", "out-of-range") from None
        return super().draw_base_noise(plan, seed, images)

    def dataset(self, cell, split, base_noise, directions):
        """Return normalised inputs (N, 3, H, W) and class numbers (N,).

        The only direction is the array of all NADs (D, D); clean images need none.
        """
        x = pictures.in_unit_range(base_noise[f"{split}_pictures"])
        y = self.classes(split, base_noise)
        if cell["data"] == "carriers":
            nads = directions[0][cell["index"] :]
            x = pictures.poison(x, y, nads, cell["size"])
        return pictures.normalise(x, base_noise), y

    def test_sets(self, cell, base_noise, directions):
        """Yield clean test images, and the same with the carriers of their classes."""
        clean = cell | {"data": "images"}
        yield "clean", *self.dataset(clean, "test", base_noise, directions)
        if cell["data"] == "carriers":
            yield "poisoned", *self.dataset(cell, "test", base_noise, directions)
