"""Leading eigenvectors from the vectors themselves: the same as those of the matrix."""

import numpy as np
import pytest
from nads_samples import filled, jacobians

from pipeline.nads.covariance import Covariance
from pipeline.nads.leading import Leading
from pipeline.networks import SYMMETRIES


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_vectors_themselves_give_the_leading_eigenvectors_of_the_matrix(symmetry):
    shape = (2, 6, 6)
    samples = jacobians(7, 3, shape)
    whole = filled(Covariance(shape, symmetry), samples)
    leading = filled(Leading(shape, 5, symmetry), samples)
    assert leading.averaged_over() == symmetry
    assert leading.error() == pytest.approx(whole.error(), rel=1e-4)
    assert leading.split_half() == pytest.approx(whole.split_half(), rel=1e-4)
    assert np.isnan(leading.asymmetry(symmetry))
    one, other = whole.spectrum(), leading.spectrum()
    np.testing.assert_allclose(other.eigenvalues, one.eigenvalues[:5], rtol=1e-4)
    # Seven networks are seven parts in either.
    np.testing.assert_allclose(other.parts, one.parts[:, :5], rtol=1e-4)
    np.testing.assert_array_equal(other.sizes, one.sizes)
    np.testing.assert_allclose(other.overlap, one.overlap[:5], rtol=1e-4, atol=1e-9)
    # Equal eigenvalues leave the vectors open, so it is asked whether they are eigenvectors of the
    # matrix.
    turned = other.directions @ whole.mean()
    np.testing.assert_allclose(turned, other.eigenvalues[:, None] * other.directions, atol=1e-5)
    np.testing.assert_allclose(other.directions @ other.directions.T, np.eye(5), atol=1e-4)
    assert (other.directions[np.arange(5), np.abs(other.directions).argmax(1)] > 0).all()


def test_no_more_directions_than_the_vectors_span():
    samples = jacobians(6, 1, (1, 4, 4))
    assert filled(Leading((1, 4, 4), 10), samples).spectrum().directions.shape == (6, 16)
    repeated = filled(Leading((1, 4, 4), 10), samples[:2] * 3).spectrum()
    assert repeated.directions.shape == (2, 16), "what rounding leaves is no direction"


def test_directions_are_orthonormal_however_steeply_the_spectrum_falls():
    left, right = jacobians(2, 40, (1, 20, 20))
    turn, basis = np.linalg.qr(left[:, :40])[0], np.linalg.qr(right.T)[0].T
    rows = (turn * np.geomspace(1, 1e-6, 40) @ basis)[:, None].astype(np.float32)
    directions = filled(Leading((1, 20, 20), 40), rows).spectrum().directions
    assert 20 < len(directions) < 30
    np.testing.assert_allclose(directions @ directions.T, np.eye(len(directions)), atol=1e-4)


def test_the_gram_matrix_whenever_it_is_looked_at():
    """Also of inputs of more pixels than a piece."""
    samples = jacobians(5, 2, (3, 60, 61))
    leading = Leading((3, 60, 61), 3)
    for count, jacobian in enumerate(samples, 1):
        leading.add(jacobian)
        if count != 2:
            rows = np.concatenate(samples[:count]).astype(np.float64)
            np.testing.assert_allclose(leading.gram(), rows @ rows.T, rtol=1e-6)
