"""`flip` (paper 1, §5, table 1): images, and images with NAD coefficients in reverse order.

The flip loses nothing, but moves content from directions that the network prefers to directions
that it neglects. For networks trained on plain images, components of the test images along single
NADs and bands of NADs are removed, or change sign: on which components do predictions rest?
"""

import dataclasses

import torch

from pipeline.cells import pictures
from pipeline.cells.shapes import Shape, dimension
from pipeline.experiments.experiment import OfBases
from pipeline.experiments.plan import Part
from pipeline.measures.fitted import counts

OPERATIONS = {"remove": 0.0, "flip": -1.0}
"""The factor by which an operation multiplies a component."""


def bands(count: int) -> list[tuple[int, int]]:
    """The bands of NAD indices, (first, last), that are altered: 0, 1, 2–3, 4–7, … 512–1023."""
    powers = [2**power for power in range(count.bit_length()) if 2**power < count]
    return [(0, 0), *((first, min(2 * first, count) - 1) for first in powers)]


def single(count: int) -> list[int]:
    """The NAD indices that are altered alone: 2, 4, 8, … and 1000; 0 and 1 are bands already."""
    return sorted({first for first, _ in bands(count)[2:]} | ({1000} if count > 1000 else set()))


@dataclasses.dataclass(frozen=True)
class Whole(Part):
    """One architecture's part of the grid: always the whole basis of NADs."""

    def last(self, shape: Shape) -> int:
        """The last NAD of the basis."""
        return dimension(shape) - 1


class Flip(OfBases):
    """Pictures as they are and with their NAD coefficients in reverse order."""

    coordinates = ("images",)
    Grid = Whole

    def places(self, member):
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

    def alterations(self, cell, directions, x):
        """Test inputs with a component or band removed or negated, for networks of plain images."""
        if cell["images"] != "plain":
            return
        count = len(directions[0])
        for first, last in [*bands(count), *((index, index) for index in single(count))]:
            for operation, factor in OPERATIONS.items():
                place = {"operation": operation, "first": first, "last": last}
                yield place, pictures.scaled_along(x, directions[0][first : last + 1], factor)

    def summary(self, tables, directions):
        """Counts of cells, accuracies on plain and on flipped images, and `most_changed`.

        That is the band whose removal changes most predictions, null where none changes any.
        """
        rows, changes = tables["results"], tables["changes"]
        means = rows.groupby("images")["accuracy"].mean()
        removed = changes[changes["operation"] == "remove"]
        bands = removed.groupby(["first", "last"])["changed"].mean()
        first, last = bands.idxmax()
        return counts(rows) | {
            "plain": round(float(means["plain"]), 4),
            "flipped": round(float(means["flipped"]), 4),
            "most_changed": f"{first}–{last}" if bands.max() > 0 else None,
        }
