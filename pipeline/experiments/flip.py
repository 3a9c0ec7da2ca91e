"""`flip` (paper 1, §5, table 1): images, and images with NAD coefficients in reverse order.

The flip loses nothing, but moves content from directions that the network prefers to directions
that it neglects.
"""

import dataclasses

from pipeline.cells import pictures
from pipeline.cells.shapes import Shape, dimension
from pipeline.experiments.experiment import BasisExperiment


@dataclasses.dataclass(frozen=True)
class Whole:
    """One architecture's part of the grid: always the whole basis of NADs."""

    def nads(self, shape: Shape) -> int:
        """The number of NADs of the basis."""
        return dimension(shape)


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
        x = self.pictures(split, draw)
        if cell["images"] == "flipped":
            x = pictures.flipped(x, directions[0])
        return x, self.classes(split, draw)
