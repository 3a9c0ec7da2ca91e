"""`convergence` (paper 1, fig. 2): how many steps does it take to learn D(v) along a frequency?

The noise is small, so that more directions are learned than in `fourier`. Does a network learn
first the directions along which it generalises there?
"""

import numpy as np

from pipeline.experiments.experiment import OfFrequencies
from pipeline.measures.fitted import counts
from pipeline.measures.speed import steps_over_seeds


class Convergence(OfFrequencies):
    """One linearly separable channel along each Fourier direction, and the steps to learn it."""

    def summary(self, tables, directions):
        """Counts of cells, of directions and of learned directions, and the steps to learn one.

        A direction is learned if every seed learns it. Steps are means over seeds; they are null
        where no direction is learned.
        """
        steps = steps_over_seeds(tables["results"], self.coordinates)["mean"]
        learned = steps[np.isfinite(steps)]
        found = counts(tables["results"]) | {"directions": len(steps), "learned": len(learned)}
        for key, q in {"fastest": 0.0, "median": 0.5, "slowest": 1.0}.items():
            found[key] = None if learned.empty else round(float(learned.quantile(q)), 1)
        return found
