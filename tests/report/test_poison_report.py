"""What the figures of `poison` show."""

import base64

import numpy as np
from small_run import make_nads

from pipeline.report import published
from pipeline.report.site import photographs


def test_the_published_curve_is_in_the_figure(section_of):
    panel = section_of("poison").pictures[0].figure.axes[0]
    values = published.read_published("poison")["resnet18"].tolist()
    assert values in [list(line.get_ydata()) for line in panel.lines]


def decode(text):
    """The pixels of a photograph on the page, (3, 1024)."""
    return np.frombuffer(base64.b64decode(text), np.uint8).reshape(3, 1024)


def test_a_photograph_has_its_coefficients_and_their_reverse_order(whole):
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(1024, 1024)))[0]
    nads = make_nads(basis, (1, 32, 32))
    # The five classes have one NAD in common, with either sign in one of three
    # channels.
    made = photographs.make_pictures(whole.experiments["poison"], nads, [1022, 7])
    assert made["tiles"]["indices"].tolist() == [7, 1022]
    assert made["classes"][4] == ["eel", 0, 1, -1]
    for photograph in made["photographs"]:
        coefficients = decode(photograph["pixels"]) / 255 @ basis.T
        np.testing.assert_allclose(
            photograph["coefficients"][7], coefficients[:, 7], atol=1e-4
        )
        flipped = coefficients[:, ::-1] @ basis
        flipped = 255 * (flipped - flipped.min()) / np.ptp(flipped)
        np.testing.assert_allclose(decode(photograph["flipped"]), flipped, atol=0.6)
