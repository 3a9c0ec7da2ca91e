"""`colours` (not in the papers): test accuracy on D(v), v a Fourier direction in one
colour.

The Fourier directions of paper 1, §2, have one channel. Here v is such a direction
along an axis of colour: grey, red–green or blue–yellow. Is the same frequency learned
better in one colour?
"""

from pipeline.experiments.experiment import FrequencyExperiment
from pipeline.training.fourier import AXES, in_colour


class Colours(FrequencyExperiment):
    """Three channels along each vector of the Fourier basis times each colour axis."""

    coordinates = ("axis", "k_row", "k_col")
    supported_channels = (3,)

    def grid_points(self, member):
        """Yield every frequency of every axis."""
        for axis in AXES:
            for frequency in super().grid_points(member):
                yield {"axis": axis, **frequency}

    def direction(self, cell):
        """Return the Fourier direction of a cell in its colour."""
        return in_colour(super().direction(cell), cell["axis"])

    def direction_names(self, cell):
        """Return the name of v, for example '32x32_0_-4_grey'."""
        (name,) = super().direction_names(cell)
        return [f"{name}_{cell['axis']}"]
