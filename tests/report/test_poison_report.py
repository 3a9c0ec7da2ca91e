"""What the figures of `poison` show."""

import base64

import numpy as np

from pipeline.report import published
from pipeline.report.site import photographs


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


def test_a_photograph_has_its_coefficients_and_their_reverse_order(whole):
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(1024, 1024)))[0]
    nads = {"directions": basis, "shape": (1, 32, 32)}
    # The five classes have one NAD in common, with either sign in one of three channels.
    found = photographs.pictures(whole.experiments["poison"], nads, [1022, 7])
    assert found["tiles"]["indices"].tolist() == [7, 1022] and found["classes"][4] == [
        "eel",
        0,
        1,
        -1,
    ]
    for shown in found["photographs"]:
        pixels = np.frombuffer(base64.b64decode(shown["pixels"]), np.uint8).reshape(3, 1024)
        coefficients = pixels / 255 @ basis.T
        np.testing.assert_allclose(shown["coefficients"][7], coefficients[:, 7], atol=1e-4)
        turned = coefficients[:, ::-1] @ basis
        turned = 255 * (turned - turned.min()) / np.ptp(turned)
        flipped = np.frombuffer(base64.b64decode(shown["flipped"]), np.uint8).reshape(3, 1024)
        np.testing.assert_allclose(flipped, turned, atol=0.6)
