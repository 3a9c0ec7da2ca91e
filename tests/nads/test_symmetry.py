"""Symmetries of the square and the channels, and the average over them."""

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


def move_covariance(symmetry, matrix, shape):
    """The images P C Pᵀ of a covariance (D, D) under each element P of a symmetry."""
    moves = move_vectors(symmetry, np.eye(len(matrix)), shape)
    return [move.T @ matrix @ move for move in moves]


@pytest.fixture
def matrix():
    """A matrix (18, 18) of integers, whose mean over eight elements is exact."""
    return np.random.default_rng(0).integers(-1000, 1000, (18, 18)).astype(float)


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_the_average_is_the_mean_over_the_elements_and_has_the_symmetry(
    symmetry, matrix
):
    mean = symmetrise(symmetry, matrix, SHAPE)
    total = sum(move_covariance(symmetry, matrix, SHAPE))
    np.testing.assert_array_equal(total / ORDERS[symmetry], mean)
    for moved in move_covariance(symmetry, mean, SHAPE):
        np.testing.assert_array_equal(moved, mean)


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_the_norm_of_an_averaged_sample_comes_from_its_vectors(symmetry, matrix):
    vectors = matrix[:3]
    averaged = symmetrise(symmetry, vectors.T @ vectors, SHAPE)
    square = squared_norm(symmetry, vectors, SHAPE)
    assert square == pytest.approx((averaged**2).sum(), rel=1e-12)


@pytest.mark.parametrize("channels", [1, 3])
def test_the_elements_of_each_group(channels):
    """The square's are the four rotations of an image and of its transpose."""
    shape = (channels, 4, 4)
    image = np.arange(channels * 16.0).reshape(shape)
    expected = {"none": [image], "transposition": [image, image.transpose(0, 2, 1)]}
    expected["square"] = []
    for start in expected["transposition"]:
        for turns in range(4):
            expected["square"].append(np.rot90(start, turns, (1, 2)))
    assert list(expected) == list(SYMMETRIES)
    for symmetry, images in expected.items():
        vectors = move_vectors(symmetry, image.reshape(1, -1), shape)
        found = [tuple(vector.ravel()) for vector in vectors]
        assert found[0] == tuple(image.ravel())
        assert len(found) == ORDERS[symmetry]
        assert set(found) == {tuple(moved.ravel()) for moved in images}
        covariances = move_covariance(symmetry, np.diag(image.ravel()), shape)
        assert [tuple(np.diag(moved)) for moved in covariances] == found


def test_the_average_over_channels_and_their_signs_is_that_of_one_channel_in_each():
    """Over all 48 permutations of three channels with signs."""
    jacobian = np.random.default_rng(0).standard_normal((2, 3 * 4)).astype(np.float32)
    total = np.zeros((12, 12))
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1, -1), repeat=3):
            permuted = jacobian.reshape(2, 3, 4)[:, order]
            moved = (np.array(signs)[:, None] * permuted).reshape(2, 12)
            total += moved.T @ moved
    channel = one_channel(jacobian, 3)
    assert channel.shape == (6, 4)
    assert channel.dtype == np.float32
    expected = np.kron(np.eye(3), channel.T @ channel)
    np.testing.assert_allclose(total / 48, expected, atol=1e-6)
    np.testing.assert_array_equal(one_channel(jacobian, 1), jacobian)


@pytest.mark.parametrize("word", ["square+channels", "measured", "squares"])
@pytest.mark.parametrize("function", [symmetrise, move_vectors])
def test_a_word_that_is_no_symmetry_of_the_square_is_never_taken_for_none(
    function, word, matrix
):
    with pytest.raises(KeyError, match=re.escape(word)):
        function(word, matrix, SHAPE)
