"""What the figure, the table and the finding of `convergence` show."""

import drawing
import numpy as np
import pandas as pd

from pipeline.report import convergence
from pipeline.report.convergence import OURS, Speed
from pipeline.report.fourier import DIRECTION

STEPS = {(0, 0): 20, (0, 8): 40, (8, 0): 1200, (8, 8): np.inf}
"""Of a network with four directions; (8, −8) and (−16, ·) are not in its grid."""

ACCURACY = {(0, 0): 0.9, (0, 8): 0.8, (8, 0): 0.7, (8, 8): 0.5}


def speed(values=STEPS, limit=1580, **known):
    """known: tables of accuracies."""
    rows = [(*k, n, np.nan) for k, n in values.items()]
    steps = pd.DataFrame(rows, columns=[*DIRECTION, "steps", "std_x"])
    beside = {called: steps.merge(table, on=DIRECTION) for called, table in known.items()}
    return Speed(limit, steps, beside)


def accuracies(values=ACCURACY, std=np.nan, fitted=True):
    """A table of accuracies, as `by_direction` gives them."""
    rows = [(*k, mean, std) for k, mean in values.items()]
    return pd.DataFrame(rows, columns=[*DIRECTION, "mean", "std"]).assign(fitted=fitted)


def test_directions_that_were_not_learned_come_last():
    one = speed(published=accuracies({(0, 0): 0.9, (4, 4): 0.1}))
    assert one.learned["steps"].tolist() == [20, 40, 1200]
    assert one.correlations["published"] == "ρ undefined (1 directions)"
    known = accuracies({(0, 0): 0.7, (0, 8): 0.6, (8, 0): 0.9})
    tied = speed({(0, 0): 5, (0, 8): np.inf, (8, 0): np.inf}, fourier=known)
    # Ranks 1, 2.5, 2.5 against 2, 1, 3.
    assert tied.correlations["fourier"] == "ρ = 0.00 (3 directions)"


def test_published_accuracies_stand_beside_ours(whole):
    known = {OURS: accuracies(), "published": accuracies({(0, 0): 0.6, (8, 8): 0.7})}
    run = whole.experiments["convergence"]
    panel = convergence.maps(run, {"a": speed(**known)}, "caption").axes[1]
    (ours, _), (published, _) = drawing.curves(panel).values()
    assert ours == [[20, 90], [40, 80], [1200, 70], [1.25 * 1580, 50]], "the last was not learned"
    assert published == [[20, 60], [1.25 * 1580, 70]]
