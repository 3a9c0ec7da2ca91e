"""`learning` (not in the papers): what training does to the directions that a network
responds to.

Networks are kept after 0, 1, 2, 4, … epochs on D(v), v a NAD of the network itself, or
on images. `pipeline.measures.gradients.response_parts` measures where their response
is then.
"""

from pipeline.experiments.experiment import NO_NAD, BasisExperiment
from pipeline.experiments.plan import AmplitudePerArchitecture


class Learning(BasisExperiment):
    """One channel: D(v) along a NAD, or grey images with two sides of their classes."""

    channels = 1
    supported_channels = (1,)
    outputs = 2
    coordinates = ("data", "index")
    schedule = "linear"
    needs_courses = True
    needs_networks = True
    Settings = AmplitudePerArchitecture

    def grid_points(self, member):
        """Yield D(v) along every index, and the images."""
        for index in member.grid.indices:
            yield {"data": "linear", "index": index}
        yield {"data": "images", "index": NO_NAD}

    def depends_on(self, cell, array):
        """Return False for pictures of a cell on D(v), and for the noise of others."""
        if cell["data"] == "images":
            return not array.endswith("_normal")
        return array.endswith(("_normal", "_labels"))

    def positive(self, plan, classes):
        """Return the numbers of the second half of the classes."""
        return range(len(classes) // 2, len(classes))

    def dataset(self, cell, split, base_noise, directions):
        """Return inputs (N, 1, H, W) and class numbers; directions: NADs (D, D)."""
        if cell["data"] == "images":
            x = self.normalised_pictures(split, base_noise).mean(1, keepdim=True)
        else:
            x = self.make_linear_channel(
                cell, split, base_noise, directions[0][cell["index"]]
            )
        return x, self.classes(split, base_noise)
