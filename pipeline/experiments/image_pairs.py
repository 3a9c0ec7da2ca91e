"""`image_pairs` (paper 2, §4, fig 3): images ⊕ D(v), real images with a linear channel beside them; which is used?

The images are the binary problem of their classes (CIFAR-10: class < 5 against the rest), three channels normalised by
the training images' mean and deviation; the fourth channel is D(v), paired by label, v a NAD of the network itself.
"""

import numpy as np
import torch

from pipeline import datasets
from pipeline.measures.boundaries import mean_tilt
from pipeline.params import Amplitudes
from pipeline.project.seeds import stream
from pipeline.project.shapes import SIDE

COORDINATES = ("index",)
CHANNELS = 4
OUTPUTS = 2
SCHEDULE = "triangular"
NEEDS_IMAGES, NEEDS_NADS = True, True
TEST_SETS = {"images": slice(0, 3), "linear": slice(3, 4)}


Settings = Amplitudes


def check(params):
    """Raise InputError unless every architecture of the grid has its σ."""
    params.settings.check(params.grid.networks)


def cells(params):
    """Rows of the grid: architecture, seed, index, eps, sigma."""
    return [
        {
            "architecture": name,
            "seed": params.seed + offset,
            "index": index,
            "eps": params.settings.eps,
            "sigma": params.settings.sigma[name],
        }
        for name, plan in params.grid.networks.items()
        for offset in range(params.grid.seeds)
        for index in plan.indices
    ]


def directions(params, nads):
    """The NADs of each network at its indices, by '{architecture}-{index}'."""
    return datasets.at_indices(params, nads)


def uses(cell):
    """v."""
    return [f"{cell['architecture']}-{cell['index']}"]


def draw(params, seed, images):
    """For one seed and both splits: which images, their binary labels (N,), the linear channel's draws (N, D).

    With them half_gap (3, 32, 32), half the difference of the class means of the normalised training images. Where fewer
    images exist than asked for, all of them are used.
    """
    arrays = {}
    for split, count in (("train", params.grid.train_samples), ("test", params.grid.test_samples)):
        rng = stream(seed, "image_pairs", split)
        classes = images[f"{split}_labels"]
        arrays[f"{split}_chosen"] = chosen = datasets.chosen(rng, len(classes), count)
        arrays[f"{split}_labels"] = datasets.binary(classes[chosen], len(images["classes"]))
        arrays[f"{split}_normal"] = datasets.normal(rng, len(chosen))
    pictures, positive = images["train_images"][arrays["train_chosen"]], arrays["train_labels"] > 0
    gap = pictures[positive].mean(0, dtype=np.float64) - pictures[~positive].mean(0, dtype=np.float64)
    arrays["half_gap"] = (gap / 2 / 255 / np.reshape(images["deviation"], (3, 1, 1))).astype(np.float32)
    return arrays


def dataset(cell, split, draw, directions, images):
    """Inputs (N, 4, 32, 32) and class numbers (N,) of a cell's `split`; directions: v alone, (D,)."""
    y, (v,) = draw[f"{split}_labels"], directions
    pictures = datasets.in_unit_range(images[f"{split}_images"][draw[f"{split}_chosen"]])
    pictures = datasets.normalised(pictures, images["mean"], images["deviation"])
    linear = datasets.linearly_separable(draw[f"{split}_normal"], y, v, cell["eps"], cell["sigma"])
    return datasets.direct_sum(pictures, linear), torch.as_tensor(y > 0).long()


def test_sets(cell, draw, directions, images):
    """All four channels, the images alone, the linear channel alone."""
    return datasets.with_channels_alone(*dataset(cell, "test", draw, directions, images), TEST_SETS)


def plane(cell, directions, draw):
    """The boundary's plane, each (4, 32, 32): half the way between the images' class means, and 0⊕v.

    The images have no v₁; the difference of the two class means stands in for it (choice), and half of it is the unit of
    its axis, so that the class means lie at ±1.
    """
    first, second = torch.zeros(4, SIDE, SIDE), torch.zeros(4, SIDE, SIDE)
    first[:3] = torch.as_tensor(draw["half_gap"])
    second[3] = torch.as_tensor(directions[0]).reshape(SIDE, SIDE)
    return first, second


def metrics(tables, directions):
    """Per architecture: accuracies at the lowest and highest index, where reliance switches, mean tilt.

    `switches_at` is the smallest index at which the images alone are more accurate than the linear channel alone.
    """
    summary, boundaries = {}, tables["boundaries"]
    for name, rows in tables["results"].groupby("architecture", sort=False):
        means = rows.groupby(["index", "test_set"])["accuracy"].mean()
        indices = sorted(rows["index"].unique())
        images_win = [i for i in indices if means[i, "images"] > means[i, "linear"]]
        summary[name] = {
            "accuracy": {
                end: {s: round(means[i, s], 4) for s in ("all", *TEST_SETS)}
                for end, i in (("low", indices[0]), ("high", indices[-1]))
            },
            "switches_at": int(images_win[0]) if images_win else None,
            "mean_tilt": mean_tilt(boundaries[boundaries["architecture"] == name]),
        }
    return summary
