"""Maps over frequencies: both halves of the plane, one of k and −k, ticks."""

import drawing
import numpy as np
import pandas as pd
import pytest

from pipeline.datasets.fourier import frequencies
from pipeline.grid.experiment import Amplitude, Member, Plan
from pipeline.grid.frequencies import Frequencies
from pipeline.report import frequencies as maps
from pipeline.report import style
from pipeline.training import Training


def rows(pairs):
    """Each direction has a value of its own, in order."""
    return pd.DataFrame([(*pair, float(n)) for n, pair in enumerate(pairs)], columns=["k_row", "k_col", "value"])


def test_both_halves_of_the_plane_have_the_values_of_one():
    axis, values = maps.plane(rows(frequencies(8)), "value")
    # −16 and 16 are the same frequency.
    assert axis.tolist() == [-16, -8, 0, 8, 16]
    # Of (−8, 8) and (8, −8), and so on, the one is the other turned; rows are k_row.
    assert values.tolist() == [[0, 1, 2, 1, 0], [3, 4, 5, 6, 3], [7, 8, 9, 8, 7], [3, 6, 5, 4, 3], [0, 1, 2, 1, 0]]


def test_frequencies_are_taken_modulo_the_side():
    axis, values = maps.plane(rows([(16, 0), (0, 16)]), "value")
    assert axis.tolist() == [-16, 0, 16]
    np.testing.assert_array_equal(values, [[np.nan, 0, np.nan], [1, np.nan, 1], [np.nan, 0, np.nan]])


def test_maps_of_other_inputs_reach_as_far_as_their_own_grids():
    """Of 64×48 pixels and of 32×32, in one table: 16 is its own negative for the one alone."""
    axis, values = maps.plane(rows(frequencies(8, (64, 48))), "value")
    assert axis.tolist() == [*range(-32, 33, 8)]
    shown = np.isfinite(values)
    assert shown[:, 1:8].all() and not shown[:, [0, 8]].any(), "columns go from −24 to 24"
    assert values[0, 2] == values[0, 6] and values[2, 1] == values[6, 1], "(−32, ±16) and (±16, −24)"
    assert np.array_equal(values[0], values[8], equal_nan=True) and np.array_equal(values[:, 1], values[:, 7])
    both = [*frequencies(8, (64, 48)), *frequencies(8)]
    table = rows(both).assign(architecture=["wide"] * len(frequencies(8, (64, 48))) + ["lenet"] * len(frequencies(8)))
    found = maps.canonical(table)
    assert not found.duplicated(["architecture", "k_row", "k_col"]).any()
    assert found[found["architecture"] == "wide"]["k_row"].max() == 24
    assert found[found["architecture"] == "lenet"]["k_row"].max() == 8


def test_a_direction_stands_for_its_transpose():
    """(−16, −8) is (−8, −16) transposed, and (8, −8) its own transpose up to the sign; what is there itself stays."""
    half = rows(frequencies(8, transposes=False)).assign(architecture="lenet")
    shown = maps.with_transposes(maps.canonical(half))
    assert len(shown) == len(frequencies(8)) and not shown.duplicated(["k_row", "k_col"]).any()
    axis, values = maps.plane(shown, "value")
    assert np.array_equal(values, values.T) and axis.tolist() == [-16, -8, 0, 8, 16]
    given = np.isfinite(maps.plane(half, "value")[1])
    assert np.array_equal(values[given], maps.plane(half, "value")[1][given])
    two = maps.with_transposes(rows([(0, 8), (8, 0)]))
    assert two["value"].tolist() == [0, 1]


def test_what_a_caption_says_of_transposes():
    labels = {"a": "A", "b": "B"}

    def text(**transposes):
        grids = {name: Frequencies(8, both) for name, both in transposes.items()}
        how = Training(1, 0.5, 0.0, 0.0)
        members = {name: Member({"network": "lenet"}, how, grid) for name, grid in grids.items()}
        return maps.transposed_text(Plan("fourier", "smoke", (0,), 9, 9, Amplitude(1.0, 1.0), members), labels)

    assert text(a=True, b=True) == ""
    said = " · one of each v and its transpose, which are alike by symmetry, is trained"
    assert text(a=False, b=False) == said and text(a=True, b=False) == f"{said} (B)"


def test_infinite_values_stay_apart_from_missing_ones():
    _, values = maps.plane(rows([(0, 0), (0, 8)]).assign(value=[np.inf, 2.0]), "value")
    assert values[1].tolist() == [2, np.inf, 2]


def test_of_k_and_minus_k_the_last_in_order_stands_for_both():
    found = maps.canonical(rows([(0, -4), (0, 4), (-4, 4), (4, -4), (-16, 3), (-16, -16), (16, 0)]))
    assert list(zip(found["k_row"], found["k_col"])) == [
        (0, 4), (0, 4), (4, -4), (4, -4), (-16, 3), (-16, -16), (-16, 0)
    ]  # fmt: skip
    assert found["value"].tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_frequencies_have_a_proper_minus_sign():
    assert maps.pair(pd.Series({"k_row": -4.0, "k_col": 12})) == "(−4, 12)"


@pytest.mark.parametrize("step", [16, 8, 4, 2, 1])
def test_maps_of_all_steps_have_one_frame(step):
    figure, axes = style.new(1, 1, 3, 3)
    panel, axis = axes[0, 0], np.arange(-16, 17, step)
    panel.imshow(np.zeros((len(axis), len(axis))))
    maps.axes_of(panel, axis)
    frequency = lambda places: (np.array(places) * step - 16).tolist()
    assert frequency(panel.get_xlim()) == [-17, 17] and frequency(panel.get_ylim()) == [17, -17]
    for ticks in (drawing.ticks(panel.xaxis), drawing.ticks(panel.yaxis)):
        assert frequency([place for place, _ in ticks]) == [-16, -8, 0, 8, 16]
        assert [text for _, text in ticks] == ["−16", "−8", "0", "8", "16"]


def test_what_is_within_the_frame_of_the_outermost_cells():
    first, last = maps.inside(np.array([-16, 0, 16]))
    # From −17 to −8, from −8 to 8, from 8 to 17.
    assert first.tolist() == [-1 / 16, 0.5, 1.5] and last.tolist() == [0.5, 1.5, 2 + 1 / 16]


def test_a_single_frequency_fills_its_frame():
    assert [end.tolist() for end in maps.inside(np.array([0]))] == [[-0.5], [0.5]]
