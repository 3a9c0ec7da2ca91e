"""Images whose principal components are put in order and scaled."""

import numpy as np
import pytest
import torch

from pipeline.nads import load
from studies.scaled import (
    SCALES,
    TARGETS,
    make_matrix,
    multiply,
    plan_networks,
    scale_of,
)

VARIANCES = np.array([16.0, 4.0, 1.0])
EIGENVALUES = np.array([81.0, 16.0, 1.0])


@pytest.mark.parametrize("name", SCALES)
def test_scales_keep_the_sum_of_the_variances(name):
    factors = scale_of(name, VARIANCES, EIGENVALUES)
    assert VARIANCES @ factors**2 == pytest.approx(VARIANCES.sum())


def test_white_components_have_one_variance_and_responses_fall_less_steeply():
    white = VARIANCES * scale_of("white", VARIANCES, EIGENVALUES) ** 2
    np.testing.assert_allclose(white, 7)
    factors = scale_of("response", VARIANCES, EIGENVALUES)
    np.testing.assert_allclose(factors / factors[2], [1 / 3, 1 / 2, 1])


@pytest.fixture(scope="module")
def images():
    """Noise whose columns have falling variances."""
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(1200, 1, 32, 32, generator=rng)
    return x / torch.arange(1, 33)


@pytest.fixture
def make(images):
    """Make the matrix of a target and a scale."""

    def make(target, scale):
        return make_matrix(images, load("lenet"), target, scale, rng())

    return make


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("target", TARGETS)
def test_images_that_are_not_scaled_keep_their_norms(images, make, target):
    found = multiply(images, make(target, "none")).flatten(1).norm(dim=1)
    torch.testing.assert_close(found, images.flatten(1).norm(dim=1), rtol=1e-4, atol=0)


@pytest.mark.parametrize("target", TARGETS)
def test_white_images_have_the_same_variance_everywhere(images, make, target):
    white = multiply(images, make(target, "white"))
    covariance = torch.cov(white.flatten(1).T)
    expected = covariance.trace() / 1024 * torch.eye(1024)
    torch.testing.assert_close(covariance, expected, rtol=0, atol=0.02 * expected[0, 0])


def test_the_first_component_is_on_the_first_nad(images, make):
    mapped = multiply(images, make("nads", "none")).flatten(1)
    directions = torch.as_tensor(load("lenet").directions, dtype=torch.float32)
    variances = (mapped @ directions.T).var(0)
    assert variances.argmax() == 0
    assert (variances.diff() < 1e-4).all()


def test_images_in_place_stay_images(images, make):
    torch.testing.assert_close(
        multiply(images, make("images", "none")), images, rtol=0, atol=1e-4
    )
    nads = load("lenet")
    v = torch.as_tensor(nads.directions, dtype=torch.float32)
    scaled = multiply(v.reshape(-1, 1, 32, 32), make("images", "response")).flatten(1)
    factors = (scaled * v).sum(1)
    torch.testing.assert_close(scaled, factors[:, None] * v, rtol=0, atol=1e-4)
    expected = (nads.eigenvalues[0] / nads.eigenvalues[100]) ** 0.25
    assert float(factors[100] / factors[0]) == pytest.approx(expected, rel=1e-3)


def test_both_networks_are_trained_alike():
    plan = plan_networks(["lenet", "mlp_200_50"])
    lenet, mlp = plan.members.values()
    assert lenet.training == mlp.training and lenet.training.epochs == 10
    assert mlp.specification["hidden"] == [200, 50]
