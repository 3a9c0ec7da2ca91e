"""What the figures and the table of `linear_pairs` show."""

import drawing
import numpy as np
import pandas as pd
import pytest
from drawing import ENDING

from pipeline.measures.boundaries import EXTENT, POINTS
from pipeline.networks import NETWORKS
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


def test_the_problem_shows_every_nad_in_pixels_and_beside_them_its_frequencies():
    nads, figure = two_channels()
    indices = sorted({index for chosen in nads.values() for index in chosen})
    panels = np.reshape(figure.axes[1:], (2, len(indices), 2))
    for row, chosen in zip(panels, nads.values()):
        for (left, right), index in zip(row, indices):
            if index not in chosen:
                assert not left.images and not right.images
                continue
            (image,), (amplitude,) = left.images, right.images
            np.testing.assert_array_equal(image.get_array(), chosen[index])
            assert image.get_clim() == (-np.abs(chosen[index]).max(), np.abs(chosen[index]).max())
            assert (image.origin, image.get_cmap().name) == ("upper", "gray")
            expected = np.fft.fftshift(np.abs(np.fft.fft2(chosen[index])))
            np.testing.assert_allclose(amplitude.get_array(), expected)
            assert (amplitude.origin, amplitude.get_cmap().name) == ("upper", style.ACCURACY)
    assert sum(bool(panel.images) for panel in panels.flat) == 2 * sum(map(len, nads.values()))
    assert [panel.get_title() for panel in panels[0, :, 0]] == [f"NAD {index}" for index in indices]
    assert [panel.get_ylabel() for panel in panels[:, 0, 0]] == ["Many,\nwidth ×2", "Few"]
    assert all(not len(panel.get_xticks()) and not len(panel.get_yticks()) for panel in panels.flat)
    assert not any(spine.get_visible() for panel in panels.flat for spine in panel.spines.values())


def test_the_larger_channel_sets_the_reach_of_the_problem():
    zero = np.zeros((1, 2)), np.zeros(1)
    figure = linear_pairs.two_sufficient_channels(*zero, (0.5, 2), {"a": {0: np.eye(32)}}, {"a": "A"}, *ENDING)
    assert figure.axes[0].get_xlim() == figure.axes[0].get_ylim() == (-3.2, 3.2)
    assert drawing.points(figure.axes[0].lines[-1])[0] == drawing.numbers([6.4 / 4.25**0.5, -1.6 / 4.25**0.5])


def accuracy(first, second, test_set):
    return {"all": 0.9, "first": 0.8, "second": 0.6}[test_set] - first / 1000 - second / 10000


def results(seeds, rows=(64, 1), columns=(1, 64, 8), unfitted=()):
    """Rows of one network; unfitted: (seed, index_1, index_2) that came to a training accuracy of 98 %, the others to 99 %."""
    return pd.DataFrame(
        [
            {"seed": seed, "index_1": first, "index_2": second, "test_set": test}
            | {"accuracy": accuracy(first, second, test) + 0.02 * seed}
            | {"train_accuracy": 0.98 if (seed, first, second) in unfitted else 0.99}
            for seed in range(seeds)
            for first in rows
            for second in columns
            for test in ("second", "first", "all")
        ]
    )


def drawn(rows, resnet18=False):
    return linear_pairs.accuracies(rows, "LeNet", resnet18, *ENDING)


def hatched(panel):
    """The corners of a panel's hatched squares."""
    return {tuple(patch.get_xy()) for patch in panel.patches if patch.get_hatch()}


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
    figure = drawn(results(seeds=1))
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
        assert not hatched(panel)
    assert [panel.get_ylabel() for panel in panels] == ["NAD index of $v_1$ (first channel)", "", ""]
    assert bar.get_ylabel() == "test accuracy (%)" and len(figure.axes) == 4


def test_accuracies_of_several_seeds_have_their_spread():
    panel = drawn(results(seeds=2)).axes[0]
    numbers, texts, _ = cells_of(panel)
    assert numbers[1, 2] == pytest.approx(100 * accuracy(64, 64, "all") + 1)
    assert texts == [[f"{value:.0f}\n±1.4" for value in row] for row in numbers]


def test_pairs_at_which_not_every_network_was_fitted_are_hatched_and_keep_their_numbers():
    rows = results(seeds=2, unfitted=[(1, 64, 8), (0, 1, 64), (1, 1, 64)])
    *panels, _ = drawn(rows).axes
    plain = drawn(results(seeds=2)).axes
    for panel, other in zip(panels, plain):
        # Squares by column and row, row 0 above: (1, 64) and (64, 8).
        assert hatched(panel) == {(2, 0), (1, 1)}
        assert cells_of(panel)[1] == cells_of(other)[1]
        colours = panel.collections[0].get_facecolors().reshape(2, 3, 4)
        for number in panel.texts:
            column, row = (int(place) for place in number.get_position())
            ground = number.get_bbox_patch()
            assert (ground is not None) == ((column, row) in hatched(panel))
            if ground is not None:
                assert ground.get_facecolor() == pytest.approx(tuple(colours[row, column]))


def test_under_a_resnet_18_stand_the_published_maps_at_the_same_indices():
    figure = drawn(results(1, (1, 64), (1, 64)), resnet18=True)
    panels = [panel for panel in figure.axes if panel.get_ylabel() != "test accuracy (%)"]
    assert [panel.get_title() for panel in panels] == [
        *("both channels", "first channel alone", "second channel alone"),
        *["published, ResNet-18\n(paper 2, fig. 2a)"] * 3,
    ]
    # At (1, 1), (1, 64), (64, 1), (64, 64).
    expected = [["100", "100"], ["100", "100"]], [["100", "100"], ["100", "100"]], [["80", "50"], ["65", "74"]]
    for panel, texts in zip(panels[3:], expected, strict=True):
        numbers, found, axes = cells_of(panel)
        assert found == texts and axes == [["1", "64"]] * 2 and not hatched(panel)
        assert panel.collections[0].get_clim() == (50, 100)
    published = cells_of(panels[5])[0]
    np.testing.assert_allclose(published, [[80.4, 50.3], [64.7, 74.0]], atol=0.5)
    assert [panel.get_xlabel() != "" for panel in panels] == [False] * 3 + [True] * 3


def test_under_other_indices_stand_all_published_ones():
    panels = drawn(results(1, (1, 65), (1, 65)), resnet18=True).axes
    _, _, axes = cells_of(panels[3] if panels[3].get_title() else panels[4])
    assert axes == [["1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "800", "1000"]] * 2


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
NAN = float("nan")
TILTS = {
    (64, 1): [(10.4, 1.0)],
    (1, 1): [(20.0, 1.0), (21.0, 0.99), (60.0, 0.98), (NAN, 1.0)],
    (1, 8): [(30.0, 0.98), (NAN, 1.0)],
    (64, 8): [(NAN, 0.98), (NAN, 1.0)],
}
"""Of each pair the tilt and training accuracy of some seeds."""


def planes_of(tilts):
    rows = [(s, *pair, *values) for pair, seeds in tilts.items() for s, values in enumerate(seeds)]
    return pd.DataFrame(rows, columns=["seed", "index_1", "index_2", "tilt", "train_accuracy"])


def test_boundaries_have_v1_to_the_right_and_v2_upwards():
    figure = linear_pairs.boundaries(SECTIONS, planes_of(TILTS), SEPARATIONS, "LeNet", *ENDING)
    assert drawing.title_of(figure) == (
        "LeNet: decision boundaries and their tilt\n0°: channel 1 only, 90°: channel 2 only, 26.6°: maximum margin"
    )
    *panels, bar = figure.axes
    # Of seeds that were fitted and have a boundary; (1, 8) has none of both.
    assert [panel.get_title() for panel in panels] == ["20.5 ± 0.7°", "not fitted", "10.4°", "not learned"]
    assert [bool(hatched(panel)) for panel in panels] == [True, True, False, True]
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


@pytest.mark.parametrize(
    ("lowest", "highest", "tilt", "lines"),
    [(0.5, 0.6, 0.0, 0), (0.4, 0.5, 0.0, 0), (0.49, 0.51, 0.0, 1), (0.49, 0.51, NAN, 0)],
)
def test_a_boundary_is_drawn_where_the_decision_changes_and_a_seed_has_one(lowest, highest, tilt, lines):
    section = np.linspace(lowest, highest, POINTS**2).reshape(POINTS, POINTS)
    planes = planes_of({(1, 1): [(tilt, 1.0)]})
    panel = linear_pairs.boundaries({(1, 1): section}, planes, SEPARATIONS, "LeNet", *ENDING).axes[0]
    assert len(panel.collections) == lines


def planes(base):
    """Two seeds, whose mean is `base` and a little for each index; no boundary is met along v₂ where v₁ has index 64.

    A third was not fitted at (1, 8), and none at (1, 64); at (64, 8) there is no tilt.
    """
    return pd.DataFrame(
        [
            {
                "seed": seed,
                "index_1": first,
                "index_2": second,
                "tilt": NAN if (first, second) == (64, 8) else base + first / 10 + second / 100 + seed - 0.5,
                "margin_1": 1 + base / 10 + first / 100 + second / 1000 + (seed - 0.5) / 10,
                "margin_2": np.inf if first == 64 else 0.5 + second / 10,
                "train_accuracy": 0.98 if (first, second) == (1, 64) or seed == 2 else 1.0,
            }
            for seed in (0, 1, 2)
            for first in (64, 1)
            for second in (8, 1, 64)
            if seed < 2 or (first, second) == (1, 8)
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
            [[0.6, 1.3, NAN], [4, 4, 4]],
        ]
        expected[0][0][2] = expected[0][1][1] = expected[1][0][2] = NAN
        written = [
            [["–" if np.isnan(value) else f"{value:.0f}\n±0.7" for value in line] for line in expected[0]],
            [["–" if np.isnan(value) else f"{value:.1f}\n±0.1" for value in line] for line in expected[1]],
            [["0.6\n±0.0", "1.3\n±0.0", "–"], ["∞", "∞", "∞"]],
        ]
        for panel, numbers, texts, high in zip(row, expected, written, (90, 4, 4), strict=True):
            found, said, axes = cells_of(panel)
            np.testing.assert_allclose(found, numbers)
            assert said == texts and axes == [["1", "64"], ["1", "8", "64"]]
            assert hatched(panel) == {(1, 0), (2, 0)}
            (mesh,) = panel.collections
            assert (mesh.get_clim(), mesh.get_cmap().name) == ((0, high), style.ACCURACY)
            assert panel.get_xlabel() == "NAD index of $v_2$"


COLUMNS = ["architecture", "index_1", "index_2", "test_set", "mean", "std", "seeds", "fitted", "train_accuracy"]
COLUMNS += ["best_mean", "best_std"]


def test_the_table_has_corners_and_the_diagonal_and_published_values():
    pairs = [(1, 1), (1, 9), (1, 1000), (9, 1), (9, 9), (800, 800), (1000, 1000)]
    rows = [
        ("net", first, second, test, mean, std, 3, 2, 0.995, mean + 0.1, std)
        for first, second in pairs
        for test, mean, std in (("second", 0.55, 0.03), ("all", 0.9, 0.01), ("first", 0.7, np.nan))
    ]
    rows += [("a", 1, 1, test, 0.5, np.nan, 1, 0, 0.5, 0.51, np.nan) for test in ("all", "first", "second")]
    tilts = [
        ("net", 1, 1, 10.0, 1.0), ("net", 1, 1, 11.0, 1.0), ("net", 1, 1, 80.0, 0.9), ("net", 1, 1000, NAN, 1.0),
        ("net", 800, 800, 12.25, 1.0), ("net", 800, 1, 33.0, 1.0), ("net", 1000, 1000, 44.0, 0.9), ("a", 1, 1, 26.56, 1.0),
    ]  # fmt: skip
    planes = pd.DataFrame(tilts, columns=["architecture", "index_1", "index_2", "tilt", "train_accuracy"])
    table = linear_pairs.table(pd.DataFrame(rows, columns=COLUMNS), planes, {"net": "Net", "a": "A"}, ["net"])
    assert table.header == [
        "network",
        "NAD indices of v₁, v₂",
        "both (%)",
        "first alone (%)",
        "second alone (%)",
        "second alone at the best threshold (%)",
        "tilt",
        "training accuracy (%) (fitted seeds)",
        "published (ResNet-18, full width)",
    ]
    values, training = ["90.0 ± 1.0", "70.0", "55.0 ± 3.0", "65.0 ± 3.0"], "99.5 (2 of 3)"
    assert table.rows == [
        ["Net", "(1, 1)", *values, "10.5 ± 0.7°", training, "99.7 / 99.7 / 80.4"],
        ["Net", "(1, 1000)", *values, "–", training, "99.7 / 99.7 / 50.3"],
        ["Net", "(9, 9)", *values, "–", training, "–"],
        ["Net", "(800, 800)", *values, "12.2°", training, "69.4 / 65.2 / 54.2"],
        ["Net", "(1000, 1000)", *values, "–", training, "77.5 / 74.9 / 58.4"],
        ["A", "(1, 1)", "50.0", "50.0", "50.0", "51.0", "26.6°", "50.0 (0 of 1)", "–"],
    ]


def test_the_corners_are_those_of_the_grid():
    pairs = [(a, b) for a in (2, 5, 9) for b in (2, 5, 9)]
    rows = [("net", *pair, test, 0.5, np.nan, 1, 1, 1.0, 0.5, np.nan) for pair in pairs for test in linear_pairs.PANELS]
    planes = pd.DataFrame([("net", *pair, 0.0, 1.0) for pair in pairs])
    planes.columns = ["architecture", "index_1", "index_2", "tilt", "train_accuracy"]
    found = linear_pairs.table(pd.DataFrame(rows, columns=COLUMNS), planes, {"net": "Net"}, []).rows
    assert [row[1] for row in found] == ["(2, 2)", "(2, 9)", "(5, 5)", "(9, 2)", "(9, 9)"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({}, True), ({"width": 0.25}, True), ({"skip": False}, False), ({"width": 0.25, "downsampling": "none"}, False)],
)
def test_which_networks_are_the_published_one_but_for_their_width(arguments, expected):
    assert linear_pairs.is_resnet18({"network": NETWORKS["resnet18"]} | arguments) == expected
    assert not linear_pairs.is_resnet18({"network": NETWORKS["vgg11"]} | arguments)


def said(cells, resnet18=False, shift=0.0):
    """The sentence on a network; cells: pair → for each seed accuracy with the first and the second alone, training, tilt.

    shift: what the best threshold of its logit gains.
    """
    rows, planes = [], []
    for (first, second), seeds in cells.items():
        for seed, (one, other, trained, tilt) in enumerate(seeds):
            place = {"seed": seed, "index_1": first, "index_2": second, "train_accuracy": trained}
            planes.append(place | {"tilt": tilt})
            tests = {"all": 1.0, "first": one, "second": other}
            rows += [
                place | {"test_set": test, "accuracy": value, "best_accuracy": min(value + shift, 1.0)}
                for test, value in tests.items()
            ]
    return linear_pairs.used(pd.DataFrame(rows), pd.DataFrame(planes), "Net", resnet18, 26.565)


FIRST, SECOND, BOTH = (1.0, 0.5, 1.0, 0.0), (0.5, 0.98, 0.99, 90.0), (0.98, 0.78, 1.0, 24.0)
LOST = (0.9, 0.9, 0.98, 45.0)


def test_what_was_found_is_which_channels_the_fitted_networks_use():
    cells = {(1, 1): [BOTH, (1.0, 0.8, 1.0, 26.0)], (1, 64): [FIRST] * 2, (64, 1): [SECOND, LOST], (64, 64): [LOST] * 2}
    assert said(cells) == (
        "linear_pairs, Net (5 of 8 networks fitted): of two sufficient channels along NADs (v₁, v₂) it uses both at (1, 1) (alone, "
        "they give 99.0 ± 1.4 and 79.0 ± 1.4 %), the first at (1, 64) (100.0 ± 0.0 and 50.0 ± 0.0 %), the second at (64, 1) (50.0 "
        "and 98.0 %), n = 2, 2, 1."
    )


def test_a_tilt_that_is_the_same_whatever_the_pair_is_found():
    alike = {(1, 1): [BOTH, (1.0, 0.8, 1.0, 26.0)], (1, 64): [(1.0, 0.8, 1.0, 28.0), LOST]}
    sentence = "; whatever the pair, its boundaries tilt by 26.0 ± 2.0°, n = 3 networks (maximum margin: 26.6°)."
    assert said(alike).endswith(sentence)
    apart = alike | {(64, 1): [(0.98, 0.78, 1.0, 37.0)]}
    assert "whatever" not in said(apart) and "whatever" not in said({(1, 1): [BOTH]})


def test_what_a_shift_of_the_logit_costs_a_used_channel_is_said():
    shifted = {(1, 1): [BOTH, (1.0, 0.8, 1.0, 26.0)], (1, 64): [FIRST], (64, 64): [LOST]}
    sentence = (
        "both at (1, 1) (alone, they give 99.0 ± 1.4 and 79.0 ± 1.4 %; at the best threshold of its logit the second gives "
        "84.0 ± 1.4 %), the first at (1, 64) (100.0 and 50.0 %), n = 2, 1; at (64, 1) no network was fitted."
    )
    assert said(shifted, shift=0.05).endswith(sentence)
    assert "threshold" not in said(shifted, shift=0.019)


def test_corners_at_which_no_network_was_fitted_are_named_and_published_values_stand_beside_a_resnet_18():
    cells = {(1, 1): [BOTH], (1, 1000): [(0.5, 0.5, 1.0, NAN)], (1000, 1): [LOST], (1000, 1000): [LOST]}
    assert said(cells, resnet18=True) == (
        "linear_pairs, Net (2 of 4 networks fitted): of two sufficient channels along NADs (v₁, v₂) it uses both at (1, 1) (alone, "
        "they give 98.0 and 78.0 %), neither at (1, 1000) (50.0 and 50.0 %), n = 1; at (1000, 1) no network was fitted; "
        "published of ResNet-18 of full width: 99.7 and 80.4 % at (1, 1), 99.7 and 50.3 % at (1, 1000), 50.3 and 97.6 % at (1000, 1)."
    )


def test_nothing_is_found_where_no_network_was_fitted():
    cells = {(3, 3): [LOST] * 2}
    assert said(cells) == said(cells, resnet18=True)
    assert said(cells) == (
        "linear_pairs, Net (0 of 2 networks fitted): nothing is said of which channel it uses, since at (3, 3) no network was fitted."
    )
