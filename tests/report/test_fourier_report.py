"""What `fourier` shows, and maps over frequencies."""

import numpy as np
import pandas as pd
import pytest
import small_run

from pipeline.report import fourier
from pipeline.training.fourier import frequencies


def run_of(step, transposes=(True, True)):
    """`fourier` along multiples of `step`; transposes: of the grid of `z` and of `a`."""
    grids = [{"step": step, "transposes": both} for both in transposes]
    places = [
        {"k_row": r, "k_col": c}
        for r, c in frequencies(step, transposes=all(transposes))
    ]
    rows = small_run.rows_of(places)
    settings = {"eps": 1.5, "sigma": 3.0}
    return small_run.evaluated(small_run.plan("fourier", settings, grids), rows)


def rows(pairs):
    """Each direction has a value of its own, in order."""
    found = [(*pair, float(n)) for n, pair in enumerate(pairs)]
    return pd.DataFrame(found, columns=["k_row", "k_col", "value"])


def test_both_halves_of_the_plane_have_the_values_of_one():
    values = fourier.spread_over_plane(rows(frequencies(8)), "value")
    # −16 and 16 are the same frequency.
    assert [*values.index] == [*values.columns] == ["−16", "−8", "0", "8", "16"]
    # Of (−8, 8) and (8, −8), and so on, the one is the other turned; rows are k_row.
    assert values.to_numpy().tolist() == [
        [0, 1, 2, 1, 0],
        [3, 4, 5, 6, 3],
        [7, 8, 9, 8, 7],
        [3, 6, 5, 4, 3],
        [0, 1, 2, 1, 0],
    ]


def test_maps_of_other_inputs_reach_as_far_as_their_own_grids():
    """Of 64×48 pixels, where 16 is not its own negative."""
    values = fourier.spread_over_plane(rows(frequencies(8, (64, 48))), "value")
    assert [len(axis) for axis in values.axes] == [9, 7] and values.notna().all(
        axis=None
    )
    assert values.loc["−32", "−16"] == values.loc["−32", "16"] == values.loc["32", "16"]
    small = fourier.spread_over_plane(rows(frequencies(2, (16, 16))), "value")
    assert [len(axis) for axis in small.axes] == [9, 9] and small.notna().all(axis=None)
    found = fourier.keep_later_frequency(rows([(16, -16), (-16, 0), (32, 0)]))["k_row"]
    assert found.tolist() == [16, 16, -32]


def test_of_k_and_minus_k_the_last_in_order_stands_for_both():
    pairs = [(0, -4), (0, 4), (-4, 4), (4, -4), (-16, 3), (-16, -16), (16, 0)]
    found = fourier.keep_later_frequency(rows(pairs))
    last = [(0, 4), (0, 4), (4, -4), (4, -4), (-16, 3), (-16, -16), (-16, 0)]
    assert list(zip(found["k_row"], found["k_col"], strict=True)) == last
    cells = rows(pairs).assign(
        accuracy=[0.5, 0.7, 0.25, 0.35, 0.9, 1, 1], train_accuracy=1.0
    )
    found = fourier.average_by_direction(cells).set_index(["k_row", "k_col"])["mean"]
    assert found.round(6).tolist() == [1, 1, 0.9, 0.6, 0.3]


def test_a_direction_stands_for_its_transpose_where_one_of_both_is_trained():
    half = fourier.keep_later_frequency(rows(frequencies(8, transposes=False)))
    run = run_of(8, (True, False))
    shown = fourier.add_transposes(run, "a", half)
    assert (
        len(shown) == len(frequencies(8))
        and not shown.duplicated(["k_row", "k_col"]).any()
    )
    values, given = (fourier.spread_over_plane(some, "value").to_numpy() for some in (shown, half))
    assert np.array_equal(values, values.T)
    known = np.isfinite(given)
    assert np.array_equal(values[known], given[known]) and not known.all()
    assert fourier.add_transposes(run, "z", half) is half
    said = " · one of each v and its transpose, which are alike by symmetry, is trained"
    assert fourier.describe_transposes(run) == f"{said} (LeNet)"
    assert fourier.describe_transposes(run_of(16, (False, False))) == said


def test_published_maps_stand_to_the_right_of_ours():
    one = run_of(8)
    _, _, ours, published, _ = fourier.draw_maps(
        one, fourier.find_published_maps(one), "caption"
    ).axes
    assert (ours.get_title(), published.get_title()) == ("LeNet", "published")
    assert ours.collections[0].get_array()[2, 2] == pytest.approx(54.1 + 0.4 * 9)
    # (0, −4) and (0, 4) are one direction.
    assert published.collections[0].get_array()[8, 6] == pytest.approx(
        (81.02 + 79.43) / 2
    )
