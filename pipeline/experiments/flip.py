"""`flip` (paper 1, §5, table 1): images, and images with NAD coefficients in reverse order.

The flip loses nothing, but moves content from directions that the network prefers to directions
that it neglects.
"""

import dataclasses

import torch

from pipeline.cells import pictures
from pipeline.cells.shapes import Shape, dimension
from pipeline.experiments.experiment import BasisExperiment
from pipeline.experiments.plan import Part


@dataclasses.dataclass(frozen=True)
class Whole(Part):
    """One architecture's part of the grid: always the whole basis of NADs."""

    def last(self, shape: Shape) -> int:
        """The last NAD of the basis."""
        return dimension(shape) - 1


class Flip(BasisExperiment):
    """Pictures as they are and with their NAD coefficients in reverse order."""

    coordinates = ("images",)
    Grid = Whole

    def points(self, member):
        """Plain and flipped images."""
        for images in ("plain", "flipped"):
            yield {"images": images}

    def dataset(self, cell, split, draw, directions):
        """Inputs (N, 3, H, W) and class numbers (N,) of a cell; directions: the NADs (D, D).

        Pictures are normalised before the flip, which therefore flips the mean image too.
        """
        x = pictures.normalised(pictures.in_unit_range(draw[f"{split}_pictures"]), draw)
        y = torch.as_tensor(draw[f"{split}_labels"]).long()
        return (pictures.flipped(x, directions[0]) if cell["images"] == "flipped" else x), y
