"""`convergence` (paper 1, fig. 2): how many steps does it take to learn D(v) along a
frequency?

The noise is small, so that more directions are learned than in `fourier`. Does a
network learn first the directions along which it generalises there?
"""

from pipeline.experiments.experiment import FrequencyExperiment


class Convergence(FrequencyExperiment):
    """One linearly separable channel along each Fourier direction, and the steps to
    learn it."""
