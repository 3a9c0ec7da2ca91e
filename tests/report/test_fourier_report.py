"""What the figure and the table of `fourier` show."""

import drawing
import numpy as np
import pandas as pd
import pytest
from drawing import ENDING

from pipeline.datasets.fourier import frequencies
from pipeline.report import fourier, style

LABELS = {"square": "Square", "net": "Net, with a name that is so long, width ×2", "third": "Third"}
PUBLISHED = {"net": [(0, -8, 81.0), (-8, 4, 67.4), (8, 8, 55.0)]}


def accuracy(k_row, k_col):
    """A map that is neither symmetric under a transposition nor under one sign, with a value of its own for each ±k."""
    k_row, k_col = fourier.wrapped(k_row), fourier.wrapped(k_col)
    negative = fourier.wrapped(-k_row), fourier.wrapped(-k_col)
    first, second = max((k_row, k_col), negative)
    return 0.75 + (16 * first + second) / 2000


def results(step, name="net", seeds=2):
    """Each seed has one more per cent than the one before; the rows of every other frequency name −k for k."""
    rows = []
    for number, (row, column) in enumerate(frequencies(step)):
        sign = -1 if number % 2 else 1
        rows += [
            {"architecture": name, "seed": seed, "k_row": sign * row, "k_col": sign * column}
            | {"test_set": test, "accuracy": accuracy(row, column) + 0.01 * seed if test == "all" else 0.0}
            for seed in range(seeds)
            for test in ("all", "other")
        ]
    return pd.DataFrame(rows)


def matrix(axis):
    return [[100 * accuracy(row, column) + 0.5 for column in axis] for row in axis]


def test_a_map_has_row_frequencies_along_its_rows():
    axis, accuracies = fourier.filled(results(8).query("test_set == 'all'"))
    assert axis.tolist() == [-16, -8, 0, 8]
    np.testing.assert_allclose(accuracies, matrix(axis))
    assert len({round(value, 6) for value in accuracies.ravel()}) == 10  # of 16 k, four are their own negatives


def test_a_map_is_modulo_32():
    rows = results(8).query("test_set == 'all'")
    axis, accuracies = fourier.filled(rows.assign(k_row=rows["k_row"] + 32, k_col=rows["k_col"] - 64))
    assert axis.tolist() == [-16, -8, 0, 8]
    np.testing.assert_allclose(accuracies, matrix(axis))


def test_a_map_with_a_missing_frequency_is_refused():
    rows = results(4)
    gone = (rows["k_row"] == -4) & (rows["k_col"] == 8) | (rows["k_row"] == 4) & (rows["k_col"] == -8)
    with pytest.raises(ValueError, match=r"no accuracy at 2 frequencies \(k_row, k_col\), the first of them \(-4, 8\)"):
        fourier.filled(rows[~gone])


def test_a_map_without_some_columns_is_refused():
    rows = results(8)
    with pytest.raises(
        ValueError, match=r"no accuracy at 12 frequencies \(k_row, k_col\), the first of them \(-16, -16\)"
    ):
        fourier.filled(rows[rows["k_col"] == 0])


def test_maps_are_drawn_with_their_numbers_and_names():
    tables = [results(8, "square"), results(8, "net")]
    tables[1]["accuracy"] -= 0.03
    figure = fourier.maps(pd.concat(tables), LABELS, PUBLISHED, *ENDING)
    assert drawing.title_of(figure) == "Accuracy on D(v) over the frequency of v"
    first, second, bar = figure.axes
    axis = [-16, -8, 0, 8]
    for panel, less in ((first, 0), (second, 3)):
        (image,) = panel.images
        expected = np.array(matrix(axis)) - less
        np.testing.assert_allclose(image.get_array(), expected)
        assert (image.origin, image.get_cmap().name, image.get_clim()) == ("upper", style.ACCURACY, (50, 100))
        written = {(c, r): f"{expected[r, c]:.0f}" for r in range(4) for c in range(4)}
        assert drawing.texts(panel) == written
        dark = {text.get_position() for text in panel.texts if text.get_color() == "white"}
        assert dark == {(c, r) for r in range(4) for c in range(4) if expected[r, c] <= 78} and len(dark) > 3
        signed = list(enumerate(["−16", "−8", "0", "8"]))
        assert drawing.ticks(panel.xaxis) == drawing.ticks(panel.yaxis) == signed
    assert [panel.get_title() for panel in figure.axes[:2]] == ["Square", "Net, with a name that is\nso long, width ×2"]
    assert [panel.get_ylabel() for panel in figure.axes] == ["row frequency $k_r$", "", "test accuracy (%)"]
    assert first.get_xlabel() == "column frequency $k_c$" and not first.patches
    assert bar.get_ylim() == (50, 100)


def test_published_frequencies_are_framed_and_named_where_the_map_has_them():
    panel = fourier.maps(results(8), LABELS, PUBLISHED, *ENDING).axes[0]
    frames = [(*patch.get_xy(), patch.get_width(), patch.get_height()) for patch in panel.patches]
    # Columns are 0 for −16, 1 for −8, and so are rows; (−8, 4) is not on a map of multiples of 8.
    assert frames == [(0.5, 1.5, 1, 1), (2.5, 2.5, 1, 1)] and not any(patch.get_fill() for patch in panel.patches)
    spread = 100 * np.std([0, 0.01], ddof=1)
    assert panel.get_xlabel().splitlines() == [
        "column frequency $k_c$",
        f"published at (0, −8): 81.0, here {100 * accuracy(0, 8) + 0.5:.1f} ± {spread:.1f}",
        f"published at (8, 8): 55.0, here {100 * accuracy(8, 8) + 0.5:.1f} ± {spread:.1f}",
    ]


def test_what_is_published_beside_stands_alone_where_there_is_one_seed():
    label = fourier.maps(results(4, seeds=1), LABELS, {"net": [(-8, 4, 67.4)]}, *ENDING).axes[0].get_xlabel()
    assert label.endswith(f"\npublished at (−8, 4): 67.4, here {100 * accuracy(-8, 4):.1f}")


@pytest.mark.parametrize(("step", "every"), [(4, 1), (2, 2), (1, 4)])
def test_a_large_map_has_eight_ticks_and_zero_is_one(step, every):
    panel = fourier.maps(results(step, seeds=1), LABELS, {}, *ENDING).axes[0]
    expected = [(place / step + 16 / step, f"{place}".replace("-", "−")) for place in range(-16, 16, step * every)]
    assert drawing.ticks(panel.xaxis) == drawing.ticks(panel.yaxis) == expected and (16 / step, "0") in expected
    assert (len(panel.texts) == 64) == (step == 4)


@pytest.mark.parametrize(("count", "grid"), [(3, (1, 3)), (4, (1, 4)), (5, (2, 3)), (9, (3, 3))])
def test_many_maps_stand_in_rows(count, grid):
    names = [f"n{9 - number}" for number in range(count)]
    tables = [results(16, name, seeds=1) for name in names]
    figure = fourier.maps(pd.concat(tables), {name: name.upper() for name in names}, {}, *ENDING)
    panels = figure.axes[:-1]
    assert panels[0].get_subplotspec().get_gridspec().get_geometry() == grid
    shown = [panel for panel in panels if panel.get_visible()]
    assert [panel.get_title() for panel in shown] == [name.upper() for name in names]
    assert shown == panels[:count] and len(panels) == grid[0] * grid[1]
    assert [bool(panel.get_ylabel()) for panel in panels] == [
        column == 0 for _ in range(grid[0]) for column in range(grid[1])
    ]


def test_the_table_sums_up_each_map():
    values = [("net", 0, 8, 0.9, 0.01), ("net", 8, 0, 0.81, 0.02), ("net", -8, 8, 0.76, 0.03), ("net", 4, 4, 0.75, 0.0)]
    values += [("square", 0, 0, 0.625, np.nan)]
    summary = pd.DataFrame(values, columns=["architecture", "k_row", "k_col", "mean", "std"])
    published = {"net": [(0, -8, 81.0), (8, -8, 67.4), (8, 8, 55.0)]}
    table = fourier.table(summary, LABELS, published)
    assert table.header == [
        "network",
        "directions",
        "mean accuracy (%)",
        "lowest",
        "highest",
        "directions above 75 % (%)",
        "(k_row, k_col): ours / published",
    ]
    beside = "(0, -8): 90.0 ± 1.0 / 81.0, (8, -8): 76.0 ± 3.0 / 67.4"
    assert table.rows == [
        [LABELS["net"], 4, "80.5", "75.0", "90.0", "75", beside],
        ["Square", 1, "62.5", "62.5", "62.5", "0", "–"],
    ]
