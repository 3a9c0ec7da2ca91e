"""`learning` (not in the papers): what training does to the directions that a network
responds to.

Networks are kept after 0, 1, 2, 4, … epochs on D(v), v a NAD of the network itself, or
on images. Where their response lies then is measured by
`pipeline.measures.gradients.response_parts`.
"""

from pipeline.experiments.experiment import BasisExperiment
from pipeline.experiments.plan import AmplitudePerArchitecture

IMAGES = -1
"""The index of cells that are trained on images."""


class Learning(BasisExperiment):
    """One channel: D(v) along a NAD, or images in grey, the two halves of whose classes
    are told apart."""

    channels = 1
    colours = (1,)
    outputs = 2
    coordinates = ("data", "index")
    schedule = "linear"
    needs_courses = True
    Settings = AmplitudePerArchitecture

    def points(self, member):
        """D(v) along every index, and the images."""
        for index in member.grid.indices:
            yield {"data": "linear", "index": index}
        yield {"data": "images", "index": IMAGES}

    def positive(self, plan, classes):
        """The numbers of the second half of the classes."""
        return range(len(classes) // 2, len(classes))

    def dataset(self, cell, split, draw, directions):
        """Inputs (N, 1, H, W) and class numbers (N,) of a cell; directions: the NADs
        (D, D)."""
        if cell["data"] == "images":
            x = self.pictures(split, draw).mean(1, keepdim=True)
        else:
            x = self.linear(cell, split, draw, directions[0][cell["index"]])
        return x, self.classes(split, draw)
