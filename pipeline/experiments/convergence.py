"""`convergence` (paper 1, fig. 2): how many steps does it take to learn D(v) along a frequency?

The noise is small, so that more directions are learned than in `fourier`; the question is whether
those that are learned first are those along which a network generalises there.
"""

import numpy as np

from pipeline.experiments.experiment import OfFrequencies
from pipeline.measures.fitted import counts
from pipeline.measures.speed import steps_over_seeds


class Convergence(OfFrequencies):
    """One linearly separable channel along each Fourier direction, and the steps to learn it."""

    def metrics(self, tables, directions):
        """Cells, fitted cells, directions, those learned with every seed, and the steps these took.

        Steps are means over seeds; null where no direction was learned.
        """
        summary = {}
        for name, rows in tables["results"].groupby("architecture", sort=False):
            steps = steps_over_seeds(rows, self.coordinates)["mean"]
            learned = steps[np.isfinite(steps)]
            quantiles = {"fastest": 0.0, "median": 0.5, "slowest": 1.0}
            summary[name] = (
                counts(rows)
                | {"directions": len(steps), "learned": len(learned)}
                | {
                    key: None if learned.empty else round(float(learned.quantile(q)), 1)
                    for key, q in quantiles.items()
                }
            )
        return summary
