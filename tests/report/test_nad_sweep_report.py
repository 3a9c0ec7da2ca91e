"""What the figure and the table of `nad_sweep` show."""

import drawing
import numpy as np
import pandas as pd
import pytest
from small_run import SIGMAS, make_plan, make_record, make_results

from pipeline.report import nad_sweep


def test_curves_of_both_estimands(section_of):
    panel = section_of("nad_sweep").pictures[0].figure.axes[0]
    curves = drawing.curves(panel)
    points, whiskers = curves["secant"]
    assert points == [[1, 50.1], [11, 50.5]]
    half = 0.1 * 2**0.5
    expected = [[1, 50.1 - half, 50.1 + half], [11, 50.5 - half, 50.5 + half]]
    assert whiskers == drawing.numbers(expected)
    assert drawing.hollow(panel) == [[[1, 50.1]]], "one of the two networks along NAD 0"
    points, _ = curves["gradient"]
    assert points == [[1, 50.9], [11, 51.3]]


def correlate(results):
    """The rank correlation in the table of the first network."""
    indices = results["index"].unique().tolist()
    plan = make_plan("nad_sweep", SIGMAS, 2 * [{"indices": indices}])
    row = next(nad_sweep.make_table(make_record(plan, results), {}))
    return row.get("ρ(accuracy, index)")


def test_a_rank_correlation_is_of_enough_indices_whose_accuracies_vary():
    cells = [{"estimand": "secant", "index": index} for index in (8, 2, 1, 0, 4)]
    results = make_results(cells)
    # The accuracies of indices 8, 2, 1, 0, 4 rise in this order: ranks 5, 3, 2, 1, 4
    # against 1 to 5, so that Σd² = 16 + 1 + 1 + 9 + 1 = 28 and ρ = 1 − 6 · 28/120.
    assert correlate(results) == "−0.40 (n = 5)"
    assert correlate(results.assign(accuracy=0.5)) is None
    assert correlate(results[results["index"] > 0]) is None


@pytest.mark.parametrize(
    ("index", "text"),
    [(0, "90.0"), (10, "70.0 at 8"), (102, "–"), (302, "50.0 at 400")],
)
def test_the_table_has_the_index_nearest_to_a_quoted_one(index, text):
    cells = pd.DataFrame({"mean": [0.9, 0.7, 0.5], "std": np.nan}, index=[0, 8, 400])
    assert nad_sweep.format_nearest(cells, index) == text
