"""What the figure and the table of `fourier` show."""

import drawing
import numpy as np
import pandas as pd
import pytest
from drawing import ENDING

from pipeline.datasets.fourier import frequencies, wrapped
from pipeline.report import fourier, style

LABELS = {"square": "Square", "net": "Net, with a name that is so long, width ×2", "third": "Third"}


def accuracy(k_row, k_col):
    """A map that is neither symmetric under a transposition nor under one sign, with a value of its own for each ±k."""
    first, second = last_of(k_row, k_col)
    return 0.75 + (16 * first + second) / 2000


def last_of(k_row, k_col):
    """The one of k and −k that comes last in order."""
    return max((wrapped(k_row), wrapped(k_col)), (wrapped(-k_row), wrapped(-k_col)))


def results(step, name="net", seeds=2, trained=1.0):
    """Each seed has two more per cent than the one before; the rows of every other frequency name −k for k.

    trained: the training accuracy of the last seed along directions with k_row = 0; all others have 1.
    """
    rows = []
    for number, (row, column) in enumerate(frequencies(step)):
        sign = -1 if number % 2 else 1
        rows += [
            {"architecture": name, "seed": seed, "k_row": sign * row, "k_col": sign * column}
            | {"test_set": test, "accuracy": accuracy(row, column) + 0.02 * seed if test == "all" else 0.0}
            | {"train_accuracy": trained if row == 0 and seed == seeds - 1 else 1.0}
            for seed in range(seeds)
            for test in ("all", "other")
        ]
    return pd.DataFrame(rows)


def matrix(axis, more=1.0):
    return [[100 * accuracy(row, column) + more for column in axis] for row in axis]


SPREAD = 100 * np.std([0, 0.02], ddof=1)
PUBLISHED = pd.DataFrame(
    {"k_row": [0, 0, 0, -8, -8, -8], "k_col": [-8, 8, 0, -8, 0, 8], "accuracy": [0.5, 0.7, 0.9, 0.8, 0.55, 0.65]}
)
"""Half a map of multiples of 8, whose first two rows are of the same direction."""


def test_k_and_its_negative_are_one_direction():
    rows = pd.DataFrame(
        [(0, 4, 0.5, 1.0), (0, -4, 0.7, 0.98), (-16, 16, 0.9, 0.995), (-4, 4, 0.25, 1.0)],
        columns=["k_row", "k_col", "accuracy", "train_accuracy"],
    )
    found = fourier.by_direction(rows).set_index(["k_row", "k_col"])
    assert list(found.index) == [(-16, -16), (0, 4), (4, -4)]
    assert found["mean"].tolist() == pytest.approx([0.9, 0.6, 0.25])
    assert found["std"].tolist() == pytest.approx([np.nan, 0.1 * 2**0.5, np.nan], nan_ok=True)
    assert found["fitted"].tolist() == [True, False, True]
    assert fourier.by_direction(rows.drop(columns="train_accuracy"))["fitted"].isna().all()


@pytest.mark.parametrize(
    ("widths", "places", "shape"),
    [
        ([1, 1, 1], [(0, 0), (0, 1), (0, 2)], (1, 3)),
        ([2], [(0, 0)], (1, 2)),
        ([1, 1, 2, 2], [(0, 0), (0, 1), (0, 2), (1, 0)], (2, 4)),
        ([1, 1, 1, 2], [(0, 0), (0, 1), (0, 2), (1, 0)], (2, 3)),
        ([2, 2, 2], [(0, 0), (0, 2), (1, 0)], (2, 4)),
        ([1] * 9, [(n // 3, n % 3) for n in range(9)], (3, 3)),
    ],
)
def test_a_map_and_what_is_published_of_it_are_not_torn_apart(widths, places, shape):
    assert fourier.arranged(widths) == (places, *shape)


def test_maps_are_drawn_with_their_numbers_and_names():
    tables = [results(8, "square"), results(8, "net")]
    tables[1]["accuracy"] -= 0.03
    figure = fourier.maps(pd.concat(tables), LABELS, {}, *ENDING)
    assert drawing.title_of(figure) == "Accuracy on D(v) over the frequency of v"
    first, second, bar = figure.axes
    axis = [-16, -8, 0, 8, 16]
    # Where numbers stand: in the middle of what is within the frame, which ends at ±17, so a half cell has 5 of its 8.
    middle = [0.1875, 1, 2, 3, 3.8125]
    for panel, less in ((first, 0), (second, 3)):
        (image,) = panel.images
        expected = np.array(matrix(axis)) - less
        np.testing.assert_allclose(image.get_array(), expected)
        assert (image.origin, image.get_cmap().name, image.get_clim()) == ("upper", style.ACCURACY, (50, 100))
        cells = [(r, c) for r in range(5) for c in range(5)]
        written = {(middle[c], middle[r]): f"{expected[r, c]:.0f}\n±{SPREAD:.1f}" for r, c in cells}
        assert drawing.texts(panel) == written
        dark = {text.get_position() for text in panel.texts if text.get_color() == "white"}
        assert dark == {(middle[c], middle[r]) for r, c in cells if expected[r, c] <= 78} and len(dark) > 3
        signed = list(enumerate(["−16", "−8", "0", "8", "16"]))
        assert drawing.ticks(panel.xaxis) == drawing.ticks(panel.yaxis) == signed
        assert not dots(panel)
    assert [panel.get_title() for panel in figure.axes[:2]] == ["Square", "Net, with a name that is\nso long, width ×2"]
    assert [panel.get_ylabel() for panel in figure.axes] == ["row frequency $k_r$", "", "test accuracy (%)"]
    assert first.get_xlabel() == "column frequency $k_c$"
    assert bar.get_ylim() == (50, 100)


def dots(panel):
    """The cells (row, column) of a map that have a dot."""
    (found,) = panel.collections
    return {(int(np.floor(y + 0.5)), int(np.floor(x + 0.5))) for x, y in found.get_offsets()}


def test_directions_along_which_not_every_network_was_fitted_are_dotted():
    panel = fourier.maps(results(8, trained=0.98), LABELS, {}, *ENDING).axes[0]
    # Rows with k_row = 0 are those of (0, −16), (0, −8), (0, 0) and, as the negative of −8, (0, 8).
    assert dots(panel) == {(2, 0), (2, 1), (2, 2), (2, 3), (2, 4)}


def test_a_map_shows_the_accuracy_of_a_direction_and_its_transpose_at_both():
    half = set(frequencies(8, transposes=False))
    cells = results(8)
    cells = cells[[bool(half & {k, (-k[0], -k[1])}) for k in zip(cells["k_row"], cells["k_col"])]]
    first, second = (fourier.maps(cells, LABELS, {}, *ENDING, names).axes[0] for names in (("net",), ()))
    whole, own = (panel.images[0].get_array().filled(np.nan) for panel in (first, second))
    assert np.isfinite(whole).all() and np.array_equal(whole, whole.T)
    assert np.isnan(own).any()
    np.testing.assert_array_equal(whole[np.isfinite(own)], own[np.isfinite(own)])
    published = {"net": ("published", PUBLISHED)}
    beside = fourier.maps(cells, LABELS, published, *ENDING, ("net",)).axes[1].images[0].get_array()
    assert not np.array_equal(beside, beside.T), "what is published is drawn as it is"


def test_what_is_published_stands_to_the_right_on_the_same_scale():
    tables = [results(8, "net"), results(16, "third")]
    published = {"net": ("published, full width", PUBLISHED)}
    figure = fourier.maps(pd.concat(tables), LABELS, published, *ENDING)
    net, known, third, _ = figure.axes
    assert [panel.get_title() for panel in (known, third)] == ["published, full width", "Third"]
    image = known.images[0]
    # The two runs of (0, ±8) are averaged; (8, 8) and (8, 0) are the negatives of what is published.
    np.testing.assert_allclose(image.get_array(), [[80, 55, 65], [60, 90, 60], [65, 55, 80]])
    assert image.get_clim() == (50, 100) and not dots(known)
    assert drawing.texts(known)[0, 0] == "80" and drawing.texts(known)[0, 1].startswith("60\n±14.1")
    places = [panel.get_subplotspec().get_geometry()[2] for panel in (net, known, third)]
    assert places == [0, 1, 2]


def test_one_seed_has_no_spread():
    panel = fourier.maps(results(8, seeds=1), LABELS, {}, *ENDING).axes[0]
    assert drawing.texts(panel)[2, 2] == f"{100 * accuracy(0, 0):.0f}"


@pytest.mark.parametrize(("step", "numbers"), [(4, 81), (2, 0), (1, 0)])
def test_a_large_map_has_no_numbers(step, numbers):
    panel = fourier.maps(results(step), LABELS, {}, *ENDING).axes[0]
    assert len(panel.texts) == numbers
    spread = "" if step == 4 else f"\n± {SPREAD:.1f} (median over the map)"
    assert panel.get_xlabel() == "column frequency $k_c$" + spread


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
    assert [bool(panel.get_ylabel()) for panel in shown] == [place % grid[1] == 0 for place in range(count)]


def test_the_table_sums_up_each_map_and_how_far_the_published_one_is():
    rows = [
        ("net", 0, 0, 8, 0.9, 1.0),
        ("net", 1, 0, 8, 0.7, 1.0),
        ("net", 0, 0, 0, 0.6, 1.0),
        ("net", 1, 0, 0, 0.6, 0.9),
        ("net", 0, -8, 8, 0.75, 1.0),
        ("net", 1, -8, 8, 0.77, 1.0),
        ("net", 0, 4, 4, 0.71, 1.0),
        ("net", 1, 4, 4, 0.73, 1.0),
        ("square", 0, 0, 0, 0.625, 0.5),
    ]
    columns = ["architecture", "seed", "k_row", "k_col", "accuracy", "train_accuracy"]
    table = fourier.table(
        pd.DataFrame(rows, columns=columns).assign(test_set="all"),
        LABELS,
        {"net": ("published, full width", PUBLISHED)},
        {"square": 0.993},
    )
    assert table.header == [
        "network",
        "directions fitted",
        "mean accuracy (%)",
        "lowest",
        "highest",
        "directions above 75 % (%)",
        "published mean (%)",
        "rms difference (directions) where k_row ≠ 0",
        "rms difference (directions) where k_row = 0",
    ]
    # The seeds' means are 74 and 70. (8, −8) is 76 against 65; (0, 8) is 80 against 60, (0, 0) 60 against 90.
    published = ["71.7, full width", "11.0 (1), full width", "25.5 (2), full width"]
    assert table.rows == [
        [LABELS["net"], "3 of 4", "72.0 ± 2.8", "60.0 ± 0.0", "80.0 ± 14.1", "50", *published],
        ["Square", "0 of 1", "62.5", "62.5", "62.5", "0", "99.3", "–", "–"],
    ]
