"""What the figure and the table of `image_pairs` show."""

import drawing
import numpy as np
import pandas as pd
import pytest
from drawing import ENDING

from pipeline.project import artifacts
from pipeline.report import image_pairs

LABELS = {"second": "Zeta", "first": "Alpha"}
SIGMAS = {"first": 1.0, "second": 3.5}
MEANS = {"all": 0.9, "linear": 0.7, "images": 0.6, "conflict": 0.4}
LOOKS = {
    "both": ("#000000", "-", "o"),
    "linear channel alone": ("#0072b2", "--", "s"),
    "images alone": ("#d55e00", ":", "^"),
    "linear channel against\nimages of the other side": ("#009e73", "-.", "D"),
}


def results(seeds=2):
    """Rows of two networks; that of the second one's seed 1 was not fitted at index 64."""
    return pd.DataFrame(
        [
            {"architecture": name, "seed": seed, "index": index, "test_set": test}
            | {"accuracy": mean + less - index / 10000 + 0.02 * seed}
            | {"train_accuracy": 0.98 if (name, seed, index) == ("second", 1, 64) else 0.99}
            for name, less in (("second", -0.1), ("first", 0))
            for index in (64, 1)
            for seed in range(seeds)
            for test, mean in reversed(MEANS.items())
        ]
    )


def drawn(rows):
    return image_pairs.images_or_linear_channel(rows, LABELS, SIGMAS, 61.25, *ENDING)


def test_points_are_joined_where_there_are_more_than_two():
    rows = results()
    third = rows[(rows["index"] == 1) & (rows["architecture"] == "first")].assign(index=8)
    for panel, count in zip(drawn(pd.concat([rows, third])).axes, (2, 3)):
        curves = [line for line in panel.lines if len(line.get_xdata()) == count and line.get_marker() in list("os^D")]
        assert len(curves) == len(LOOKS) and {line.get_linewidth() > 0 for line in curves} == {count > 2}


def test_each_test_set_has_its_own_curve():
    figure = drawn(results())
    assert drawing.title_of(figure) == "Images ⊕ D(v): what is used when both suffice"
    assert [panel.get_title() for panel in figure.axes] == ["Zeta, σ = 3.5", "Alpha, σ = 1"]
    assert [panel.get_ylabel() for panel in figure.axes] == ["test accuracy (%)", ""]
    half = 100 * np.std([0, 0.02], ddof=1)
    for panel, less in zip(figure.axes, (10, 0)):
        assert panel.get_xlabel() == "NAD index of $v$" and panel.get_xscale() == "log"
        assert drawing.ticks(panel.xaxis) == [(2, "1"), (65, "64")]
        # In a conflict a network that follows the images has an accuracy near 0.
        assert panel.get_ylim()[0] < 0 and panel.get_ylim()[1] > 100
        found = drawing.curves(panel)
        assert list(found) == list(LOOKS)
        for (label, look), mean in zip(LOOKS.items(), MEANS.values()):
            heights = [(index + 1, 100 * mean - less - index / 100 + 1) for index in (1, 64)]
            assert found[label][0] == [[x, drawing.numbers(y)] for x, y in heights]
            assert found[label][1] == [drawing.numbers([x, y - half, y + half]) for x, y in heights]
            assert found[label][2:] == look
        assert not len(panel.get_xticks(minor=True))
    first, last = figure.axes
    assert first.get_shared_y_axes().joined(first, last) and first.get_legend() is None
    guessing = ("always the larger side (61.2 %)", "#999999")
    assert drawing.entries(last.get_legend()) == [guessing, *((label, look[0]) for label, look in LOOKS.items())]


def test_guessing_is_the_share_of_the_larger_side():
    for panel in drawn(results()).axes:
        (line,) = [line for line in panel.lines if line.get_label().startswith("always")]
        assert list(line.get_ydata()) == [61.25, 61.25]


def hollow(panel):
    """The points drawn hollow, by marker."""
    lines = (line for line in panel.lines if line.get_markerfacecolor() == "white")
    return {line.get_marker(): drawing.points(line) for line in lines}


def test_points_at_which_not_every_network_was_fitted_are_hollow():
    second, first = drawn(results()).axes
    assert not hollow(first)
    points = {curve[4]: [curve[0][1]] for curve in drawing.curves(second).values()}
    assert hollow(second) == points and all(found[0][0] == 65 for found in points.values())


def test_without_conflicts_there_is_no_curve_of_them():
    for panel in drawn(results().query("test_set != 'conflict'")).axes:
        assert list(drawing.curves(panel)) == list(LOOKS)[:3]


def test_one_seed_has_no_whiskers():
    (panel,) = drawn(results(seeds=1).query("architecture == 'first'")).axes
    assert not any(whiskers for _, whiskers, *_ in drawing.curves(panel).values())


def test_points_of_one_seed_among_several_leave_the_others_their_whiskers():
    rows = results().query("architecture == 'first'")
    (panel,) = drawn(rows[(rows["index"] == 1) | (rows["seed"] == 0)]).axes
    for points, whiskers, *_ in drawing.curves(panel).values():
        assert [x for x, _ in points] == [2, 65] and [x for x, *_ in whiskers] == [2]


def test_a_long_caption_is_broken_into_lines_that_the_figure_holds():
    rows, caption = results(), "one line\n" + " ".join(["word"] * 60)
    figure = image_pairs.images_or_linear_channel(rows, LABELS, SIGMAS, 50, caption, None)
    lines = figure._supxlabel.get_text().splitlines()
    assert lines[0] == "one line" and len(lines) > 2 and " ".join(lines) == caption.replace("\n", " ")
    figure.draw_without_rendering()
    box = figure._supxlabel.get_window_extent()
    assert box.x0 > 0 and box.x1 < figure.bbox.width


def test_the_table_has_a_row_for_each_network_and_index():
    rows = [
        ("second", 64, "images", 0.61, 0.03, 2, 1, 0.985),
        ("second", 64, "all", 0.9, 0.01, 2, 1, 0.985),
        ("second", 64, "linear", 0.55, 0.02, 2, 1, 0.985),
        ("second", 64, "conflict", 0.25, 0.04, 2, 1, 0.985),
        ("first", 1, "all", 0.8, np.nan, 1, 1, 1.0),
        ("first", 1, "linear", 0.7, np.nan, 1, 1, 1.0),
        ("first", 1, "images", 0.5, np.nan, 1, 1, 1.0),
    ]
    columns = ["architecture", "index", "test_set", "mean", "std", "seeds", "fitted", "train_accuracy"]
    table = image_pairs.table(pd.DataFrame(rows, columns=columns), LABELS)
    assert table.header == [
        "network",
        "NAD index of v",
        "both (%)",
        "linear alone (%)",
        "images alone (%)",
        "linear label against images of the other side (%)",
        "training accuracy (%) (fitted seeds)",
    ]
    assert table.rows == [
        ["Zeta", 64, "90.0 ± 1.0", "55.0 ± 2.0", "61.0 ± 3.0", "25.0 ± 4.0", "98.5 (1 of 2)"],
        ["Alpha", 1, "80.0", "70.0", "50.0", "–", "100.0 (1 of 1)"],
    ]


def test_of_many_classes_the_first_and_the_last_are_named():
    assert image_pairs.named(["cat", "dog"]) == "cat, dog"
    assert image_pairs.named([f"c{number}" for number in range(50)]) == "c0 to c49 (50 classes)"


@pytest.mark.parametrize(("labels", "share"), [([[1, 1, -1, 1], [1, 1, -1, -1]], 62.5), ([[-1, -1, 1, -1]], 75.0)])
def test_the_larger_sides_share_is_that_of_all_test_sets(labels, share, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = artifacts.DATASETS / "image_pairs"
    folder.mkdir(parents=True)
    for seed, values in enumerate(labels, start=3):
        np.savez(folder / f"draw-{seed}.npz", test_labels=np.array(values, np.int8))
    assert image_pairs.majority(range(3, 3 + len(labels))) == share


def found(cells, conflict=True):
    """The sentence on a network; cells: index → for each seed the linear channel alone, images alone, conflict, training."""
    rows = [
        {
            "architecture": "net",
            "seed": seed,
            "index": index,
            "test_set": test,
            "accuracy": value,
            "train_accuracy": trained,
        }
        for index, seeds in cells.items()
        for seed, (*values, trained) in enumerate(seeds)
        for test, value in zip(("all", "linear", "images", "conflict"), (1.0, *values))
        if conflict or test != "conflict"
    ]
    return image_pairs.used(pd.DataFrame(rows), "Net")


LINEAR, IMAGES, NEITHER = (0.99, 0.5, 0.98, 1.0), (0.5, 0.7, 0.3, 0.995), (0.2, 0.9, 0.1, 0.98)


def test_what_was_found_is_where_a_network_turns_to_the_images():
    sentence = found(
        {1: [LINEAR, (0.97, 0.52, 0.96, 0.99)], 8: [LINEAR] * 2, 64: [IMAGES, NEITHER], 900: [NEITHER] * 2}
    )
    # Of the networks that were fitted only: at index 64 one of two, at 900 none.
    assert sentence == (
        "image_pairs, Net (5 of 8 networks fitted): the linear channel alone gives more up to index 8, the images alone from index "
        "64 on: 98.0 ± 1.4 against 51.0 ± 1.4 % at 1 (n = 2), 50.0 against 70.0 % at 64 (n = 1); where the two disagree, the linear "
        "channel's label wins in 97.0 ± 1.4 % at 1, 30.0 % at 64; at index 900 no network was fitted."
    )


@pytest.mark.parametrize(
    ("cells", "beginning"),
    [
        (
            {1: [LINEAR], 8: [LINEAR]},
            "the linear channel alone gives more than the images alone at indices 1, 8: 99.0 against",
        ),
        (
            {8: [IMAGES]},
            "the images alone give more than the linear channel alone at index 8: 50.0 against 70.0 % at 8 (n = 1);",
        ),
        (
            {1: [IMAGES], 8: [LINEAR]},
            "the linear channel alone gives more at index 8, the images alone at index 1: 50.0 against",
        ),
    ],
)
def test_what_was_found_where_a_network_does_not_turn(cells, beginning):
    count = len(cells)
    assert found(cells).startswith(f"image_pairs, Net ({count} of {count} networks fitted): {beginning}")


def test_nothing_is_found_of_networks_that_were_not_fitted():
    assert found({1: [NEITHER], 8: [NEITHER]}) == (
        "image_pairs, Net (0 of 2 networks fitted): nothing is said of what it uses, since training accuracies are below 99 %."
    )


def test_without_conflicts_nothing_is_said_of_them():
    assert found({1: [LINEAR]}, conflict=False).endswith("at index 1: 99.0 against 50.0 % at 1 (n = 1).")
