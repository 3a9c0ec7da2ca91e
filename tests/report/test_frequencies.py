"""Maps over frequencies: both halves of the plane, one of k and −k, ticks."""

import drawing
import numpy as np
import pandas as pd
import pytest

from pipeline.datasets.fourier import frequencies
from pipeline.report import frequencies as maps
from pipeline.report import style


def rows(pairs):
    """Each direction has a value of its own, in order."""
    return pd.DataFrame([(*pair, float(n)) for n, pair in enumerate(pairs)], columns=["k_row", "k_col", "value"])


def test_both_halves_of_the_plane_have_the_values_of_one():
    axis, values = maps.plane(rows(frequencies(8)), "value")
    assert axis.tolist() == [-16, -8, 0, 8]
    # Of (−8, 8) and (8, −8), and so on, the one is the other turned; rows are k_row.
    assert values.tolist() == [[0, 1, 2, 1], [3, 4, 5, 6], [7, 8, 9, 8], [3, 6, 5, 4]]


def test_frequencies_are_taken_modulo_the_side():
    axis, values = maps.plane(rows([(32, 64), (24, -32)]), "value")
    assert axis.tolist() == [-8, 0, 8]
    np.testing.assert_array_equal(values, [[np.nan, 1, np.nan], [np.nan, 0, np.nan], [np.nan, 1, np.nan]])


def test_infinite_values_stay_apart_from_missing_ones():
    _, values = maps.plane(rows([(0, 0), (0, 8)]).assign(value=[np.inf, 2.0]), "value")
    assert values[1].tolist() == [2, np.inf, 2]


def test_of_k_and_minus_k_the_last_in_order_stands_for_both():
    found = maps.canonical(rows([(0, -4), (0, 4), (-4, 4), (4, -4), (-16, 3), (-16, -16), (36, 0)]))
    assert list(zip(found["k_row"], found["k_col"])) == [
        (0, 4), (0, 4), (4, -4), (4, -4), (-16, 3), (-16, -16), (4, 0)
    ]  # fmt: skip
    assert found["value"].tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_frequencies_have_a_proper_minus_sign():
    assert maps.pair(pd.Series({"k_row": -4.0, "k_col": 12})) == "(−4, 12)"


@pytest.mark.parametrize(("step", "every"), [(8, 1), (4, 1), (2, 2), (1, 4)])
def test_ticks_are_eight_at_most_and_zero_is_one(step, every):
    figure, axes = style.new(1, 1, 3, 3)
    panel, axis = axes[0, 0], np.arange(-16, 16, step)
    panel.imshow(np.zeros((len(axis), len(axis))))
    maps.axes_of(panel, axis)
    expected = [(n, f"{axis[n]}".replace("-", "−")) for n in range(len(axis)) if axis[n] % (step * every) == 0]
    assert drawing.ticks(panel.xaxis) == drawing.ticks(panel.yaxis) == expected
    assert len(expected) <= 8 and "0" in [text for _, text in expected]
