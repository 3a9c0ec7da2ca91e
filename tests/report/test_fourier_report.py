"""What `fourier` shows, and maps over frequencies."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import small_run

from pipeline.report import fourier, run
from pipeline.training.fourier import frequencies


def make_record(step, transposes=(True, True), sigma=3.0, eps=1.0):
    """`fourier` along multiples of `step`; transposes: of the grids of `z` and `a`."""
    cells = []
    for k_row, k_col in frequencies(step, transposes=all(transposes)):
        cells.append({"k_row": k_row, "k_col": k_col})
    grids = [{"step": step, "transposes": both} for both in transposes]
    plan = small_run.make_plan("fourier", {"eps": eps, "sigma": sigma}, grids)
    return small_run.make_record(plan, small_run.make_results(cells))


def make_rows(directions):
    """Rows of directions (k_row, k_col) with the values 0, 1, 2 and so on."""
    rows = pd.DataFrame(directions, columns=["k_row", "k_col"])
    return rows.assign(value=np.arange(len(rows), dtype=float))


def test_both_halves_of_the_plane_have_the_values_of_one():
    values = fourier.spread_over_plane(make_rows(frequencies(8)), "value")
    # −16 and 16 are the same frequency.
    assert list(values.index) == ["−16", "−8", "0", "8", "16"]
    assert list(values.columns) == ["−16", "−8", "0", "8", "16"]
    # (−8, 8) and (8, −8) are the same direction. Rows are k_row.
    assert values.to_numpy().tolist() == [
        [0, 1, 2, 1, 0],
        [3, 4, 5, 6, 3],
        [7, 8, 9, 8, 7],
        [3, 6, 5, 4, 3],
        [0, 1, 2, 1, 0],
    ]


def test_maps_of_inputs_of_any_size_are_complete():
    values = fourier.spread_over_plane(make_rows(frequencies(8, (64, 48))), "value")
    assert values.shape == (9, 7)
    assert values.notna().all(axis=None)
    same = {values.loc[k] for k in (("−32", "−16"), ("−32", "16"), ("32", "16"))}
    assert len(same) == 1
    values = fourier.spread_over_plane(make_rows(frequencies(2, (16, 16))), "value")
    assert values.shape == (9, 9)
    assert values.notna().all(axis=None)
    # With 64 rows of pixels, 16 is not its own negative.
    rows = fourier.keep_later_frequency(make_rows([(16, -16), (-16, 0), (32, 0)]))
    assert rows["k_row"].tolist() == [16, 16, -32]


def test_the_later_of_k_and_minus_k_stands_for_both():
    rows = make_rows([(0, -4), (0, 4), (-4, 4), (4, -4), (-16, 3), (-16, -16), (16, 0)])
    expected = [(0, 4), (0, 4), (4, -4), (4, -4), (-16, 3), (-16, -16), (-16, 0)]
    later = fourier.keep_later_frequency(rows)[["k_row", "k_col"]]
    assert later.to_numpy().tolist() == [list(k) for k in expected]
    rows["accuracy"] = [0.5, 0.7, 0.25, 0.35, 0.9, 1, 1]
    means = fourier.average_by_direction(rows.assign(train_accuracy=1.0))["mean"]
    assert means.round(6).tolist() == [1, 1, 0.9, 0.6, 0.3]


def test_transposes_that_were_not_trained_are_added():
    record = make_record(8, (True, False))
    half = fourier.keep_later_frequency(make_rows(frequencies(8, transposes=False)))
    whole = fourier.add_transposes(record, "a", half)
    assert len(whole) == len(frequencies(8))
    assert not whole.duplicated(["k_row", "k_col"]).any()
    values = fourier.spread_over_plane(whole, "value").to_numpy()
    trained = fourier.spread_over_plane(half, "value").to_numpy()
    assert np.array_equal(values, values.T)
    known = np.isfinite(trained)
    assert not known.all()
    assert np.array_equal(values[known], trained[known])
    assert fourier.add_transposes(record, "z", half) is half


def test_the_caption_names_networks_without_transposes():
    text = " · of each v and its transpose, which are equivalent, only one is trained"
    assert fourier.describe_transposes(make_record(16, (False, False))) == text
    half = make_record(8, (True, False))
    assert fourier.describe_transposes(half) == f"{text} (LeNet)"


def test_published_maps_are_to_the_right_of_ours():
    record = make_record(8)
    published = fourier.find_published_maps(record)
    figure = fourier.draw_maps(record, published, "title", "caption")
    _, _, ours, theirs, _ = figure.axes
    assert ours.get_title() == "LeNet"
    assert theirs.get_title() == "published"
    accuracy = ours.collections[0].get_array()[2, 2]
    assert accuracy == pytest.approx(54.1 + 0.4 * 9)
    # (0, −4) and (0, 4) are one direction.
    accuracy = theirs.collections[0].get_array()[8, 6]
    assert accuracy == pytest.approx((81.02 + 79.43) / 2)


def test_a_run_with_another_noise_has_no_published_map():
    record = make_record(8)
    assert fourier.find_published_maps(record)
    assert fourier.find_published_maps(make_record(8, sigma=1.0)) == {}
    assert fourier.find_published_maps(make_record(8, eps=0.3)) == {}


@pytest.mark.parametrize("highest", [0.9996, 1.0, 0.9])
def test_a_map_of_one_accuracy_names_no_extremes(highest):
    record = make_record(8)
    accuracies = np.where(record.results["k_row"] == 0, highest, 1.0)
    results = record.results.assign(accuracy=accuracies)
    record = dataclasses.replace(record, results=results)
    text = fourier.make_finding(run.Report(None, {}, {"fourier": record})).text
    assert ("(" in text) == (highest == 0.9)
    assert text.count("100.0 %") == 1
