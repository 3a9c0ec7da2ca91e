"""What `colours` shows: a map for each colour, and grey beside the colours."""

import numpy as np
import small_run
from small_run import FREQUENCIES, LABELS

from pipeline.cells.fourier import AXES
from pipeline.report import colours

PLACES = [{"axis": axis} | place for axis in AXES for place in FREQUENCIES]


def run_of(rows):
    planned = small_run.plan("colours", {"eps": 1.0, "sigma": 0.75}, [{"step": 16}] * 2)
    return small_run.evaluated(planned, rows)


def test_each_colour_has_a_map_of_its_own():
    """Each row of the results is 0.2 points above the one before; a frequency has two seeds."""
    figure = colours.maps(run_of(small_run.rows_of(PLACES)), "caption")
    panels = figure.axes[:6]
    titles = [panel.get_title().replace("\n", " ") for panel in panels]
    expected = [
        f"{label}, {c}" for label in LABELS.values() for c in ("grey", "red–green", "blue–yellow")
    ]
    assert titles == expected
    corners = [panel.images[0].get_array()[0, 0] for panel in panels]
    np.testing.assert_allclose(corners, 50.1 + 1.6 * np.arange(6))


def test_the_difference_from_grey_is_taken_wave_by_wave_and_seed_by_seed():
    rows = small_run.rows_of(PLACES).assign(accuracy=0.6)
    wave = (rows["k_row"] == 0) & (rows["k_col"] == 0)
    # 4 points more along one wave of four: a mean of 1, and a standard error of √(24/7/8).
    rows.loc[wave & (rows["axis"] == "red_green"), "accuracy"] += 0.04
    _, (sentence,) = colours.numbers(run_of(rows))
    each = "red–green 1.00 ± 0.65 points and blue–yellow 0.00 ± 0.00 points, over 8 networks each"
    assert sentence.endswith(f"{LABELS['z']} {each}; {LABELS['a']} {each}.")
