"""`fourier` (paper 1, §2, figs 1 and 3): test accuracy on D(v) for v along Fourier directions.

The frequencies k and −k give the same v, which is trained once. Networks without pooling, with
strides instead of pooling, and without skip connections are architectures like any other.
"""

from pipeline.experiments.experiment import OfFrequencies
from pipeline.measures.fitted import counts


class Fourier(OfFrequencies):
    """One linearly separable channel along each vector of the Fourier basis."""

    def summary(self, tables, directions):
        """Counts of cells; mean, lowest and highest accuracy over v."""
        rows = tables["results"]
        means = rows.groupby(list(self.coordinates))["accuracy"].mean()
        return counts(rows) | {
            "mean": round(float(means.mean()), 4),
            "lowest": round(float(means.min()), 4),
            "highest": round(float(means.max()), 4),
        }
