"""Symmetries of the square and the channels: images under them, and the average over
them as a projection."""

import itertools
import re

import numpy as np
import pytest

from pipeline.nads.symmetry import (
    ORDERS,
    move_vectors,
    one_channel,
    squared_norm,
    symmetrise,
)
from pipeline.networks import SYMMETRIES

SHAPE = (2, 3, 3)


def images_of_covariance(symmetry, matrix, shape):
    """The images P C Pᵀ of a covariance (D, D) under each element P of a symmetry."""
    moved = move_vectors(symmetry, np.eye(len(matrix)), shape)
    return [image.T @ matrix @ image for image in moved]


@pytest.fixture
def matrix():
    """A matrix (18, 18) of integers, of which the mean over eight elements is exact."""
    return np.random.default_rng(0).integers(-1000, 1000, (18, 18)).astype(float)


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_the_average_is_the_mean_over_the_elements_each_of_which_leaves_it(
    symmetry, matrix
):
    mean = symmetrise(symmetry, matrix, SHAPE)
    images = images_of_covariance(symmetry, matrix, SHAPE)
    np.testing.assert_array_equal(sum(images) / ORDERS[symmetry], mean)
    for image in images_of_covariance(symmetry, mean, SHAPE):
        np.testing.assert_array_equal(image, mean)


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_the_square_of_an_averaged_sample_comes_from_its_vectors(symmetry, matrix):
    vectors = matrix[:3]
    averaged = symmetrise(symmetry, vectors.T @ vectors, SHAPE)
    square = squared_norm(symmetry, vectors, SHAPE)
    assert square == pytest.approx((averaged**2).sum(), rel=1e-12)


@pytest.mark.parametrize("channels", [1, 3])
def test_the_elements_of_each_group(channels):
    """The square's are the four rotations of a picture and of its transposed; every
    channel keeps its place."""
    shape = (channels, 4, 4)
    picture = np.arange(channels * 16.0).reshape(shape)
    turned = {"none": [picture], "transposition": [picture, picture.transpose(0, 2, 1)]}
    turned["square"] = [
        np.rot90(p, k, (1, 2)) for p in turned["transposition"] for k in range(4)
    ]
    assert list(turned) == list(SYMMETRIES)
    for symmetry, expected in turned.items():
        images = move_vectors(symmetry, picture.reshape(1, -1), shape)
        found = [tuple(image.ravel()) for image in images]
        assert found[0] == tuple(picture.ravel())
        assert len(found) == ORDERS[symmetry]
        assert set(found) == {tuple(p.ravel()) for p in expected}
        diagonals = images_of_covariance(symmetry, np.diag(picture.ravel()), shape)
        assert [tuple(np.diag(image)) for image in diagonals] == found


def test_the_average_over_channels_and_their_signs_is_that_of_one_channel_in_each():
    """Over all 48 exchanges of three channels and turnings of their signs, one by one."""
    jacobian = np.random.default_rng(0).standard_normal((2, 3 * 4)).astype(np.float32)
    images = [
        (np.array(signs)[:, None] * jacobian.reshape(2, 3, 4)[:, order]).reshape(2, 12)
        for order in itertools.permutations(range(3))
        for signs in itertools.product((1, -1), repeat=3)
    ]
    mean = sum(image.T @ image for image in images) / 48
    one = one_channel(jacobian, 3)
    assert one.shape == (6, 4) and one.dtype == np.float32
    np.testing.assert_allclose(np.kron(np.eye(3), one.T @ one), mean, atol=1e-6)
    np.testing.assert_array_equal(one_channel(jacobian, 1), jacobian)


@pytest.mark.parametrize("word", ["square+channels", "measured", "squares"])
@pytest.mark.parametrize("function", [symmetrise, move_vectors])
def test_a_word_that_is_no_symmetry_of_the_square_is_never_taken_for_none(
    function, word, matrix
):
    with pytest.raises(KeyError, match=re.escape(word)):
        function(word, matrix, SHAPE)
