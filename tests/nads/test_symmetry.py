"""Symmetries of the square: images under them, and the average over them as a projection."""

import numpy as np
import pytest
from nads_samples import images_of_covariance

from pipeline.nads.symmetry import (
    ORDERS,
    SYMMETRIES,
    images_of_vectors,
    square_of_symmetrised,
    symmetrised,
)

SHAPE = (2, 3, 3)


@pytest.fixture
def matrix():
    """A matrix (18, 18) of integers, of which the mean over eight elements is exact."""
    return np.random.default_rng(0).integers(-1000, 1000, (18, 18)).astype(float)


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_the_average_is_the_mean_over_the_elements_each_of_which_leaves_it(symmetry, matrix):
    mean = symmetrised(symmetry, matrix, SHAPE)
    images = images_of_covariance(symmetry, matrix, SHAPE)
    np.testing.assert_array_equal(sum(images) / ORDERS[symmetry], mean)
    for image in images_of_covariance(symmetry, mean, SHAPE):
        np.testing.assert_array_equal(image, mean)


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_the_square_of_an_averaged_sample_comes_from_its_vectors(symmetry, matrix):
    vectors = matrix[:3]
    averaged = symmetrised(symmetry, vectors.T @ vectors, SHAPE)
    square = square_of_symmetrised(symmetry, vectors, SHAPE)
    assert square == pytest.approx((averaged**2).sum(), rel=1e-12)


@pytest.mark.parametrize("channels", [1, 3])
def test_the_elements_of_each_group(channels):
    """The square's are the four rotations of a picture and of its transposed; every channel keeps
    its place."""
    shape = (channels, 4, 4)
    picture = np.arange(channels * 16.0).reshape(shape)
    turned = {"none": [picture], "transposition": [picture, picture.transpose(0, 2, 1)]}
    turned["square"] = [np.rot90(p, k, (1, 2)) for p in turned["transposition"] for k in range(4)]
    assert list(turned) == list(SYMMETRIES)
    for symmetry, expected in turned.items():
        images = images_of_vectors(symmetry, picture.reshape(1, -1), shape)
        found = [tuple(image.ravel()) for image in images]
        assert found[0] == tuple(picture.ravel())
        assert len(found) == ORDERS[symmetry]
        assert set(found) == {tuple(p.ravel()) for p in expected}
        diagonals = images_of_covariance(symmetry, np.diag(picture.ravel()), shape)
        assert [tuple(np.diag(image)) for image in diagonals] == found
