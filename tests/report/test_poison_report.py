"""What the figures and the table of `poison` show."""

import drawing
import numpy as np
import pandas as pd
import pytest
from drawing import ENDING

from pipeline.report import poison

LABELS = {"z": "Zeta, with a name that is too long, width ×2", "a": "Alpha", "m": "Mix"}
MEANS = {
    ("z", "images"): {-1: 0.8, 0: 0.3, 500: 0.6, 40: 0.45},
    ("z", "mixture"): {-1: 0.7, 20: 0.2, 3: 0.1},
    ("a", "images"): {-1: 0.9, 7: 0.5},
    ("m", "mixture"): {-1: 0.65},
}


def results(seeds=2, means=MEANS):
    return pd.DataFrame(
        [
            {"architecture": name, "seed": seed, "data": data, "index": index, "test_set": test}
            | {"accuracy": accuracy + 0.04 * seed if test == "clean" else 0.99}
            for (name, data), row in means.items()
            for index, accuracy in row.items()
            for seed in range(seeds)
            for test in ("clean", "poisoned")
        ]
    )


HALF = 100 * np.std([0, 0.04], ddof=1)
COLOURS = {"images": "#000000", "mixture": "#0072b2"}


def levels(panel):
    """Horizontal lines across a panel: height, colour and dashes."""
    lines = [line for line in panel.lines if list(line.get_xdata()) == [0, 1]]
    return [(*drawing.numbers([line.get_ydata()[0]]), drawing.colour(line), line.get_linestyle()) for line in lines]


def spans(panel):
    """Bands across a panel: lower and upper end, and colour."""
    return [
        (
            *drawing.numbers([patch.get_y(), patch.get_y() + patch.get_height()]),
            drawing.colour(patch),
            patch.get_alpha(),
        )
        for patch in panel.patches
    ]


def test_accuracies_stand_over_the_carriers_index_and_clean_training_is_a_level():
    figure = poison.curve(results(), LABELS, {}, 10, *ENDING)
    assert drawing.title_of(figure) == "Trained on data with class carriers along NADs"
    assert [panel.get_title() for panel in figure.axes] == [
        "Zeta, with a name that is\ntoo long, width ×2",
        "Alpha",
        "Mix",
    ]
    assert [panel.get_ylabel() for panel in figure.axes] == ["accuracy on clean test data (%)", "", ""]
    for panel, name in zip(figure.axes, LABELS, strict=True):
        assert figure.axes[0].get_shared_y_axes().joined(figure.axes[0], panel)
        assert panel.get_xlabel() == "first NAD index of the carriers" and panel.get_ylim() == (0, 102)
        assert panel.get_xscale() == "log" and [x for x, _ in drawing.ticks(panel.xaxis)] == [1, 10, 100, 1001]
        mine = {data: dict(row) for (of, data), row in MEANS.items() if of == name}
        clean = {data: 100 * row.pop(-1) + 2 for data, row in mine.items()}
        assert levels(panel)[0] == (10, "#999999", "-")
        assert [level[:2] for level in levels(panel)[1:]] == [(height, COLOURS[data]) for data, height in clean.items()]
        bands = [(*drawing.numbers([h - HALF, h + HALF]), COLOURS[data], 0.15) for data, h in clean.items()]
        assert spans(panel) == bands
        found = [curve for curve in panel.containers if hasattr(curve, "has_yerr")]
        shown = {data: sorted(row.items()) for data, row in mine.items() if row}
        assert len(found) == len(shown)
        for curve, (data, row) in zip(found, shown.items()):
            heights = [(index + 1, 100 * accuracy + 2) for index, accuracy in row]
            assert drawing.points(curve[0]) == [drawing.numbers(place) for place in heights]
            assert drawing.whiskers(curve) == [drawing.numbers([x, y - HALF, y + HALF]) for x, y in heights]
            line, marker = {"images": ("-", "o"), "mixture": ("-.", "s")}[data]
            assert (drawing.colour(curve[0]), curve[0].get_linestyle(), curve[0].get_marker()) == (
                COLOURS[data],
                line,
                marker,
            )
    assert drawing.entries(figure.legends[0]) == [
        ("images, nothing poisoned", "#000000"),
        ("images, poisoned", "#000000"),
        ("Gaussian mixture, nothing poisoned", "#0072b2"),
        ("Gaussian mixture, poisoned", "#0072b2"),
        ("guessing", "#999999"),
    ]
    looks = {t.get_text(): h for t, h in zip(figure.legends[0].get_texts(), figure.legends[0].legend_handles)}
    assert [looks[f"{name}, nothing poisoned"].get_linestyle() for name in ("images", "Gaussian mixture")] == [
        "--",
        "--",
    ]
    dashes = [looks[f"{name}, nothing poisoned"]._unscaled_dash_pattern[1] for name in ("images", "Gaussian mixture")]
    assert [list(dash) for dash in dashes] == [[6, 2], [3, 2]]


def test_one_seed_has_neither_whiskers_nor_bands():
    panel = poison.curve(results(seeds=1), LABELS, {}, 10, *ENDING).axes[0]
    assert not spans(panel) and not any(drawing.whiskers(curve) for curve in panel.containers)


def test_a_level_of_one_seed_beside_several_has_no_band():
    rows = results()
    rows = rows[(rows["index"] != -1) | (rows["seed"] == 0)]
    panel = poison.curve(rows, LABELS, {}, 10, *ENDING).axes[0]
    assert not spans(panel) and all(drawing.whiskers(curve) for curve in panel.containers)


def test_without_clean_training_there_is_no_level():
    rows = results(means={("a", "images"): {3: 0.5, 9: 0.7}})
    figure = poison.curve(rows, LABELS, {}, 10, *ENDING)
    assert levels(figure.axes[0]) == [(10, "#999999", "-")]
    assert list(dict(drawing.entries(figure.legends[0]))) == ["images, poisoned", "guessing"]


def test_published_values_are_bars_over_their_range_with_a_cross_in_the_middle():
    figure = poison.curve(results(), LABELS, {"a": [(0, 0, 18), (99, 399, 61)]}, 10, *ENDING)
    _, panel, _ = figure.axes
    crosses = drawing.crosses(panel)
    assert [drawing.points(cross) for cross in crosses] == [[[1, 18]], [[200, 61]]]
    assert {drawing.colour(cross) for cross in crosses} == {"#d55e00"}
    ranges = [drawing.points(line) for line in panel.lines if drawing.colour(line) == "#d55e00" and line not in crosses]
    assert ranges == [[[1, 18], [1, 18]], [[100, 61], [400, 61]]]
    assert not drawing.crosses(figure.axes[0]) and not drawing.crosses(figure.axes[2])
    assert dict(drawing.entries(figure.legends[0]))["published, about\n(images, poisoned)"] == "#d55e00"
    assert list(dict(drawing.entries(figure.legends[0])))[-1] == "guessing"


def picture(seed):
    return np.random.default_rng(seed).uniform(0.2, 0.8, (3, 4, 5))


def test_examples_are_clean_poisoned_and_different():
    clean = [picture(1), picture(2)]
    changes = np.zeros((2, 2, 3, 4, 5))
    changes[0, 0, 1, 2, 3], changes[0, 0, 0, 1, 4] = 1 / 32, -0.02
    changes[0, 1, 2, 0, 0] = -0.4
    changes[1, 0, 0, 0, 1] = 0.92
    poisoned = [[image + change for change in row] for image, row in zip(clean, changes)]
    figure = poison.examples(list(zip(clean, poisoned)), [0, 100], *ENDING)
    assert drawing.title_of(figure) == "Images with class carriers along NADs"
    panels = np.reshape(figure.axes, (2, 5))
    for row, image, with_carriers, change in zip(panels, clean, poisoned, changes):
        drawn = [panel.images[0].get_array().transpose(2, 0, 1) for panel in row]
        np.testing.assert_allclose(drawn[0], image)
        for number in (0, 1):
            np.testing.assert_allclose(drawn[1 + 2 * number], np.clip(with_carriers[number], 0, 1))
            largest = np.abs(change[number]).max() or 1
            np.testing.assert_allclose(drawn[2 + 2 * number], 0.5 + 0.5 * change[number] / largest, atol=1e-9)
    assert [[panel.get_title() for panel in row] for row in panels] == [
        ["clean", "index 0", "difference ×16", "index 100", "difference ×1.2"],
        ["clean", "index 0", "difference ×0.5", "index 100", "no difference"],
    ]
    rms = [255 * (value / 60) ** 0.5 for value in (2**-10 + 0.02**2, 0.4**2, 0.92**2)]
    assert [[panel.get_xlabel() for panel in row] for row in panels] == [
        ["", "", f"rms {rms[0]:.3g}, max 7.97\ngrey levels", "", f"rms {rms[1]:.3g}, max 102\ngrey levels"],
        ["", "", f"rms {rms[2]:.3g}, max 235\ngrey levels", "", "rms 0, max 0\ngrey levels"],
    ]
    assert not any(len(panel.get_xticks()) or len(panel.get_yticks()) for panel in panels.flat)
    assert not any(spine.get_visible() for panel in panels.flat for spine in panel.spines.values())


def test_what_is_outside_the_range_is_clipped_where_it_is_drawn():
    image = np.full((3, 1, 1), 0.5)
    image[0], image[1] = -0.25, 1.25
    panel = poison.examples([(image, [image])], [0], *ENDING).axes[0]
    assert panel.images[0].get_array().tolist() == [[[0, 1, 0.5]]]


@pytest.mark.parametrize(("size", "title"), [(1 / 32, "difference ×16"), (1 / 16, "difference ×8.0")])
def test_magnifications_under_ten_have_a_digit_more(size, title):
    image = np.full((3, 1, 1), 0.5)
    figure = poison.examples([(image, [image + size])], [0], *ENDING)
    assert figure.axes[2].get_title() == title


def test_the_table_has_both_test_sets_and_published_ranges_of_images():
    rows = [
        ("z", "images", -1, "clean", 0.9, 0.01),
        ("z", "images", 0, "poisoned", 0.8, 0.02),
        ("z", "images", 0, "clean", 0.3, 0.03),
        ("z", "images", 200, "clean", 0.5, np.nan),
        ("z", "images", 201, "clean", 0.5, np.nan),
        ("z", "mixture", 110, "clean", 0.2, np.nan),
        ("a", "images", 110, "clean", 0.1, np.nan),
    ]
    summary = pd.DataFrame(rows, columns=["architecture", "data", "index", "test_set", "mean", "std"])
    table = poison.table(summary, LABELS, {"z": [(0, 0, 18), (110, 200, 61), (0, 150, 7)]})
    assert table.header == [
        "network",
        "data",
        "carriers from NAD",
        "clean test data (%)",
        "with carriers (%)",
        "published",
    ]
    z = LABELS["z"]
    assert table.rows == [
        [z, "images", "none", "90.0 ± 1.0", "–", "–"],
        [z, "images", 0, "30.0 ± 3.0", "80.0 ± 2.0", "about 18, about 7"],
        [z, "images", 200, "50.0", "–", "about 61"],
        [z, "images", 201, "50.0", "–", "–"],
        [z, "mixture", 110, "20.0", "–", "–"],
        ["Alpha", "images", 110, "10.0", "–", "–"],
    ]
