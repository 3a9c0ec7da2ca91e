"""What the figures and the table of `flip` show."""

import drawing
import numpy as np
import pandas as pd
import pytest
from drawing import ENDING

from pipeline.report import flip

LABELS = {"wide": "Wide, width ×2", "plain": "Plain", "lone": "Lone"}


def accuracies(seeds=2):
    """Of three networks, whose names are not in alphabetical order; `lone` was not trained on flipped images."""
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
        (-0.19, 83, "#0072b2", None),
        (0.81, 69, "#0072b2", None),
        (1.81, 33, "#0072b2", None),
        (0.19, 44, "#f6c667", "///"),
        (1.19, 55, "#f6c667", "///"),
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
    assert drawing.texts(panel)[-0.19, 82] == "81.0"


def test_crosses_are_published_accuracies_and_numbers_make_way_for_them():
    published = {"wide": (82.5, 30), "plain": (72, 90)}
    (panel,) = flip.bars(accuracies(seeds=1), LABELS, published, 20, *ENDING).axes
    crosses = [drawing.points(cross)[0] for cross in drawing.crosses(panel)]
    assert crosses == [[-0.1, 82.5], [0.9, 72.0], [0.28, 30], [1.28, 90]]
    assert drawing.texts(panel) == {
        (-0.19, 85.5): "81.0",  # the cross, at 82.5, is where the number would stand
        (0.81, 68): "67.0",  # it is five above the bar: far enough
        (1.81, 32): "31.0",
        (0.19, 43): "42.0",
        (1.19, 54): "53.0",
    }
    assert dict(drawing.entries(panel.get_legend()))["published"] == "#000000"


@pytest.mark.parametrize(("value", "height"), [(78.0, 82), (78.5, 82), (80.9, 83.9), (85.9, 88.9), (86.0, 82)])
def test_a_number_makes_way_for_a_cross_from_three_below_to_five_above_the_bar(value, height):
    (panel,) = flip.bars(accuracies(seeds=1), LABELS, {"wide": (value, 10)}, 20, *ENDING).axes
    assert drawing.texts(panel)[-0.19, height] == "81.0"


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


def test_the_table_has_both_accuracies_and_the_published_ones():
    rows = [
        ("wide", "plain", 0.81, 0.021),
        ("wide", "flipped", 0.4, 0.01),
        ("a", "flipped", 0.2, np.nan),
        ("a", "plain", 0.3, np.nan),
    ]
    summary = pd.DataFrame(rows, columns=["architecture", "images", "mean", "std"])
    table = flip.table(summary, LABELS | {"a": "A"}, {"wide": (69, 48)})
    assert table.header == ["network", "plain (%)", "flipped (%)", "published"]
    assert table.rows == [["Wide, width ×2", "81.0 ± 2.1", "40.0 ± 1.0", "69 / 48"], ["A", "30.0", "20.0", "–"]]
