"""`flip` (paper 1, §5, table 1): images, and images with NAD coefficients in reverse order.

Nothing is lost by the flip, but what lay along directions that the network prefers now lies along
those it neglects. On the networks trained on plain images, single NAD components and bands of them
are removed from the test images or their sign is turned, to see which of them the predictions rest
on.
"""

import dataclasses

import torch

from pipeline.cells import pictures
from pipeline.cells.seeds import stream
from pipeline.cells.shapes import INPUT, Input, dimension
from pipeline.experiments.experiment import Experiment
from pipeline.experiments.plan import Part
from pipeline.measures.fitted import counts

OPERATIONS = {"remove": 0.0, "flip": -1.0}
"""What is done to a component, as the factor that it is multiplied by."""


def bands(count: int) -> list[tuple[int, int]]:
    """(first, last) of the altered bands of NAD indices: 0, 1, 2–3, 4–7, … 512–1023."""
    powers = [2**power for power in range(count.bit_length()) if 2**power < count]
    return [(0, 0), *((first, min(2 * first, count) - 1) for first in powers)]


def single(count: int) -> list[int]:
    """NAD indices whose components are altered alone: 2, 4, 8, …, and 1000 (0 and 1 are bands)."""
    return sorted({first for first, _ in bands(count)[2:]} | ({1000} if count > 1000 else set()))


@dataclasses.dataclass(frozen=True)
class Whole(Part):
    """One architecture's part of the grid: nothing to choose, a flip takes the whole basis."""

    def last(self, pixels: Input = INPUT) -> int:
        """The last of all."""
        return dimension(pixels) - 1


class Flip(Experiment):
    """Pictures as they are and with their NAD coefficients in reverse order."""

    coordinates = ("images",)
    channels = 3
    outputs = None
    needs_images = True
    Grid = Whole

    def places(self, member):
        """Plain and flipped images."""
        for images in ("plain", "flipped"):
            yield {"images": images}

    def directions(self, plan, nads):
        """All NADs of every architecture, by its name."""
        return {name: nads(name)["directions"] for name in plan.members}

    def uses(self, cell):
        """The network's NADs."""
        return [cell["architecture"]]

    def draw(self, plan, seed, images):
        """For both splits: pictures and their class numbers (N,)."""
        arrays = pictures.normalisation(images)
        for split, count in (("train", plan.train_samples), ("test", plan.test_samples)):
            rng = stream(seed, self.name, split)
            arrays[f"{split}_pictures"], arrays[f"{split}_labels"] = pictures.chosen(
                rng, images, split, count
            )
        return arrays

    def dataset(self, cell, split, draw, directions):
        """Inputs (N, 3, H, W) and class numbers (N,) of a cell; directions: the NADs (D, D).

        Pictures are normalised first: the flip is linear, so this is the flip of pictures and mean
        image alike.
        """
        x = pictures.normalised(
            pictures.in_unit_range(draw[f"{split}_pictures"]), draw["mean"], draw["deviation"]
        )
        y = torch.as_tensor(draw[f"{split}_labels"]).long()
        return (pictures.flipped(x, directions[0]) if cell["images"] == "flipped" else x), y

    def alterations(self, cell, directions, x):
        """Test inputs with a component or band removed or its sign turned, for plain networks."""
        if cell["images"] != "plain":
            return
        count = len(directions[0])
        for first, last in [*bands(count), *((index, index) for index in single(count))]:
            for operation, factor in OPERATIONS.items():
                place = {"operation": operation, "first": first, "last": last}
                yield place, pictures.scaled_along(x, directions[0][first : last + 1], factor)

    def metrics(self, tables, directions):
        """Cells, fitted cells, accuracy on plain and flipped images, the band that matters most.

        `most_changed` is null where no prediction changed.
        """
        summary = {}
        for name, rows in tables["results"].groupby("architecture", sort=False):
            means = rows.groupby("images")["accuracy"].mean()
            changes = tables["changes"]
            mine = changes[(changes["architecture"] == name) & (changes["operation"] == "remove")]
            bands = mine.groupby(["first", "last"])["changed"].mean()
            first, last = bands.idxmax()
            summary[name] = counts(rows) | {
                "plain": round(float(means["plain"]), 4),
                "flipped": round(float(means["flipped"]), 4),
                "most_changed": f"{first}–{last}" if bands.max() > 0 else None,
            }
        return summary
