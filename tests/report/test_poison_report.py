"""What the figures of `poison` show."""

import numpy as np

from pipeline.report import published


def test_the_published_curve_stands_beside_ours(section_of):
    panel = section_of("poison").pictures[0].figure.axes[0]
    known = published.table("poison")["resnet18"]
    assert list(known) in [list(line.get_ydata()) for line in panel.lines]


def test_examples_are_the_first_pictures_of_the_first_classes(section_of):
    """Those of classes 0, 2 and 3, since there is none of class 1: numbers 4, 2 and 1, of which the
    first two have their carriers in channels 0 and 2: the pixel of NAD 10 becomes ± 0.25."""
    figure = section_of("poison").pictures[1].figure
    panels = np.reshape(figure.axes, (3, 3))
    assert [panel.get_ylabel() for panel in panels[:, 0]] == ["ape", "cat", "dog"]
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
