"""`convergence` (paper 1, fig. 2): how many steps does it take to learn D(v) along a frequency?

The noise is small, so that more directions are learned than in `fourier`. Does a network learn
first the directions along which it generalises there?
"""

from pipeline.experiments.experiment import OfFrequencies
from pipeline.measures.fitted import counts


class Convergence(OfFrequencies):
    """One linearly separable channel along each Fourier direction, and the steps to learn it."""

    def summary(self, tables, directions):
        """Counts of cells, of directions, and of directions that every seed learns."""
        rows = tables["results"]
        learned = rows.assign(learned=rows["steps"].notna()).groupby([*self.coordinates])["learned"]
        return counts(rows) | {"directions": len(learned), "learned": int(learned.all().sum())}
