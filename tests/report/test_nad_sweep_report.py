"""What the figure and the table of `nad_sweep` show."""

import drawing
import numpy as np
import pandas as pd
from small_run import SIGMAS, evaluated, plan, rows_of

from pipeline.report import nad_sweep

HALF = 0.1 * 2**0.5


def test_curves_of_both_estimands(section_of):
    panel = section_of("nad_sweep").pictures[0].figure.axes[0]
    points, whiskers = drawing.curves(panel)["secant"]
    assert points == [[1, 50.1], [11, 50.5]]
    assert whiskers == drawing.numbers([[x, y - HALF, y + HALF] for x, y in points])
    assert drawing.hollow(panel) == [[[1, 50.1]]], "one of the two networks along NAD 0"
    assert drawing.curves(panel)["gradient"][0] == [[1, 50.9], [11, 51.3]]


def test_a_rank_correlation_is_told_of_enough_indices_whose_accuracies_vary():
    places = [{"estimand": "secant", "index": index} for index in (8, 2, 1, 0, 4)]
    falling = rows_of(places)
    # The accuracies of indices 8, 2, 1, 0, 4 rise in this order: ranks 5, 3, 2, 1, 4 of
    # the index against 1 to 5, so that Σd² = 16 + 1 + 1 + 9 + 1 = 28 and ρ = 1 − 6 ·
    # 28/120.
    for rows, correlation in (
        (falling, "−0.40 (n = 5)"),
        (falling.assign(accuracy=0.5), "–"),
        (falling[falling["index"] > 0], "–"),
    ):
        planned = plan(
            "nad_sweep", SIGMAS, [{"indices": [*rows["index"].unique()]}] * 2
        )
        first, _ = nad_sweep.make_table(evaluated(planned, rows), {})
        assert first.get("ρ(accuracy, index)", "–") == correlation


def test_the_table_takes_the_index_nearest_to_a_quoted_one():
    cells = pd.DataFrame({"mean": [0.9, 0.7, 0.5], "std": np.nan}, index=[0, 8, 400])
    texts = [nad_sweep.format_nearest(cells, index) for index in nad_sweep.QUOTED]
    assert texts == ["90.0", "70.0 at 8", "–", "50.0 at 400"]
