"""What the figures and the table of `flip` show."""

import drawing
import numpy as np
import pandas as pd
import pytest
from drawing import ENDING

from pipeline.report import flip

LABELS = {"wide": "Wide, width ×2", "plain": "Plain", "lone": "Lone"}


def accuracies(seeds=2, unfitted=()):
    """Of three networks, whose names are not in alphabetical order; `lone` was not trained on flipped images.

    unfitted: (architecture, images, seed) of networks with a training accuracy of 98 %.
    """
    means = {
        ("wide", "plain"): 0.81,
        ("wide", "flipped"): 0.42,
        ("plain", "plain"): 0.67,
        ("plain", "flipped"): 0.53,
        ("lone", "plain"): 0.31,
    }
    return pd.DataFrame(
        [
            {"architecture": name, "seed": seed, "images": images, "test_set": test, "accuracy": accuracy}
            | {"train_accuracy": 0.98 if (name, images, seed) in unfitted else 1.0}
            for (name, images), mean in means.items()
            for seed in range(seeds)
            for test, accuracy in (("all", mean + 0.04 * seed), ("other", 0.99))
        ]
    )


def bars_of(panel):
    """x in the middle, height, colour and hatching of every bar."""
    return [
        (*drawing.numbers([bar.get_x() + bar.get_width() / 2, bar.get_height()]), drawing.colour(bar), bar.get_hatch())
        for bar in panel.patches
    ]


def test_bars_are_accuracies_on_plain_and_flipped_images():
    figure = flip.bars(accuracies(), LABELS, {}, 20, *ENDING)
    assert drawing.title_of(figure) == "Accuracy on images, and on images with their NAD coefficients in reverse order"
    (panel,) = figure.axes
    assert bars_of(panel) == [
        (-0.145, 83, "#0072b2", None),
        (0.855, 69, "#0072b2", None),
        (1.855, 33, "#0072b2", None),
        (0.145, 44, "#f6c667", "///"),
        (1.145, 55, "#f6c667", "///"),
    ]
    spread = 100 * np.std([0, 0.04], ddof=1)
    found = [drawing.whiskers(bar)[0] for bar in panel.containers if hasattr(bar, "patches")]
    assert found == [drawing.numbers([x, height - spread, height + spread]) for x, height, *_ in bars_of(panel)]
    expected = {(x, height + spread + 1): f"{height:.1f}" for x, height, *_ in bars_of(panel)}
    assert drawing.texts(panel) == {tuple(drawing.numbers(place)): text for place, text in expected.items()}
    assert drawing.ticks(panel.xaxis) == [(0, "Wide,\nwidth ×2"), (1, "Plain"), (2, "Lone")]
    assert [place for place, _ in drawing.ticks(panel.yaxis)] == [0, 20, 40, 60, 80, 100]
    assert panel.get_ylabel() == "test accuracy (%)"
    assert panel.get_xlim() == (-0.6, 2.6) and panel.get_ylim() == (0, 105)
    guessing = next(line for line in panel.lines if line.get_label() == "guessing")
    assert list(guessing.get_ydata()) == [20, 20]
    assert drawing.entries(panel.get_legend()) == [
        ("images as they are", "#0072b2"),
        ("flipped: NAD coefficients in reverse order", "#f6c667"),
        ("guessing", "#595959"),
    ]
    assert [patch.get_hatch() for patch in panel.get_legend().get_patches()] == [None, "///"]


def test_bars_of_one_seed_have_no_whiskers():
    (panel,) = flip.bars(accuracies(seeds=1), LABELS, {}, 20, *ENDING).axes
    assert all(bar.errorbar is None for bar in panel.containers)
    assert drawing.texts(panel)[-0.145, 82] == "81.0"


def test_published_accuracies_are_white_bars_to_the_right_of_ours():
    published = {
        "wide": ("published, full width", {"plain": 82.5, "flipped": 30}),
        "lone": ("published", {"plain": 72, "flipped": 90}),
    }
    (panel,) = flip.bars(accuracies(seeds=1), LABELS, published, 20, *ENDING).axes
    white = [bar for bar in bars_of(panel) if bar[2] == "#ffffff"]
    # Two of a pair touch: ours is 0.25 wide, the published one 0.16; between the pairs there are 0.04.
    assert white == [
        (-0.1, 82.5, "#ffffff", None),
        (1.9, 72, "#ffffff", None),
        (0.35, 30, "#ffffff", "///"),
        (2.35, 90, "#ffffff", "///"),
    ]
    ours = [bar for bar in bars_of(panel) if bar[2] != "#ffffff"]
    assert [bar[:2] for bar in ours] == [(-0.305, 81), (0.855, 67), (1.695, 31), (0.145, 42), (1.145, 53)]
    texts = drawing.texts(panel)
    assert texts[-0.305, 82] == "81.0" and texts[-0.1, 83.5] == "82.5" and texts[0.35, 31] == "30"
    legend = panel.get_legend()
    assert [text.get_text() for text in legend.get_texts()][2:] == ["published", "guessing"]
    assert [label for _, label in drawing.ticks(panel.xaxis)] == [
        "Wide,\nwidth ×2\n(published, full width)",
        "Plain",
        "Lone",
    ]


def test_bars_of_networks_that_were_not_all_fitted_have_a_dashed_outline():
    unfitted = [("wide", "flipped", 1), ("lone", "plain", 0), ("lone", "plain", 1)]
    (panel,) = flip.bars(accuracies(unfitted=unfitted), LABELS, {}, 20, *ENDING).axes
    dashed = [round(bar.get_x() + bar.get_width() / 2, 6) for bar in panel.patches if bar.get_linestyle() != "-"]
    assert dashed == [1.855, 0.145]


def changes(seeds=2):
    rows = [
        (operation, first, last, turned * place, stretch * place)
        for operation, turned, stretch in (("remove", 0.01, 0.1), ("flip", 0.02, 0.15))
        for place, (first, last) in enumerate([(0, 0), (2, 3), (4, 7), (2, 2), (1000, 1000)], 1)
    ]
    return pd.DataFrame(
        [
            {
                "seed": seed,
                "operation": o,
                "first": f,
                "last": n,
                "changed": c + 0.01 * seed,
                "relative_change": r * 2**seed,
            }
            for seed in range(seeds)
            for o, f, n, c, r in rows
        ]
    ).sample(frac=1, random_state=0)


def test_components_are_altered_in_bands_above_and_alone_below():
    figure = flip.components(changes(), "What counts", *ENDING)
    assert drawing.title_of(figure) == "What counts"
    panels = figure.axes
    assert [panel.get_title() for panel in panels] == [
        "components removed",
        "components with their sign turned",
        "",
        "",
    ]
    assert [panel.get_xlabel() for panel in panels] == ["band of NAD indices"] * 2 + ["NAD index"] * 2
    assert [panel.get_ylabel() for panel in panels] == ["per cent", "", "per cent", ""]
    bands, single = [(0, "0"), (1, "2–3"), (2, "4–7")], [(0, "0"), (1, "2"), (2, "1000")]
    assert [drawing.ticks(panel.xaxis) for panel in panels] == [bands, bands, single, single]
    # Means over the seeds: 1.5 times the first seed's change of the image, half a per cent more than its predictions.
    places = [1, 2, 3], [1, 2, 3], [1, 4, 5], [1, 4, 5]
    for panel, place, (turned, stretch) in zip(panels, places, [(1, 10), (2, 15)] * 2):
        heights = [1.5 * stretch * p for p in place]
        assert [bar[:3] for bar in bars_of(panel)] == [(x, h, "#bbbbbb") for x, h in enumerate(heights)]
        spread = np.array(heights) * np.std([1, 2], ddof=1) / 1.5
        (bars,) = (container for container in panel.containers if hasattr(container, "patches"))
        np.testing.assert_allclose(
            drawing.whiskers(bars), np.stack([range(3), heights - spread, heights + spread], 1), atol=1e-9
        )
        (found, bars, colour, line, marker) = drawing.curves(panel)["predictions that change"]
        assert found == [[x, turned * p + 0.5] for x, p in enumerate(place)]
        assert (colour, line, marker) == ("#d55e00", "-", "o")
        assert np.allclose([bar[2] - bar[1] for bar in bars], 2 * np.std([0, 1], ddof=1))
    assert drawing.entries(panels[0].get_legend()) == [
        ("relative change of the image", "#bbbbbb"),
        ("predictions that change", "#d55e00"),
    ]
    assert all(panel.get_legend() is None for panel in panels[1:])
    assert panels[0].get_ylim() == panels[1].get_ylim() and panels[2].get_ylim() == panels[3].get_ylim()
    highest = 15 * 3 * (1.5 + np.std([1, 2], ddof=1))
    assert panels[0].get_ylim() == pytest.approx((0, 1.25 * 1.05 * highest)) and panels[2].get_ylim()[0] == 0


def test_components_of_one_seed_have_no_whiskers():
    for panel in flip.components(changes(seeds=1), "What counts", *ENDING).axes:
        assert not any(bars for _, bars, *_ in drawing.curves(panel).values())
        assert all(c.errorbar is None for c in panel.containers if hasattr(c, "patches"))


def test_a_band_of_one_seed_leaves_the_others_their_whiskers():
    rows = changes()
    figure = flip.components(rows[(rows["last"] != 7) | (rows["seed"] == 0)], "What counts", *ENDING)
    for panel in figure.axes[:2]:
        _, whiskers, *_ = drawing.curves(panel)["predictions that change"]
        (bars,) = (container for container in panel.containers if hasattr(container, "patches"))
        assert [x for x, *_ in whiskers] == [x for x, *_ in drawing.whiskers(bars)] == [0, 1]


def test_the_table_has_accuracies_in_test_and_training_and_the_published_ones():
    rows = [
        ("wide", "plain", 0.81, 0.021, 2, 0.999),
        ("wide", "flipped", 0.4, 0.01, 1, 0.98),
        ("a", "flipped", 0.2, np.nan, 0, 0.25),
        ("a", "plain", 0.3, np.nan, 2, 1.0),
    ]
    columns = ["architecture", "images", "mean", "std", "fitted", "train_accuracy"]
    summary = pd.DataFrame(rows, columns=columns).assign(seeds=2)
    published = {"wide": ("published, full width", {"flipped": 48, "plain": 69})}
    table = flip.table(summary, LABELS | {"a": "A"}, published)
    assert table.header == [
        "network",
        "plain (%)",
        "flipped (%)",
        "training accuracy, plain (%) (fitted seeds)",
        "training accuracy, flipped (%) (fitted seeds)",
        "published (plain / flipped)",
    ]
    trained = ["99.9 (2 of 2)", "98.0 (1 of 2)"]
    assert table.rows == [
        ["Wide, width ×2", "81.0 ± 2.1", "40.0 ± 1.0", *trained, "69 / 48, full width"],
        ["A", "30.0", "20.0", "100.0 (2 of 2)", "25.0 (0 of 2)", "–"],
    ]
