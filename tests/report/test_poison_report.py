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


def results(seeds=2, means=MEANS, unfitted=()):
    """unfitted: (architecture, data, index, seed) of networks with a training accuracy of 98 %."""
    return pd.DataFrame(
        [
            {"architecture": name, "seed": seed, "data": data, "index": index, "test_set": test}
            | {"accuracy": accuracy + 0.04 * seed if test == "clean" else 0.99}
            | {"train_accuracy": 0.98 if (name, data, index, seed) in unfitted else 1.0}
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
        assert panel.get_xscale() == "log" and [x for x, _ in drawing.ticks(panel.xaxis)] == [1, 11, 101, 1001]
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


def test_the_published_curve_lies_under_ours():
    known = pd.Series({0: 18.0, 99: 61.0, 399: 80.0})
    figure = poison.curve(results(), LABELS, {"a": known}, 10, *ENDING)
    lines = [[line for line in panel.lines if drawing.colour(line) == "#d55e00"] for panel in figure.axes]
    assert [len(found) for found in lines] == [0, 1, 0]
    (line,) = lines[1]
    assert drawing.points(line) == [[1, 18], [100, 61], [400, 80]] and line.get_marker() == "None"
    assert line.get_zorder() < min(curve[0].get_zorder() for curve in figure.axes[1].containers)
    entries = dict(drawing.entries(figure.legends[0]))
    assert entries["published: ResNet-18, full width,\n50,000 images, poisoned"] == "#d55e00"
    assert list(entries)[-1] == "guessing"


def test_points_and_levels_whose_networks_were_not_all_fitted_are_hollow():
    unfitted = [("z", "images", 40, 1), ("z", "images", 0, 0), ("z", "mixture", -1, 1), ("m", "mixture", -1, 0)]
    figure = poison.curve(results(unfitted=unfitted), LABELS, {}, 10, *ENDING)
    found = [
        [
            (*drawing.numbers(line.get_xdata()), drawing.colour(line))
            for line in panel.lines
            if line.get_markerfacecolor() == "white" and line.get_marker() not in ("None", "")
        ]
        for panel in figure.axes
    ]
    # A level's marker stands at 1 of the panel's width.
    assert [sorted(places, key=len) for places in found] == [[(1, "#0072b2"), (1, 41, "#000000")], [], [(1, "#0072b2")]]
    ends = [line for line in figure.axes[0].lines if list(line.get_xdata()) == [1]]
    assert [drawing.numbers(line.get_ydata()) for line in ends] == [[82], [72]]
    assert ends[0].get_markerfacecolor() == "#000000"


def picture(seed):
    return np.random.default_rng(seed).uniform(0.2, 0.8, (3, 4, 5))


def test_examples_are_clean_poisoned_and_different():
    clean = [picture(1), picture(2)]
    changes = np.zeros((2, 2, 3, 4, 5))
    changes[0, 0, 1, 2, 3], changes[0, 0, 0, 1, 4] = 1 / 32, -0.02
    changes[0, 1, 2, 0, 0] = -0.4
    changes[1, 0, 0, 0, 1] = 0.92
    poisoned = [[image + change for change in row] for image, row in zip(clean, changes)]
    figure = poison.examples(list(zip(clean, poisoned)), ["ape", "bee"], [0, 100], *ENDING)
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
    assert [panel.get_ylabel() for panel in panels[:, 0]] == ["ape", "bee"]
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
    panel = poison.examples([(image, [image])], ["ape"], [0], *ENDING).axes[0]
    assert panel.images[0].get_array().tolist() == [[[0, 1, 0.5]]]


@pytest.mark.parametrize(("size", "title"), [(1 / 32, "difference ×16"), (1 / 16, "difference ×8.0")])
def test_magnifications_under_ten_have_a_digit_more(size, title):
    image = np.full((3, 1, 1), 0.5)
    figure = poison.examples([(image, [image + size])], ["ape"], [0], *ENDING)
    assert figure.axes[2].get_title() == title


def test_the_table_has_both_test_sets_training_and_what_is_published_of_images():
    rows = [
        ("z", "images", -1, "clean", 0.9, 0.01, 2, 1.0),
        ("z", "images", 0, "poisoned", 0.8, 0.02, 1, 0.985),
        ("z", "images", 0, "clean", 0.3, 0.03, 1, 0.985),
        ("z", "images", 201, "clean", 0.5, np.nan, 0, 0.5),
        ("z", "mixture", 110, "clean", 0.2, np.nan, 2, 1.0),
        ("a", "images", 110, "clean", 0.1, np.nan, 2, 1.0),
    ]
    columns = ["architecture", "data", "index", "test_set", "mean", "std", "fitted", "train_accuracy"]
    summary = pd.DataFrame(rows, columns=columns).assign(seeds=2)
    table = poison.table(summary, LABELS, {"z": pd.Series({0: 17.6, 110: 60.0})})
    assert table.header == [
        "network",
        "data",
        "carriers from NAD",
        "clean test data (%)",
        "with carriers (%)",
        "training accuracy (%) (fitted seeds)",
        "published clean (ResNet-18, full width)",
    ]
    z = LABELS["z"]
    assert table.rows == [
        [z, "images", "none", "90.0 ± 1.0", "–", "100.0 (2 of 2)", "–"],
        [z, "images", 0, "30.0 ± 3.0", "80.0 ± 2.0", "98.5 (1 of 2)", "17.6"],
        [z, "images", 201, "50.0", "–", "50.0 (0 of 2)", "–"],
        [z, "mixture", 110, "20.0", "–", "100.0 (2 of 2)", "–"],
        ["Alpha", "images", 110, "10.0", "–", "100.0 (2 of 2)", "–"],
    ]
