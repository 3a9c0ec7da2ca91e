"""`learning` (not in the papers): what training does to the directions that a network responds to.

C is the covariance of the network's input gradient over test samples, after 0, 1, 2, 4, … epochs on
D(v), v a NAD of the network itself, or on images. Which part of the response, tr C, lies along v,
or in the span of the images' first principal components, and which part of the rest in the span of
the first NADs, to which the untrained network responds most?
"""

import numpy as np
import torch

from pipeline.cells import pictures, separable
from pipeline.experiments.experiment import OfBases, shape_of
from pipeline.experiments.plan import AmplitudePerArchitecture
from pipeline.measures.fitted import counts
from pipeline.measures.gradients import components, part_along

FIRST = 10
"""Number of NADs, and of principal components, that span the part of the response."""

IMAGES = -1
"""The index of cells that are trained on images."""


class Learning(OfBases):
    """One channel: D(v) along a NAD, or images in grey, the two halves of whose classes are told
    apart."""

    channels, colours = 1, (1,)
    outputs = 2
    coordinates = ("data", "index")
    schedule = "linear"
    Settings = AmplitudePerArchitecture

    def places(self, member):
        """D(v) along every index, and the images."""
        for index in member.grid.indices:
            yield {"data": "linear", "index": index}
        yield {"data": "images", "index": IMAGES}

    def positive(self, plan, classes):
        """The numbers of the second half of the classes."""
        return range(len(classes) // 2, len(classes))

    def dataset(self, cell, split, draw, directions):
        """Inputs (N, 1, H, W) and class numbers (N,) of a cell; directions: the NADs (D, D)."""
        y = draw[f"{split}_labels"]
        if cell["data"] == "images":
            channels = pictures.normalised(pictures.in_unit_range(draw[f"{split}_pictures"]), draw)
            x = channels.mean(1, keepdim=True)
        else:
            v, normal = directions[0][cell["index"]], draw[f"{split}_normal"]
            amplitudes, shape = (cell["eps"], cell["sigma"]), shape_of(cell)
            x = separable.linearly_separable(normal, y, v, *amplitudes, shape)
        return x, torch.as_tensor(y > 0).long()

    def course(self, cell, directions, x, covariance):
        """Parts of the response: `v`, along v, or `components`, in the images' first ones; `nads`,
        of what does not lie along v, in the first NADs, v left out."""
        nads, index = directions[0], cell["index"]
        if cell["data"] == "images":
            row = {"components": part_along(covariance, components(x, FIRST))}
            return row | {"nads": part_along(covariance, nads[:FIRST])}
        v = nads[index : index + 1]
        off = np.eye(v.size) - v.T @ v
        others = nads[[number for number in range(FIRST) if number != index]]
        return {
            "v": part_along(covariance, v),
            "nads": part_along(off @ covariance @ off, others),
        }

    def summary(self, tables, directions):
        """By data: counts of cells, and the parts of the response before and after training."""
        found = {}
        for data, rows in tables["course"].groupby("data", sort=False):
            results = tables["results"]
            part = counts(results[results["data"] == data])
            means = rows.groupby("epoch")[["v", "components", "nads"]].mean()
            for when, row in (("before", means.iloc[0]), ("after", means.iloc[-1])):
                part[when] = {key: round(float(value), 4) for key, value in row.dropna().items()}
            found[data] = part
        return found
