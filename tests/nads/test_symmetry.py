"""Symmetries of the square: images under them, and the average over them as a projection."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nads_samples import images_of_covariance

from pipeline.nads.symmetry import (
    ORDERS,
    SYMMETRIES,
    images_of_vectors,
    square_of_symmetrised,
    symmetrised,
)

few = settings(max_examples=25, deadline=None)
symmetries = st.sampled_from(SYMMETRIES)
shapes = st.tuples(st.integers(1, 2), st.integers(2, 4)).map(
    lambda sides: (sides[0], sides[1], sides[1])
)


def matrices(count=1):
    """A symmetry, a shape of square images, and matrices of integers over such images."""

    def made(symmetry, shape, seed):
        sizes = (count, *[int(np.prod(shape))] * 2)
        return (
            symmetry,
            shape,
            *np.random.default_rng(seed).integers(-1000, 1000, sizes).astype(float),
        )

    return st.builds(made, symmetries, shapes, st.integers(0, 10**6))


@few
@given(matrices())
def test_averaging_is_idempotent_and_leaves_what_each_element_leaves(case):
    symmetry, shape, matrix = case
    mean = symmetrised(symmetry, matrix, shape)
    np.testing.assert_array_equal(symmetrised(symmetry, mean, shape), mean)
    for image in images_of_covariance(symmetry, mean, shape):
        np.testing.assert_array_equal(image, mean)
    # Thousands of integers over eight are exact, so the mean over the elements is too.
    np.testing.assert_array_equal(
        sum(images_of_covariance(symmetry, matrix, shape)) / ORDERS[symmetry], mean
    )


@few
@given(matrices())
def test_the_square_of_an_averaged_sample_comes_from_its_vectors(case):
    symmetry, shape, vectors = case
    averaged = symmetrised(symmetry, vectors[:3].T @ vectors[:3], shape)
    assert square_of_symmetrised(symmetry, vectors[:3], shape) == pytest.approx(
        (averaged**2).sum(), rel=1e-12
    )


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
        found = [
            tuple(image.ravel())
            for image in images_of_vectors(symmetry, picture.reshape(1, -1), shape)
        ]
        assert found[0] == tuple(picture.ravel())
        assert len(found) == ORDERS[symmetry]
        assert set(found) == {tuple(p.ravel()) for p in expected}
        diagonals = images_of_covariance(symmetry, np.diag(picture.ravel()), shape)
        assert [tuple(np.diag(image)) for image in diagonals] == found
