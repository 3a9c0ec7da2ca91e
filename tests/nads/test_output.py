"""The estimand `output`: E[F Fᵀ] of networks from images to images, against closed forms."""

import numpy as np
from torch import nn

from pipeline.nads import estimate


def test_at_zero_a_convolution_draws_its_bias_alone():
    """F is the bias b everywhere, uniform from ±1/3 with nine weights, so λ₀ = D E[b²] = 16/27."""
    make = lambda: nn.Conv2d(1, 1, 3, padding=1)
    found = estimate(make, (1, 4, 4), 400, estimand="output", point="zero")
    np.testing.assert_allclose(found.directions[0], 0.25, atol=1e-6)
    np.testing.assert_allclose(found.eigenvalues[1:], 0, atol=1e-9)
    assert abs(found.eigenvalues[0] * 27 / 16 - 1) < 3 * (0.8 / 400) ** 0.5
    assert (found.estimand, found.method, found.point) == ("output", "plain", "zero")


def test_of_normal_images_a_filter_of_one_weight_draws_white_noise():
    """F = w x + b with w, b from ±1: C is a third of the identity and of the matrix of ones."""
    make = lambda: nn.Conv2d(2, 2, 1, groups=2)
    asked = {"estimand": "output", "point": "many", "symmetry": "square+channels"}
    found = estimate(make, (2, 4, 4), 3000, **asked)
    expected = [17 / 3, 17 / 3, *[1 / 3] * 30]
    assert (abs(found.eigenvalues - expected) < 5 * found.standard_errors).all()
