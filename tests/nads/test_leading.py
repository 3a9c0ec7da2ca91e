"""Leading eigenvectors from the vectors themselves: the same as those of the matrix."""

import numpy as np
import pytest
from nads_samples import filled, jacobians

from pipeline.nads import Covariance, Leading
from pipeline.nads.symmetry import SYMMETRIES


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_vectors_themselves_give_the_leading_eigenvectors_of_the_matrix(symmetry):
    shape = (2, 6, 6)
    samples = jacobians(7, 3, shape)
    whole, leading = filled(Covariance(shape, symmetry), samples), filled(Leading(shape, 5, symmetry), samples)
    assert leading.averaged_over() == symmetry
    assert leading.error() == pytest.approx(whole.error(), rel=1e-4)
    assert leading.split_half() == pytest.approx(whole.split_half(), rel=1e-4)
    assert np.isnan(leading.asymmetry(symmetry))
    one, other = whole.spectrum(), leading.spectrum()
    np.testing.assert_allclose(other.eigenvalues, one.eigenvalues[:5], rtol=1e-4)
    np.testing.assert_allclose(other.halves, one.halves[:, :5], rtol=1e-4)
    # Seven networks are seven parts in either.
    np.testing.assert_allclose(other.parts, one.parts[:, :5], rtol=1e-4)
    np.testing.assert_array_equal(other.sizes, one.sizes)
    np.testing.assert_allclose(other.overlap, one.overlap[:5], rtol=1e-4, atol=1e-9)
    # Equal eigenvalues leave the vectors open, so it is asked whether they are eigenvectors of the matrix.
    turned = other.directions @ whole.mean()
    np.testing.assert_allclose(turned, other.eigenvalues[:, None] * other.directions, atol=1e-5)
    np.testing.assert_allclose(other.directions @ other.directions.T, np.eye(5), atol=1e-4)
    assert other.directions.dtype == np.float64
    assert (other.directions[np.arange(5), np.abs(other.directions).argmax(1)] > 0).all()


def test_no_more_directions_than_the_vectors_span():
    samples = jacobians(6, 1, (1, 4, 4))
    assert filled(Leading((1, 4, 4), 10), samples).spectrum().directions.shape == (6, 16)
    repeated = filled(Leading((1, 4, 4), 10), samples[:2] * 3).spectrum()
    assert repeated.directions.shape == (2, 16), "what rounding leaves of the others is no direction"


def test_the_subspaces_of_the_halves_are_compared_up_to_a_hundred_directions():
    shape = (1, 16, 16)
    samples = jacobians(62, 4, shape)
    found = filled(Leading(shape, 130), samples).spectrum()
    assert found.directions.shape == (130, 256)
    assert found.overlap.shape == (130,)
    assert np.isnan(found.overlap[100:]).all()
    whole = filled(Covariance(shape), samples).spectrum()
    np.testing.assert_allclose(found.overlap[:100], whole.overlap[:100], rtol=1e-3)
    fewer = filled(Leading(shape, 130), jacobians(63, 1, shape)).spectrum()
    assert np.flatnonzero(np.isnan(fewer.overlap))[0] == 31, "the half of 31 vectors has no more directions"


@pytest.mark.parametrize(("rows", "block"), [(1, 64), (3, 63), (70, 70)])
def test_the_gram_matrix_is_made_in_blocks_of_whole_networks(rows, block):
    """Whenever it is looked at on the way, the same blocks are remembered."""
    samples = jacobians(2 * 64 // rows + 3, rows, (1, 4, 4))
    leading = Leading((1, 4, 4), 3)
    for count, jacobian in enumerate(samples, 1):
        leading.add(jacobian)
        if count % 5 == 0:
            leading.error()
        expected = np.concatenate(samples[:count]).astype(np.float64)
        if count % 4 == 0:
            np.testing.assert_allclose(leading.gram(), expected @ expected.T, rtol=1e-6, atol=1e-9)
            assert len(leading.whole_blocks) == len(expected) // block * block
    whole = filled(Leading((1, 4, 4), 3), samples)
    np.testing.assert_array_equal(whole.gram(), leading.gram())


def test_inputs_of_more_pixels_than_a_piece():
    shape = (3, 60, 61)
    samples = jacobians(3, 2, shape)
    rows = np.concatenate(samples).astype(np.float64)
    np.testing.assert_allclose(filled(Leading(shape, 3), samples).gram(), rows @ rows.T, rtol=1e-6)


def test_memory_is_two_copies_of_the_vectors_and_five_gram_matrices():
    assert Leading.memory((2, 3, 5), 7) == 2 * 4 * 7 * 30 + 5 * 8 * 7**2


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_a_restored_estimate_goes_on_with_the_same_bytes(symmetry):
    samples = jacobians(20, 3, (1, 4, 4))
    make = lambda: Leading((1, 4, 4), 3, symmetry)
    half = filled(make(), samples[:11])
    resumed = make()
    resumed.restore({name: array.copy() for name, array in half.state().items()}, half.count)
    one, other = filled(resumed, samples[11:15]), filled(make(), samples)
    one.error()
    filled(one, samples[15:])
    assert one.count == other.count == 20
    assert (one.error(), one.split_half()) == (other.error(), other.split_half())
    for found, expected in zip(vars(one.spectrum()).values(), vars(other.spectrum()).values(), strict=True):
        np.testing.assert_array_equal(found, expected)
