"""`colours` (not in the papers): test accuracy on D(v) for v a wave of one colour.

The Fourier directions of paper 1, §2, are of one channel. Here v is such a wave along
an axis of colour, grey, red–green or blue–yellow: is the same wave learned better in
one colour?
"""

from pipeline.experiments.experiment import FrequencyExperiment
from pipeline.training.fourier import AXES, coloured


class Colours(FrequencyExperiment):
    """Three channels along each vector of the Fourier basis times each colour axis."""

    coordinates = ("axis", "k_row", "k_col")
    colours = (3,)

    def points(self, member):
        """Every frequency of every axis."""
        for axis in AXES:
            for frequency in super().points(member):
                yield {"axis": axis} | frequency

    def direction(self, cell):
        """The coloured wave of a cell."""
        return coloured(super().direction(cell), cell["axis"])

    def uses(self, cell):
        """The name of v, for example '32x32_0_-4_grey'."""
        (wave,) = super().uses(cell)
        return [f"{wave}_{cell['axis']}"]
