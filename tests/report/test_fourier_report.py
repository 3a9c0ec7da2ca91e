"""What `fourier` shows, and maps over frequencies."""

import drawing
import numpy as np
import pandas as pd
import pytest
import small_run
from small_run import ALL_FITTED, LABELS, LENET, SIZES, SPREAD

from pipeline.cells.fourier import frequencies
from pipeline.report import fourier, style
from pipeline.report import frequencies as maps

SETTINGS = {"eps": 1.5, "sigma": 3.0}


def grid(step, transposes=True):
    return [{"k_row": r, "k_col": c} for r, c in frequencies(step, transposes=transposes)]


def run_of(step, transposes=True, **keywords):
    part = {"step": step, "transposes": transposes}
    rows = small_run.rows_of(grid(step, transposes), **keywords)
    return small_run.evaluated(small_run.plan("fourier", SETTINGS, [part] * 2), rows)


def rows(pairs):
    """Each direction has a value of its own, in order."""
    found = [(*pair, float(n)) for n, pair in enumerate(pairs)]
    return pd.DataFrame(found, columns=["k_row", "k_col", "value"])


def test_both_halves_of_the_plane_have_the_values_of_one():
    axis, values = maps.plane(rows(frequencies(8)), "value")
    # −16 and 16 are the same frequency.
    assert axis.tolist() == [-16, -8, 0, 8, 16]
    # Of (−8, 8) and (8, −8), and so on, the one is the other turned; rows are k_row.
    assert values.tolist() == [
        [0, 1, 2, 1, 0],
        [3, 4, 5, 6, 3],
        [7, 8, 9, 8, 7],
        [3, 6, 5, 4, 3],
        [0, 1, 2, 1, 0],
    ]


def test_maps_of_other_inputs_reach_as_far_as_their_own_grids():
    """Of 64×48 pixels, where 16 is not its own negative."""
    axis, values = maps.plane(rows(frequencies(8, (64, 48))), "value")
    assert axis.tolist() == [*range(-32, 33, 8)]
    shown = np.isfinite(values)
    assert shown[:, 1:8].all() and not shown[:, [0, 8]].any(), "columns go from −24 to 24"
    assert values[0, 2] == values[0, 6], "(−32, ±16)"
    assert np.array_equal(values[:, 1], values[:, 7])
    assert maps.canonical(rows([(16, 0), (-16, 0), (32, 0)]))["k_row"].tolist() == [16, 16, -32]


def test_of_k_and_minus_k_the_last_in_order_stands_for_both():
    pairs = [(0, -4), (0, 4), (-4, 4), (4, -4), (-16, 3), (-16, -16), (16, 0)]
    found = maps.canonical(rows(pairs))
    last = [(0, 4), (0, 4), (4, -4), (4, -4), (-16, 3), (-16, -16), (-16, 0)]
    assert list(zip(found["k_row"], found["k_col"])) == last
    cells = rows(pairs).assign(accuracy=[0.5, 0.7, 0.25, 0.35, 0.9, 1, 1], train_accuracy=1.0)
    cells.loc[0, "train_accuracy"] = 0.98
    found = maps.by_direction(cells).set_index(["k_row", "k_col"])
    assert found["mean"].round(6).tolist() == [1, 1, 0.9, 0.6, 0.3] and len(found) == 5
    assert found.loc[(0, 4), "std"] == pytest.approx(0.2 * 0.5**0.5)
    assert found["fitted"].tolist() == [True] * 3 + [False, True]


def test_a_direction_stands_for_its_transpose():
    half = maps.canonical(rows(frequencies(8, transposes=False)))
    shown = maps.with_transposes(half)
    assert len(shown) == len(frequencies(8)) and not shown.duplicated(["k_row", "k_col"]).any()
    values, given = (maps.plane(some, "value")[1] for some in (shown, half))
    assert np.array_equal(values, values.T)
    known = np.isfinite(given)
    assert np.array_equal(values[known], given[known]) and not known.all()


@pytest.mark.parametrize("step", [16, 8, 2, 1])
def test_maps_of_all_steps_have_one_frame(step):
    figure, axes = style.new(1, 1, 3, 3)
    panel, axis = axes[0, 0], np.arange(-16, 17, step)
    frequency = lambda places: (np.array(places) * step - 16).tolist()
    panel.imshow(np.zeros((len(axis), len(axis))))
    maps.frame(panel, axis)
    assert frequency(panel.get_xlim()) == [-17, 17] and frequency(panel.get_ylim()) == [17, -17]
    for ticks in (drawing.ticks(panel.xaxis), drawing.ticks(panel.yaxis)):
        assert frequency([place for place, _ in ticks]) == [-16, -8, 0, 8, 16]
        assert [text for _, text in ticks] == ["−16", "−8", "0", "8", "16"]


def test_what_a_caption_says_of_transposes():
    said = " · one of each v and its transpose, which are alike by symmetry, is trained"
    assert maps.transposed_text(run_of(16)) == ""
    assert maps.transposed_text(run_of(16, transposes=False)) == said
    parts = [{"step": 16}, {"step": 16, "transposes": False}]
    one = small_run.evaluated(
        small_run.plan("fourier", SETTINGS, parts), small_run.rows_of(grid(16))
    )
    assert maps.transposed_text(one) == f"{said} (LeNet)"


def hatched(panel):
    """The cells (row, column) of a map that are hatched."""
    middles = [patch.get_center() for patch in panel.patches]
    return {(int(np.floor(y + 0.5)), int(np.floor(x + 0.5))) for x, y in middles}


def test_maps_have_numbers_and_hatches_and_the_published_ones_stand_to_their_right():
    one = run_of(8, unfitted=1)
    figure = fourier.maps(one, maps.published_maps(one), "caption")
    narrow, _, lenet, published, _ = figure.axes
    assert [bool(panel.get_ylabel()) for panel in figure.axes[:4]] == [True, False] * 2
    titles = [LABELS["z"], "published, full width", "LeNet", "published"]
    assert [panel.get_title() for panel in figure.axes[:4]] == titles
    values = [[0, 1, 2, 1, 0], [3, 4, 5, 6, 3], [7, 8, 9, 8, 7], [3, 6, 5, 4, 3], [0, 1, 2, 1, 0]]
    for panel, first in ((narrow, 50.1), (lenet, 54.1)):
        (image,) = panel.images
        np.testing.assert_allclose(image.get_array(), first + 0.4 * np.array(values))
        # Numbers stand in the middle of the part within the frame, which ends at ±17; each is of
        # two seeds, 0.2 points apart.
        middle = [0.1875, 1, 2, 3, 3.8125]
        assert drawing.texts(panel) == {
            (middle[c], middle[r]): f"{value:.0f}\n±0.1"
            for (r, c), value in np.ndenumerate(image.get_array())
        }
    assert hatched(narrow) == {(0, 0), (0, 4), (4, 0), (4, 4)}, "(−16, −16) and what equals it"
    grounds = {text.get_position() for text in narrow.texts if text.get_bbox_patch()}
    assert grounds == {(x, y) for x in (0.1875, 3.8125) for y in (0.1875, 3.8125)}
    assert not hatched(lenet) and not hatched(published)
    unfitted = fourier.maps(run_of(8, unfitted=20), {}, "caption").axes[0]
    assert not hatched(unfitted) and unfitted.get_title().endswith("\n(none fitted)")
    # (−4, 0), (0, −4) and their mean with (0, 4).
    found = published.images[0].get_array()
    assert found.shape == (17, 17) and found[7, 8] != found[8, 7] and not published.texts


def test_the_section(sections):
    section = sections["fourier"]
    caption = SIZES.format("1,234") + " · ε = 1.5, σ = 3" + SPREAD
    odd = " · LeNet's published row k_row = 0 lies above its transpose, "
    assert section.caption == f"{caption}{odd}though the network's law is symmetric"
    text = "accuracy over frequencies"
    assert small_run.captions(section) == [("fourier_maps", text, f"{caption} {ALL_FITTED}")]
    level = ["4 of 4", "52.3 ± 0.1", "51.7 ± 0.1", "52.9 ± 0.1", "0"]
    # Published of LeNet are 50.27 and 50.18 off the row, 51.13 and, the mean of k and −k, 72.46 on
    # it; ours lie at 51.7, 52.1, 52.5 and 52.9.
    assert section.table.rows[1] == ["LeNet", *level, "55.9", "2.0 (2)", "13.9 (2)"]
    accuracies, distances = section.findings
    assert accuracies.endswith(
        "; LeNet: 52.3 ± 0.1 % in the mean, from 51.7 ± 0.1 at (−16, −16) to 52.9 ± 0.1 at (0, 0) "
        "(fitted along 4 of 4)."
    )
    assert distances.endswith(
        "LeNet: 2.0 points over 2 with k_row ≠ 0, 13.9 points over 2 with k_row = 0."
    )


def test_what_pooling_does_is_said_of_the_directions_that_both_have(whole):
    rows = small_run.rows_of(grid(16))
    one = small_run.with_rows(
        whole, "fourier", rows[(rows["architecture"] == "a") | (rows["k_row"] == 0)]
    )
    network = LENET | {"downsampling": "none"}
    one.experiments["fourier"] = small_run.with_member(
        one.experiments["fourier"], "z", specification=network
    )
    section = fourier.section(one)
    # Without pooling 50.8 to 51.4; with it 52.4 to 53.0 along the same two.
    assert section.findings[-1] == (
        "Without pooling LeNet has 51.1 ± 0.1 % instead of 52.7 ± 0.1 %, means over the 2 "
        "directions of both; published 100.0 % without."
    )
    assert [row[6] for row in section.table.rows] == ["100.0", "55.9"]
