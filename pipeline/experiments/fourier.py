"""`fourier` (paper 1, §2, figs 1 and 3): test accuracy on D(v) for v along Fourier
directions.

The frequencies k and −k give the same v, which is trained once. Networks without
pooling, with strides instead of pooling, and without skip connections are architectures
like any other.
"""

from pipeline.experiments.experiment import FrequencyExperiment


class Fourier(FrequencyExperiment):
    """One linearly separable channel along each vector of the Fourier basis."""
