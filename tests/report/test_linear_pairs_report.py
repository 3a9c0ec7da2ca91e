"""What the figures and the table of `linear_pairs` show."""

import drawing
import numpy as np
import pandas as pd
import pytest
from drawing import ENDING

from pipeline.measures.boundaries import EXTENT, POINTS
from pipeline.report import linear_pairs, style

pytestmark = pytest.mark.usefixtures("_undrawn")

SEPARATIONS = (1.5, 0.75)


def two_channels(**of_first):
    """Six samples, and the NADs of two networks, one of which has fewer."""
    points = np.array([[1, 2], [-3, -4], [5, 6], [7, 8], [-9, -10], [11, 12]]) / 10
    rng = np.random.default_rng(0)
    nads = {"many": {i: rng.standard_normal((32, 32)) for i in (3, 40, 500)}, "few": {7: rng.standard_normal((32, 32))}}
    labels = {"many": "Many, width ×2", "few": "Few"}
    classes = np.array([1, 0, 1, 0, 0, 1])
    return nads, linear_pairs.two_sufficient_channels(points, classes, SEPARATIONS, nads, labels, *ENDING)


def test_the_problem_shows_the_samples_and_three_boundaries():
    _, figure = two_channels()
    assert (
        drawing.title_of(figure)
        == "Two channels, each sufficient: D(v₁) ⊕ D(v₂), and NADs that v₁ and v₂ are taken from"
    )
    panel = figure.axes[0]
    assert figure.subfigs[0].axes == [panel]  # on the left
    lines = {line.get_label(): line for line in panel.lines}
    zero, one = lines["class 0"], lines["class 1"]
    assert drawing.points(zero) == [[-0.3, -0.4], [0.7, 0.8], [-0.9, -1.0]]
    assert drawing.points(one) == [[0.1, 0.2], [0.5, 0.6], [1.1, 1.2]]
    assert drawing.points(lines["first channel alone"]) == [[0, -2.4], [0, 2.4]]
    assert drawing.points(lines["second channel alone"]) == [[-2.4, 0], [2.4, 0]]
    # At right angles to (1.5, 0.75), 2.4 long on either side.
    margin = 2.4 / 1.25**0.5
    assert drawing.points(lines["maximum margin (26.6°)"]) == [
        drawing.numbers([margin / 2, -margin]),
        drawing.numbers([-margin / 2, margin]),
    ]
    looks = [(line.get_linestyle(), line.get_marker(), drawing.colour(line)) for line in panel.lines]
    assert looks == [
        ("None", "o", "#0072b2"),
        ("None", "^", "#d55e00"),
        ("--", "None", "#595959"),
        (":", "None", "#595959"),
        ("-", "None", "#000000"),
    ]
    assert panel.get_xlim() == panel.get_ylim() == pytest.approx((-2.4, 2.4)) and panel.get_aspect() == 1
    assert panel.get_xlabel() == "coordinate along $v_1 \\oplus 0$"
    assert panel.get_ylabel() == "coordinate along $0 \\oplus v_2$"
    assert panel.get_title() == "every one of these boundaries\nseparates the two classes"
    assert drawing.entries(panel.get_legend()) == [
        ("class 0", "#0072b2"),
        ("class 1", "#d55e00"),
        ("first channel alone", "#595959"),
        ("second channel alone", "#595959"),
        ("maximum margin (26.6°)", "#000000"),
    ]


def test_the_problem_shows_every_nad_in_pixels_above_its_frequencies():
    nads, figure = two_channels()
    panels = np.reshape(figure.axes[1:], (4, 3))
    for pixels, frequencies, chosen in zip(panels[::2], panels[1::2], nads.values()):
        for above, below, (index, nad) in zip(pixels, frequencies, chosen.items()):
            (image,), (energy,) = above.images, below.images
            np.testing.assert_array_equal(image.get_array(), nad)
            assert image.get_clim() == (-np.abs(nad).max(), np.abs(nad).max())
            assert (image.origin, image.get_cmap().name) == ("upper", "gray")
            expected = np.fft.fftshift(np.abs(np.fft.fft2(nad)))
            np.testing.assert_allclose(energy.get_array(), expected)
            assert (energy.origin, energy.get_cmap().name) == ("upper", style.ACCURACY)
            assert above.get_title() == f"NAD {index}" and below.get_title() == ""
    assert not any(panel.images for panel in panels[2:, 1:].flat)
    assert [[panel.get_ylabel() for panel in row] for row in panels] == [
        ["Many,\nwidth ×2", "", ""],
        ["Fourier\namplitude", "", ""],
        ["Few", "", ""],
        ["Fourier\namplitude", "", ""],
    ]
    assert all(not len(panel.get_xticks()) and not len(panel.get_yticks()) for panel in panels.flat)
    assert not any(spine.get_visible() for panel in panels.flat for spine in panel.spines.values())


def test_the_larger_channel_sets_the_reach_of_the_problem():
    zero = np.zeros((1, 2)), np.zeros(1)
    figure = linear_pairs.two_sufficient_channels(*zero, (0.5, 2), {"a": {0: np.eye(32)}}, {"a": "A"}, *ENDING)
    assert figure.axes[0].get_xlim() == figure.axes[0].get_ylim() == (-3.2, 3.2)
    assert drawing.points(figure.axes[0].lines[-1])[0] == drawing.numbers([6.4 / 4.25**0.5, -1.6 / 4.25**0.5])


def accuracy(first, second, test_set):
    return {"all": 0.9, "first": 0.8, "second": 0.6}[test_set] - first / 1000 - second / 10000


def results(seeds):
    return pd.DataFrame(
        [
            {"seed": seed, "index_1": first, "index_2": second, "test_set": test}
            | {"accuracy": accuracy(first, second, test) + 0.02 * seed}
            for seed in range(seeds)
            for first in (64, 1)
            for second in (1, 64, 8)
            for test in ("second", "first", "all")
        ]
    )


def cells_of(panel):
    """A heat map's numbers and texts as matrices, row 0 above, and its two axes' texts."""
    (mesh,) = panel.collections
    numbers = np.ma.filled(mesh.get_array(), np.nan)
    rows, columns = numbers.shape
    assert panel.yaxis_inverted() and not panel.xaxis_inverted()
    written = drawing.texts(panel)
    texts = [[written[c + 0.5, r + 0.5] for c in range(columns)] for r in range(rows)]
    axes = [[text for _, text in drawing.ticks(axis)] for axis in (panel.yaxis, panel.xaxis)]
    return numbers, texts, axes


def test_accuracies_have_v1_along_the_rows_and_v2_along_the_columns():
    figure = linear_pairs.accuracies(results(seeds=1), "LeNet", *ENDING)
    assert drawing.title_of(figure) == "LeNet: which channel carries the accuracy"
    *panels, bar = figure.axes
    assert [panel.get_title() for panel in panels] == [
        "both channels",
        "first channel alone",
        "second channel alone",
    ]
    for panel, test in zip(panels, ("all", "first", "second"), strict=True):
        numbers, texts, axes = cells_of(panel)
        expected = [[100 * accuracy(first, second, test) for second in (1, 8, 64)] for first in (1, 64)]
        np.testing.assert_allclose(numbers, expected)
        assert texts == [[f"{value:.0f}" for value in row] for row in expected]
        assert axes == [["1", "64"], ["1", "8", "64"]]
        (mesh,) = panel.collections
        assert (mesh.get_clim(), mesh.get_cmap().name) == ((50, 100), style.ACCURACY)
        assert panel.get_xlabel() == "NAD index of $v_2$ (second channel)" and panel.get_aspect() == 1
    assert [panel.get_ylabel() for panel in panels] == ["NAD index of $v_1$ (first channel)", "", ""]
    assert bar.get_ylabel() == "test accuracy (%)" and len(figure.axes) == 4


def test_accuracies_of_several_seeds_have_their_spread():
    panel = linear_pairs.accuracies(results(seeds=2), "LeNet", *ENDING).axes[0]
    numbers, texts, _ = cells_of(panel)
    assert numbers[1, 2] == pytest.approx(100 * accuracy(64, 64, "all") + 1)
    assert texts == [[f"{value:.0f}\n±1.4" for value in row] for row in numbers]


def upright(high, place):
    """A cross-section whose probability is over a half where the second coordinate exceeds `place`, and never above `high`."""
    axis = np.linspace(-EXTENT, EXTENT, POINTS)
    section = np.clip(0.5 + 0.2 * (axis[:, None] - place), 0, high)
    return section + 0.001 * np.arange(POINTS) / POINTS


SECTIONS = {
    (64, 1): upright(0.9, 1.0),
    (1, 1): upright(0.4, 0.5),
    (1, 8): upright(0.8, -1.0),
    (64, 8): np.full((POINTS, POINTS), 0.6),
}
TILTS = {(64, 1): 10.4, (1, 1): 20.6, (1, 8): 30.0, (64, 8): 40.0}


def test_boundaries_have_v1_to_the_right_and_v2_upwards():
    figure = linear_pairs.boundaries(SECTIONS, TILTS, SEPARATIONS, "LeNet", *ENDING)
    assert drawing.title_of(figure) == (
        "LeNet: decision boundaries and their tilt\n0°: channel 1 only, 90°: channel 2 only, 26.6°: maximum margin"
    )
    *panels, bar = figure.axes
    assert [panel.get_title() for panel in panels] == ["21°", "30°", "10°", "40°"]
    assert [panel.get_xlabel() for panel in panels] == [
        "",
        "",
        "along $v_1$\n$v_2$: NAD 1",
        "along $v_1$\n$v_2$: NAD 8",
    ]
    assert [panel.get_ylabel() for panel in panels] == [
        "$v_1$: NAD 1\nalong $v_2$",
        "",
        "$v_1$: NAD 64\nalong $v_2$",
        "",
    ]
    assert bar.get_ylabel() == "probability of class 1"
    for joined in (panels[0].get_shared_x_axes(), panels[0].get_shared_y_axes()):
        assert all(joined.joined(panels[0], panel) for panel in panels)
    half = 2 + 2 / (POINTS - 1)
    for panel, pair, boundary in zip(panels, [(1, 1), (1, 8), (64, 1), (64, 8)], (None, -1, 1, None), strict=True):
        (image,) = panel.images
        np.testing.assert_array_equal(image.get_array(), SECTIONS[pair])
        # The first row of a cross-section is its lowest second coordinate.
        assert image.origin == "lower" and list(image.get_extent()) == [-half, half, -half, half]
        assert (image.get_clim(), image.get_cmap().name) == ((0, 1), style.ACCURACY)
        lines = [path.vertices for collection in panel.collections for path in collection.get_paths()]
        assert len(lines) == (boundary is not None)
        if lines:
            assert np.ptp(lines[0][:, 0]) == pytest.approx(4) and np.allclose(lines[0][:, 1], boundary, atol=0.01)
        means = {line.get_marker(): drawing.points(line) for line in panel.lines}
        assert means == {"o": [[-1.5, -0.75]], "^": [[1.5, 0.75]]}
        for axis in (panel.xaxis, panel.yaxis):
            assert axis.get_majorticklocs().tolist() == [-1, 0, 1]


@pytest.mark.parametrize(("lowest", "highest", "drawn"), [(0.5, 0.6, 0), (0.4, 0.5, 0), (0.49, 0.51, 1)])
def test_a_boundary_is_drawn_where_the_decision_changes(lowest, highest, drawn):
    section = np.linspace(lowest, highest, POINTS**2).reshape(POINTS, POINTS)
    panel = linear_pairs.boundaries({(1, 1): section}, {(1, 1): 0.0}, SEPARATIONS, "LeNet", *ENDING).axes[0]
    assert len(panel.collections) == drawn


def planes(base):
    """Two seeds, whose mean is `base` and a little for each index; no boundary is met along v₂ where v₁ has index 64."""
    return pd.DataFrame(
        [
            {
                "seed": seed,
                "index_1": first,
                "index_2": second,
                "tilt": base + first / 10 + second / 100 + seed - 0.5,
                "margin_1": 1 + base / 10 + first / 100 + second / 1000 + (seed - 0.5) / 10,
                "margin_2": np.inf if first == 64 else 0.5 + second / 10,
            }
            for seed in (0, 1)
            for first in (64, 1)
            for second in (8, 1, 64)
        ]
    )


def test_tilt_and_margins_stand_side_by_side_for_each_network():
    tables = {"z": planes(10), "a": planes(20)}
    figure = linear_pairs.tilt_and_margins(tables, {"a": "Alpha", "z": "Zeta"}, SEPARATIONS, *ENDING)
    assert drawing.title_of(figure) == (
        "Tilt and margins (maximum margin: 26.6°; class means at ±1.5, ±0.75; ∞: no boundary within 4)"
    )
    panels = np.reshape(figure.axes[:6], (2, 3))
    titles = ["tilt (degrees)", "median margin along $v_1$", "median margin along $v_2$"]
    assert [[panel.get_title() for panel in row] for row in panels] == [titles, ["", "", ""]]
    assert [[panel.get_ylabel() for panel in row] for row in panels] == [
        ["Zeta\nNAD index of $v_1$", "", ""],
        ["Alpha\nNAD index of $v_1$", "", ""],
    ]
    second = (1, 8, 64)
    for row, base in zip(panels, (10, 20)):
        expected = [
            [[base + first / 10 + b / 100 for b in second] for first in (1, 64)],
            [[1 + base / 10 + first / 100 + b / 1000 for b in second] for first in (1, 64)],
            [[0.6, 1.3, 4], [4, 4, 4]],
        ]
        written = [
            [[f"{value:.0f}" for value in line] for line in expected[0]],
            [[f"{value:.1f}" for value in line] for line in expected[1]],
            [["0.6", "1.3", "6.9"], ["∞", "∞", "∞"]],
        ]
        for panel, numbers, texts, high in zip(row, expected, written, (90, 4, 4), strict=True):
            found, said, axes = cells_of(panel)
            np.testing.assert_allclose(found, numbers)
            assert said == texts and axes == [["1", "64"], ["1", "8", "64"]]
            (mesh,) = panel.collections
            assert (mesh.get_clim(), mesh.get_cmap().name) == ((0, high), style.ACCURACY)
            assert panel.get_xlabel() == "NAD index of $v_2$"


def test_the_table_has_corners_and_published_pairs():
    pairs = [(1, 1), (1, 9), (1, 1000), (9, 1), (9, 9), (800, 800), (1000, 1000)]
    rows = [
        ("net", first, second, test, mean, std)
        for first, second in pairs
        for test, mean, std in (("second", 0.55, 0.03), ("all", 0.9, 0.01), ("first", 0.7, np.nan))
    ]
    rows += [("a", 1, 1, test, 0.5, np.nan) for test in ("all", "first", "second")]
    summary = pd.DataFrame(rows, columns=["architecture", "index_1", "index_2", "test_set", "mean", "std"])
    tilts = {("net", *pair): float(place) + 0.25 for place, pair in enumerate(pairs)} | {("a", 1, 1): 26.56}
    table = linear_pairs.table(summary, tilts, {"net": "Net", "a": "A"}, ["net"])
    assert table.header == [
        "network",
        "NAD indices of v₁, v₂",
        "both (%)",
        "first alone (%)",
        "second alone (%)",
        "tilt",
        "published (ResNet-18, full width)",
    ]
    values = ["90.0 ± 1.0", "70.0", "55.0 ± 3.0"]
    assert table.rows == [
        ["Net", "(1, 1)", *values, "0.2°", "100 / 100 / 80"],
        ["Net", "(1, 1000)", *values, "2.2°", "100 / 100 / 50"],
        ["Net", "(800, 800)", *values, "5.2°", "69 / 65 / 54"],
        ["Net", "(1000, 1000)", *values, "6.2°", "–"],
        ["A", "(1, 1)", "50.0", "50.0", "50.0", "26.6°", "–"],
    ]


def test_the_corners_are_those_of_the_grid():
    rows = [("net", a, b, test, 0.5, np.nan) for a in (2, 5, 9) for b in (2, 5, 9) for test in linear_pairs.PANELS]
    summary = pd.DataFrame(rows, columns=["architecture", "index_1", "index_2", "test_set", "mean", "std"])
    tilts = {("net", a, b): 0.0 for a in (2, 5, 9) for b in (2, 5, 9)}
    found = linear_pairs.table(summary, tilts, {"net": "Net"}, []).rows
    assert [row[1] for row in found] == ["(2, 2)", "(2, 9)", "(9, 2)", "(9, 9)"]
