"""What the figure and the table of `image_pairs` show."""

import drawing
import numpy as np
import pandas as pd
from drawing import ENDING

from pipeline.report import image_pairs

LABELS = {"second": "Zeta", "first": "Alpha"}
SIGMAS = {"first": 1.0, "second": 3.5}
MEANS = {"all": 0.9, "linear": 0.7, "images": 0.6}
LOOKS = {
    "both": ("#000000", "-", "o"),
    "linear channel alone": ("#0072b2", "--", "s"),
    "images alone": ("#d55e00", ":", "^"),
}


def results(seeds=2):
    return pd.DataFrame(
        [
            {"architecture": name, "seed": seed, "index": index, "test_set": test}
            | {"accuracy": mean + less - index / 10000 + 0.02 * seed}
            for name, less in (("second", -0.1), ("first", 0))
            for index in (64, 1)
            for seed in range(seeds)
            for test, mean in reversed(MEANS.items())
        ]
    )


def test_each_part_of_the_input_has_its_own_curve():
    figure = image_pairs.images_or_linear_channel(results(), LABELS, SIGMAS, *ENDING)
    assert drawing.title_of(figure) == "Images ⊕ D(v): what is used when both suffice"
    assert [panel.get_title() for panel in figure.axes] == ["Zeta, σ = 3.5", "Alpha, σ = 1"]
    assert [panel.get_ylabel() for panel in figure.axes] == ["test accuracy (%)", ""]
    half = 100 * np.std([0, 0.02], ddof=1)
    for panel, less in zip(figure.axes, (10, 0)):
        assert panel.get_xlabel() == "NAD index of $v$" and panel.get_xscale() == "log"
        assert drawing.ticks(panel.xaxis) == [(2, "1"), (65, "64")] and panel.get_ylim() == (45, 102)
        found = drawing.curves(panel)
        assert list(found) == list(LOOKS)
        for (label, look), mean in zip(LOOKS.items(), MEANS.values()):
            heights = [(index + 1, 100 * mean - less - index / 100 + 1) for index in (1, 64)]
            assert found[label][0] == [[x, drawing.numbers(y)] for x, y in heights]
            assert found[label][1] == [drawing.numbers([x, y - half, y + half]) for x, y in heights]
            assert found[label][2:] == look
        assert any(list(line.get_ydata()) == [50, 50] for line in panel.lines)
        assert not len(panel.get_xticks(minor=True))
    first, last = figure.axes
    assert first.get_shared_y_axes().joined(first, last) and first.get_legend() is None
    assert drawing.entries(last.get_legend()) == [(label, look[0]) for label, look in LOOKS.items()]


def test_one_seed_has_no_whiskers():
    (panel,) = image_pairs.images_or_linear_channel(
        results(seeds=1).query("architecture == 'first'"), LABELS, SIGMAS, *ENDING
    ).axes
    assert not any(whiskers for _, whiskers, *_ in drawing.curves(panel).values())


def test_points_of_one_seed_among_several_leave_the_others_their_whiskers():
    rows = results().query("architecture == 'first'")
    (panel,) = image_pairs.images_or_linear_channel(
        rows[(rows["index"] == 1) | (rows["seed"] == 0)], LABELS, SIGMAS, *ENDING
    ).axes
    for points, whiskers, *_ in drawing.curves(panel).values():
        assert [x for x, _ in points] == [2, 65] and [x for x, *_ in whiskers] == [2]


def test_the_table_has_a_row_for_each_network_and_index():
    rows = [
        ("second", 64, "images", 0.61, 0.03),
        ("second", 64, "all", 0.9, 0.01),
        ("second", 64, "linear", 0.55, 0.02),
        ("first", 1, "all", 0.8, np.nan),
        ("first", 1, "linear", 0.7, np.nan),
        ("first", 1, "images", 0.5, np.nan),
    ]
    table = image_pairs.table(pd.DataFrame(rows, columns=["architecture", "index", "test_set", "mean", "std"]), LABELS)
    assert table.header == ["network", "NAD index of v", "both (%)", "linear alone (%)", "images alone (%)"]
    assert table.rows == [
        ["Zeta", 64, "90.0 ± 1.0", "55.0 ± 2.0", "61.0 ± 3.0"],
        ["Alpha", 1, "80.0", "70.0", "50.0"],
    ]
