"""Estimates of architectures against closed forms and each other."""

import dataclasses

import numpy as np
import pytest
import torch
from nads_samples import GRADIENT, SECANT, distance, linear_features
from torch import nn

from pipeline.nads import estimate
from pipeline.nads.covariance import Covariance
from pipeline.nads.jacobian import evaluation_point, jacobian_of


def test_the_covariance_of_a_linear_map_is_t2_ata():
    """C = t²AᵀA for f = θᵀAx with θ of variance t²: brute force over read-outs agrees with the
    exact expectation of a single network."""
    matrix = np.random.default_rng(1).standard_normal((5, 16)).astype(np.float32)
    torch.manual_seed(0)
    weights = torch.cat([nn.Linear(5, 1).weight.detach() for _ in range(20_000)]).numpy()
    vectors = weights @ matrix
    sampled = vectors.T @ vectors / len(vectors)
    for estimator in (GRADIENT, SECANT, dataclasses.replace(SECANT, step=1.0)):
        point = evaluation_point("normal", 0, 0, 16)
        jacobian = jacobian_of(linear_features(matrix), estimator, point, (1, 4, 4))
        assert distance(sampled, jacobian.T @ jacobian) < 0.03
        np.testing.assert_allclose(jacobian * np.sqrt(3 * 5), matrix, atol=1e-4)


@pytest.mark.parametrize("stride", [2, 4])
def test_one_strided_convolution_with_global_pooling_lives_on_periodic_patterns(stride):
    """C has rank S² at most, and every direction repeats with period S along rows and columns."""
    covariance, point = Covariance((1, 16, 16)), evaluation_point("normal", 0, 0, 256)
    for seed in range(40):
        torch.manual_seed(seed)
        layers = [nn.Conv2d(1, 8, stride, stride), nn.AvgPool2d(16 // stride), nn.Flatten()]
        network = nn.Sequential(*layers, nn.Linear(8, 1))
        covariance.add(jacobian_of(network, GRADIENT, point, (1, 16, 16)))
    nads = covariance.spectrum()
    first, last, beyond = nads.eigenvalues[[0, stride**2 - 1, stride**2]]
    assert beyond < 1e-6 * first < last
    for direction in nads.directions[: stride**2]:
        picture = direction.reshape(16, 16)
        for axis in (0, 1):
            np.testing.assert_allclose(np.roll(picture, stride, axis), picture, atol=1e-6)


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
