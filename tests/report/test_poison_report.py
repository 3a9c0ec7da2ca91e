"""What the figures of `poison` show."""

import base64

import numpy as np

from pipeline.report import published
from pipeline.report.site import photographs


def test_the_published_curve_stands_beside_ours(section_of):
    panel = section_of("poison").pictures[0].figure.axes[0]
    known = published.read_published("poison")["resnet18"]
    assert list(known) in [list(line.get_ydata()) for line in panel.lines]


def test_a_photograph_has_its_coefficients_and_their_reverse_order(whole):
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(1024, 1024)))[0]
    nads = {"directions": basis, "shape": (1, 32, 32)}
    # The five classes have one NAD in common, with either sign in one of three
    # channels.
    found = photographs.make_pictures(whole.experiments["poison"], nads, [1022, 7])
    assert found["tiles"]["indices"].tolist() == [7, 1022]
    assert found["classes"][4] == ["eel", 0, 1, -1]
    for shown in found["photographs"]:
        pixels = np.frombuffer(base64.b64decode(shown["pixels"]), np.uint8).reshape(
            3, 1024
        )
        coefficients = pixels / 255 @ basis.T
        np.testing.assert_allclose(
            shown["coefficients"][7], coefficients[:, 7], atol=1e-4
        )
        turned = coefficients[:, ::-1] @ basis
        turned = 255 * (turned - turned.min()) / np.ptp(turned)
        flipped = np.frombuffer(base64.b64decode(shown["flipped"]), np.uint8).reshape(
            3, 1024
        )
        np.testing.assert_allclose(flipped, turned, atol=0.6)
