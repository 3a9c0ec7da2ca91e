"""What the figure, the table and the finding of `convergence` show."""

import drawing
import numpy as np
import pandas as pd
from small_run import FREQUENCIES, evaluated, plan, rows_of

from pipeline.report import convergence
from pipeline.report.fourier import DIRECTION


def speed(steps, accuracies):
    """Of a network with as many directions."""
    rows = [
        (8 * n, 0, *pair) for n, pair in enumerate(zip(steps, accuracies, strict=True))
    ]
    return pd.DataFrame(rows, columns=[*DIRECTION, "steps", "mean"])


def test_directions_that_were_not_learned_come_last():
    one = speed([40, np.inf, 20], [0.9, np.nan, np.nan])
    assert convergence.select_learned(one)["steps"].tolist() == [20, 40]
    assert convergence.correlate(one) == "ρ undefined (1 directions)"
    # Ranks 1, 2.5, 2.5 against 2, 1, 3.
    tied = speed([5, np.inf, np.inf], [0.7, 0.6, 0.9])
    assert convergence.correlate(tied) == "ρ = 0.00 (3 directions)"
    assert convergence.correlate(speed([5, 6], [np.nan, np.nan])) == ""


def test_a_map_has_the_steps_and_hatches_where_a_seed_did_not_learn():
    rows = rows_of(FREQUENCIES).assign(steps=range(16))
    run = evaluated(
        plan("convergence", {"eps": 1.0, "sigma": 1.0}, [{"step": 16}] * 2), rows
    )
    run.results.loc[0, "steps"] = np.nan  # of z at (−16, −16), by the first seed
    speeds = {name: convergence.measure_speed(run, name, run) for name in "za"}
    panels = convergence.draw_maps(run, speeds, "caption").axes
    assert drawing.hatched(panels[0]) == {(0, 0), (0, 2), (2, 0), (2, 2)}
    assert drawing.texts(panels[0])[1.5, 1.5] == "6" and not drawing.hatched(panels[1])
    assert convergence.select_learned(speeds["z"])["steps"].tolist() == [2.5, 4.5, 6.5]
