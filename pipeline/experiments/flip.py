"""`flip` (paper 1, §5, table 1): images, and the same images with their NAD coefficients in reverse order.

Nothing is lost by the flip, but what lay along directions that the network prefers now lies along those it neglects. On
the networks trained on plain images, single NAD components and bands of them are removed from the test images or their
sign is turned, to see which of them the predictions rest on.
"""

import dataclasses

import torch

from pipeline import datasets
from pipeline.params import Training
from pipeline.project.seeds import stream
from pipeline.project.shapes import D

COORDINATES = ("images",)
CHANNELS = 3
OUTPUTS = None
SCHEDULE = "triangular"
NEEDS_IMAGES, NEEDS_NADS = True, True

OPERATIONS = {"remove": 0.0, "flip": -1.0}
"""What is done to a component, as the factor that it is multiplied by."""

BANDS = [(0, 0), *((2**power, 2 ** (power + 1) - 1) for power in range(10))]
"""(first, last) of the altered bands of NAD indices, which double in width up to the upper half of all 1024."""

SINGLE = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
"""NAD indices whose components are altered alone (0 and 1 are bands already)."""


@dataclasses.dataclass(frozen=True)
class Plan(Training):
    """One architecture's part of the grid: its training alone."""

    def needs(self):
        """The NAD indices that the estimate must hold: a flip takes the whole basis."""
        return [D - 1]


def check(params):
    """Every value that the common rules accept can be run."""


def cells(params):
    """Rows of the grid: architecture, seed, images (plain or flipped)."""
    return [
        {"architecture": name, "seed": params.seed + offset, "images": images}
        for name in params.grid.networks
        for offset in range(params.grid.seeds)
        for images in ("plain", "flipped")
    ]


def directions(params, nads):
    """All NADs of every architecture, by its name."""
    return {name: nads(name)["directions"] for name in params.grid.networks}


def uses(cell):
    """The network's NADs."""
    return [cell["architecture"]]


def draw(params, seed, images):
    """For one seed and both splits: which images, and their class numbers."""
    arrays = {}
    for split, count in (("train", params.grid.train_samples), ("test", params.grid.test_samples)):
        classes = images[f"{split}_labels"]
        arrays[f"{split}_chosen"] = chosen = datasets.chosen(stream(seed, "flip", split), len(classes), count)
        arrays[f"{split}_labels"] = classes[chosen]
    return arrays


def dataset(cell, split, draw, directions, images):
    """Inputs (N, 3, 32, 32) and class numbers (N,) of a cell's `split`; directions: the NADs (D, D).

    Images are normalised first: the flip is linear, so this is the flip of images and mean image alike.
    """
    x = datasets.in_unit_range(images[f"{split}_images"][draw[f"{split}_chosen"]])
    x = datasets.normalised(x, images["mean"], images["deviation"])
    y = torch.as_tensor(draw[f"{split}_labels"]).long()
    return (datasets.flipped(x, directions[0]) if cell["images"] == "flipped" else x), y


def test_sets(cell, draw, directions, images):
    """Test images made like the training images."""
    yield "all", *dataset(cell, "test", draw, directions, images)


def alterations(cell, directions, x):
    """Of networks trained on plain images: (columns, inputs) with one component or band removed, or its sign turned."""
    if cell["images"] != "plain":
        return
    for first, last in [*BANDS, *((index, index) for index in SINGLE)]:
        for operation, factor in OPERATIONS.items():
            place = {"operation": operation, "first": first, "last": last}
            yield place, datasets.scaled_along(x, directions[0][first : last + 1], factor)


def metrics(tables, directions):
    """Per architecture: accuracy on plain and on flipped images, and the band whose removal changes most predictions.

    `most_changed` is null where no prediction changed.
    """
    summary = {}
    for name, rows in tables["results"].groupby("architecture", sort=False):
        means = rows.groupby("images")["accuracy"].mean()
        changes = tables["changes"]
        mine = changes[(changes["architecture"] == name) & (changes["operation"] == "remove")]
        bands = mine.groupby(["first", "last"])["changed"].mean()
        first, last = bands.idxmax()
        summary[name] = {
            "plain": round(float(means["plain"]), 4),
            "flipped": round(float(means["flipped"]), 4),
            "most_changed": f"{first}–{last}" if bands.max() > 0 else None,
        }
    return summary
