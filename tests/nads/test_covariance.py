"""The running estimates of C: parts, errors, symmetries given and measured."""

import numpy as np
import pytest
from nads_samples import fill, jacobians

from pipeline.nads.covariance import Candidates, Covariance
from pipeline.nads.leading import Leading
from pipeline.nads.symmetry import symmetrise
from pipeline.networks import SYMMETRIES

SQUARE = (1, 6, 6)


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_the_spread_of_independent_parts_is_the_error(symmetry):
    shape = (2, 4, 4)
    samples = jacobians(19, 2, shape)
    covariance = fill(Covariance(shape, symmetry), samples)
    squares = []
    for jacobian in samples:
        square = jacobian.T.astype(float) @ jacobian
        squares.append(symmetrise(symmetry, square, shape))
    squares = np.stack(squares)
    mean = squares.mean(0)
    np.testing.assert_allclose(covariance.mean(), mean, rtol=1e-6, atol=1e-9)
    standard_error = np.sqrt(((squares - mean) ** 2).sum() / (19 * 18))
    expected = standard_error / np.linalg.norm(mean)
    assert covariance.error() == pytest.approx(expected, rel=1e-5)
    even = squares[::2].mean(0)
    odd = squares[1::2].mean(0)
    expected = np.linalg.norm(even - odd) / np.linalg.norm(even + odd)
    assert covariance.split_half() == pytest.approx(expected, rel=1e-5)
    spectrum = covariance.spectrum()
    assert spectrum.sizes.tolist() == [3, 3, 3, 2, 2, 2, 2, 2]
    whole = spectrum.sizes @ spectrum.parts / 19
    np.testing.assert_allclose(whole, spectrum.eigenvalues, rtol=1e-9)
    part = (squares[3] + squares[11]) / 2
    along = ((spectrum.directions @ part) * spectrum.directions).sum(1)
    np.testing.assert_allclose(spectrum.parts[3], along, rtol=1e-5)


def isotropic(count, seed):
    """Samples of noise, whose distribution has all symmetries of the square."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((count, 4, 36)).astype(np.float32)


def test_a_symmetry_of_the_distribution_is_chosen():
    covariance, error = fill(Candidates(SQUARE), isotropic(60, 0)).choose()
    assert covariance.symmetry == "square"
    assert covariance.asymmetry() < error


def test_a_symmetry_that_the_distribution_lacks_is_not_chosen():
    brightness = np.repeat(np.linspace(0.2, 1.8, 6), 6)  # grows downwards
    downwards = fill(Candidates(SQUARE), brightness * isotropic(60, 1))
    oblong = fill(Candidates((1, 4, 9)), isotropic(8, 3))
    for candidates in (downwards, oblong):
        covariance, _ = candidates.choose()
        assert covariance.symmetry == "none"


def test_the_part_that_a_symmetry_removes_is_measured_without_the_noise():
    # Brighter to one corner: transposition only.
    axis = np.arange(6.0)
    brightness = np.add.outer(axis, axis).ravel() / 5
    samples = brightness * isotropic(60, 2)
    candidates = fill(Candidates(SQUARE), samples)
    covariance, error = candidates.choose()
    assert covariance.symmetry == "transposition"
    assert candidates.error() == error
    expected = np.hypot(covariance.error(), covariance.asymmetry())
    assert error == pytest.approx(expected, rel=1e-12)
    true = np.diag(brightness**2)
    averaged = symmetrise("square", true, SQUARE)
    expected = np.linalg.norm(true - averaged) / np.linalg.norm(averaged)
    square = fill(Covariance(SQUARE, "square"), samples)
    assert square.asymmetry() == pytest.approx(expected, rel=0.1)
    assert fill(Covariance(SQUARE), samples).asymmetry() == 0


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_the_leading_eigenvectors_are_those_of_the_matrix(symmetry):
    shape = (2, 6, 6)
    samples = jacobians(7, 3, shape)
    covariance = fill(Covariance(shape, symmetry), samples)
    leading = fill(Leading(shape, 5, symmetry), samples)
    assert leading.error() == pytest.approx(covariance.error(), rel=1e-4)
    assert leading.split_half() == pytest.approx(covariance.split_half(), rel=1e-4)
    assert np.isnan(leading.asymmetry())
    whole = covariance.spectrum()
    first = leading.spectrum()
    values = first.eigenvalues
    directions = first.directions
    np.testing.assert_allclose(values, whole.eigenvalues[:5], rtol=1e-4)
    # Seven networks are seven parts in either.
    np.testing.assert_allclose(first.parts, whole.parts[:, :5], rtol=1e-4)
    np.testing.assert_array_equal(first.sizes, whole.sizes)
    np.testing.assert_allclose(first.overlap, whole.overlap[:5], rtol=1e-4, atol=1e-9)
    # The vectors of equal eigenvalues are not unique, but eigenvectors of the matrix.
    product = directions @ covariance.mean()
    np.testing.assert_allclose(product, values[:, None] * directions, atol=1e-5)
    np.testing.assert_allclose(directions @ directions.T, np.eye(5), atol=1e-4)
    largest = np.abs(directions).argmax(1)
    assert (directions[np.arange(5), largest] > 0).all()


def test_no_more_directions_than_the_vectors_span():
    samples = jacobians(6, 1, (1, 4, 4))
    spectrum = fill(Leading((1, 4, 4), 10), samples).spectrum()
    assert spectrum.directions.shape == (6, 16)
    repeated = fill(Leading((1, 4, 4), 10), samples[:2] * 3).spectrum()
    assert repeated.directions.shape == (2, 16), "what rounding leaves is no direction"


def test_directions_are_orthonormal_however_steeply_the_spectrum_falls():
    left, right = jacobians(2, 40, (1, 20, 20))
    rotation = np.linalg.qr(left[:, :40])[0]
    basis = np.linalg.qr(right.T)[0].T
    sizes = np.geomspace(1, 1e-6, 40)
    rows = (rotation * sizes @ basis)[:, None].astype(np.float32)
    spectrum = fill(Leading((1, 20, 20), 30), rows).spectrum()
    directions = spectrum.directions
    count = len(directions)
    assert 15 < count < 25, "what rounding leaves is no direction"
    expected = sizes[:count] ** 2 / 40
    np.testing.assert_allclose(spectrum.eigenvalues, expected, rtol=1e-3)
    products = directions @ directions.T
    np.testing.assert_allclose(products, np.eye(count), atol=1e-5)
    cosines = np.einsum("kd,kd->k", directions, basis[:count])
    np.testing.assert_allclose(np.abs(cosines), 1, atol=1e-4)


def test_leading_directions_of_tiny_derivatives():
    """The iteration's tolerance is absolute: for unscaled rows it would end at once."""
    samples = jacobians(60, 2, (1, 20, 20))
    tiny_samples = [np.float32(1e-9) * sample for sample in samples]
    usual = fill(Leading((1, 20, 20), 5), samples).spectrum()
    tiny = fill(Leading((1, 20, 20), 5), tiny_samples).spectrum()
    np.testing.assert_allclose(tiny.eigenvalues, 1e-18 * usual.eigenvalues, rtol=1e-4)
    cosines = np.einsum("kd,kd->k", usual.directions, tiny.directions)
    np.testing.assert_allclose(np.abs(cosines), 1, atol=1e-3)
