"""What the figures, the table and the sentences of `poison` show."""

import drawing
import numpy as np
import pandas as pd
import small_run

from pipeline.report import poison

HALF = 0.1 * 2**0.5


def carried(unfitted=0):
    """Images along three NADs and the mixture along one, each beside its level without carriers."""
    places = [{"data": "images", "index": index} for index in (-1, 0, 40, 500)]
    places += [{"data": "mixture", "index": index} for index in (-1, 20)]
    rows = small_run.rows_of(places, tests=("clean", "poisoned"), unfitted=unfitted)
    part = {"indices": [0, 40, 500], "mixture_indices": [20]}
    return small_run.evaluated(small_run.plan("poison", {"size": 0.25}, [part] * 2), rows)


def levels(panel):
    """Horizontal lines across a panel: height and colour."""
    lines = [line for line in panel.lines if list(line.get_xdata()) == [0, 1]]
    return [(*drawing.numbers([line.get_ydata()[0]]), drawing.colour(line)) for line in lines]


def test_accuracies_stand_over_the_carriers_index_and_clean_training_is_a_level():
    values = pd.Series({0: 20.0, 10: 30.0})
    figure = poison.curve(carried(unfitted=6), {"a": ("published", values)}, "caption")
    panel = figure.axes[0]
    assert levels(panel) == [(20, "#999999"), (50.1, "#000000"), (53.3, "#0072b2")]
    images, mixture = [curve for curve in panel.containers if hasattr(curve, "has_yerr")]
    assert drawing.points(images[0]) == [[1, 50.9], [41, 51.7], [501, 52.5]]
    assert drawing.whiskers(images)[0] == drawing.numbers([1, 50.9 - HALF, 50.9 + HALF])
    assert drawing.points(mixture[0]) == [[21, 54.1]] and mixture[0].get_linewidth() == 0
    # Of the level and along NAD 0 one network or both were not fitted.
    assert drawing.hollow(panel) == [[[1, 50.1]], [[1, 50.9]]]
    (published,) = [line for line in figure.axes[1].lines if drawing.colour(line) == "#d55e00"]
    assert list(published.get_ydata()) == list(values)


def test_the_legend_has_hollow_markers_where_all_points_are_hollow():
    for unfitted, colours in ((0, ["#000000"] * 2 + ["#0072B2"] * 2), (48, ["white"] * 4)):
        (legend,) = poison.curve(carried(unfitted), {}, "caption").legends
        lines = legend.findobj(lambda part: getattr(part, "get_marker", str)() in ("o", "s"))
        assert [line.get_markerfacecolor() for line in lines] == colours


def test_examples_are_the_first_pictures_of_the_first_classes(section_of):
    """Those of classes 0 and 2, since there is none of class 1: numbers 4 and 2, with their
    carriers in channels 0 and 2, of which the pixel of NAD 10 becomes ± 0.25."""
    figure = section_of("poison").pictures[1].figure
    panels = np.reshape(figure.axes, (2, 3))
    assert [panel.get_ylabel() for panel in panels[:, 0]] == ["ape", "cat"]
    assert [panel.get_title() for panel in panels[0]] == ["clean", "index 10", "difference ×0.8"]
    for row, number, channel in zip(panels, (4, 2), (0, 2)):
        shade = (100 + number) / 255
        clean, carriers, difference = (panel.images[0].get_array() for panel in row)
        np.testing.assert_allclose(clean, np.full((32, 32, 3), shade), rtol=1e-6)
        changed = np.argwhere(np.abs(carriers - clean) > 1e-3)
        assert changed.tolist() == [[0, 10, channel]]
        assert carriers[0, 10, channel] == 0, "−0.25 is clipped where it is drawn"
        change = 255 * (shade + 0.25)
        size = f"rms {change / 3072**0.5:.3g}, max {change:.3g}\ngrey levels"
        assert row[2].get_xlabel() == size, "the differences are not clipped"
        assert difference[0, 10, channel] == 0 and (difference == 0.5).sum() >= 3 * 1024 - 3
