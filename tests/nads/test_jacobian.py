"""The Jacobian of one untrained network, and covariances with closed forms."""

import dataclasses

import numpy as np
import pytest
import torch
from nads_samples import GRADIENT, SECANT, distance, linear_features
from torch import nn

from pipeline import networks
from pipeline.nads import estimate
from pipeline.nads.covariance import Covariance
from pipeline.nads.jacobian import Sampler, evaluation_point, jacobian_of
from pipeline.training.seeds import derive, stream

LENET = {"network": "pipeline.networks.lenet:LeNet"}


@pytest.mark.parametrize("estimator", [SECANT, GRADIENT])
def test_plain_is_the_readout_applied_to_the_features(estimator):
    network = networks.build(LENET, 1, 1, 3)
    point = evaluation_point("normal", 0, 0, 1024)
    shape = (1, 32, 32)
    features = jacobian_of(network, estimator, point, shape) * np.sqrt(3 * 84)
    assert features.shape == (84, 1024)
    plain = dataclasses.replace(estimator, method="plain")
    found = jacobian_of(network, plain, point, shape)
    assert found.shape == (1, 1024)
    expected = network.fc3.weight.detach().numpy() @ features
    np.testing.assert_allclose(expected, found, atol=5e-6)


@pytest.mark.parametrize("estimator", [SECANT, GRADIENT])
def test_a_network_is_differentiated_as_it_is_evaluated(estimator):
    """Then batch norm is the identity, but for its 1e-5, and dropout is off."""
    network = nn.Sequential(
        nn.BatchNorm2d(1), nn.Dropout(0.9), nn.Flatten(), nn.Linear(16, 1)
    )
    point = evaluation_point("normal", 0, 0, 16)
    found = jacobian_of(network, estimator, point, (1, 4, 4))
    np.testing.assert_allclose(found, np.eye(16) / np.sqrt(48), atol=1e-5)
    assert not network.training
    assert network[0].num_batches_tracked == 0
    assert not any(parameter.requires_grad for parameter in network.parameters())


def test_points_and_weights_have_separate_seeds():
    """Cached estimates and published reports depend on these seeds."""
    rng = stream(5, "nads", "evaluation point")
    expected = rng.standard_normal(6, dtype=np.float32)
    np.testing.assert_array_equal(evaluation_point("normal", 5, 3, 6), expected)
    rng = stream(5, "nads", "evaluation point", 3)
    expected = rng.standard_normal(6, dtype=np.float32)
    np.testing.assert_array_equal(evaluation_point("many", 5, 3, 6), expected)
    assert not evaluation_point("zero", 5, 3, 6).any()
    seeds = []
    matrix = np.eye(6, dtype=np.float32)

    def build(seed):
        seeds.append(seed)
        return linear_features(matrix)

    sampler = Sampler(build, (1, 2, 3), (5, "net"), GRADIENT)
    sampler(0)
    sampler(7)
    assert seeds == [derive(5, "nads", "net", 0), derive(5, "nads", "net", 7)]


def test_the_covariance_of_a_linear_map_is_t2_ata():
    """C = t²AᵀA for f = θᵀAx with θ of variance t².

    Sampled read-outs agree with the exact expectation of a single network.
    """
    matrix = np.random.default_rng(1).standard_normal((5, 16)).astype(np.float32)
    torch.manual_seed(0)
    weights = [nn.Linear(5, 1).weight.detach() for _ in range(20_000)]
    vectors = torch.cat(weights).numpy() @ matrix
    sampled = vectors.T @ vectors / len(vectors)
    for estimator in (GRADIENT, SECANT, dataclasses.replace(SECANT, step=1.0)):
        point = evaluation_point("normal", 0, 0, 16)
        jacobian = jacobian_of(linear_features(matrix), estimator, point, (1, 4, 4))
        assert distance(sampled, jacobian.T @ jacobian) < 0.03
        np.testing.assert_allclose(jacobian * np.sqrt(3 * 5), matrix, atol=1e-4)


@pytest.mark.parametrize("stride", [2, 4])
def test_one_strided_convolution_with_global_pooling_has_periodic_nads(stride):
    """C has rank S² at most, and every direction repeats with period S."""
    covariance = Covariance((1, 16, 16))
    point = evaluation_point("normal", 0, 0, 256)
    for seed in range(40):
        torch.manual_seed(seed)
        layers = [
            nn.Conv2d(1, 8, stride, stride),
            nn.AvgPool2d(16 // stride),
            nn.Flatten(),
        ]
        network = nn.Sequential(*layers, nn.Linear(8, 1))
        covariance.add(jacobian_of(network, GRADIENT, point, (1, 16, 16)))
    nads = covariance.spectrum()
    first, last, beyond = nads.eigenvalues[[0, stride**2 - 1, stride**2]]
    assert beyond < 1e-6 * first < last
    for direction in nads.directions[: stride**2]:
        picture = direction.reshape(16, 16)
        for axis in (0, 1):
            shifted = np.roll(picture, stride, axis)
            np.testing.assert_allclose(shifted, picture, atol=1e-6)


def test_at_zero_only_the_bias_of_a_convolution_counts():
    """F is the bias b everywhere, uniform in ±1/3, so λ₀ = D E[b²] = 16/27."""

    def make():
        return nn.Conv2d(1, 1, 3, padding=1)

    found = estimate(make, (1, 4, 4), 400, estimand="output", point="zero")
    np.testing.assert_allclose(found.directions[0], 0.25, atol=1e-6)
    np.testing.assert_allclose(found.eigenvalues[1:], 0, atol=1e-9)
    assert abs(found.eigenvalues[0] * 27 / 16 - 1) < 3 * (0.8 / 400) ** 0.5
    assert (found.estimand, found.method, found.point) == ("output", "plain", "zero")


def test_a_filter_of_one_weight_turns_normal_images_into_white_noise():
    """F = w x + b with w, b in ±1: C is a third of the identity and of all ones."""

    def make():
        return nn.Conv2d(2, 2, 1, groups=2)

    found = estimate(
        make,
        (2, 4, 4),
        3000,
        estimand="output",
        point="many",
        symmetry="square+channels",
    )
    expected = [17 / 3, 17 / 3, *[1 / 3] * 30]
    assert (abs(found.eigenvalues - expected) < 5 * found.standard_errors).all()
