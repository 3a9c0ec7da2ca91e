"""The running estimate of C from D×D sums, and that of its leading eigenvectors from
the vectors themselves: parts, errors, symmetries given and measured."""

import numpy as np
import pytest
from nads_samples import filled, jacobians

from pipeline.nads.covariance import Candidates, Covariance
from pipeline.nads.leading import Leading
from pipeline.nads.symmetry import symmetrise
from pipeline.networks import SYMMETRIES


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_parts_are_estimates_of_their_own_whose_spread_is_the_error(symmetry):
    shape = (2, 4, 4)
    samples = jacobians(19, 2, (2, 4, 4))
    covariance = filled(Covariance(shape, symmetry), samples)
    squares = np.stack(
        [symmetrise(symmetry, j.T.astype(float) @ j, shape) for j in samples]
    )
    mean = squares.mean(0)
    np.testing.assert_allclose(covariance.mean(), mean, rtol=1e-6, atol=1e-9)
    standard_error = np.sqrt(((squares - mean) ** 2).sum() / (19 * 18))
    assert covariance.error() == pytest.approx(
        standard_error / np.linalg.norm(mean), rel=1e-5
    )
    first, second = (squares[half::2].mean(0) for half in (0, 1))
    expected = np.linalg.norm(first - second) / np.linalg.norm(first + second)
    assert covariance.split_half() == pytest.approx(expected, rel=1e-5)
    spectrum = covariance.spectrum()
    assert spectrum.sizes.tolist() == [3, 3, 3, 2, 2, 2, 2, 2]
    whole = spectrum.sizes @ spectrum.parts / 19
    np.testing.assert_allclose(whole, spectrum.eigenvalues, rtol=1e-9)
    along = (
        (spectrum.directions @ (squares[3] + squares[11]) / 2) * spectrum.directions
    ).sum(1)
    np.testing.assert_allclose(spectrum.parts[3], along, rtol=1e-5)


def isotropic(count, seed):
    """Samples whose law has all symmetries of the square: noise."""
    return list(
        np.random.default_rng(seed).standard_normal((count, 4, 36)).astype(np.float32)
    )


def test_a_symmetry_that_the_law_has_is_chosen_and_one_that_it_lacks_is_not():
    whole, error = filled(Candidates((1, 6, 6)), isotropic(60, 0)).choose()
    assert whole.symmetry == "square"
    assert whole.asymmetry() < error
    rows = np.repeat(
        np.linspace(0.2, 1.8, 6), 6
    )  # brighter downwards: no flip, no transposition
    downwards = [rows * sample for sample in isotropic(60, 1)]
    oblong = filled(Candidates((1, 4, 9)), isotropic(8, 3))
    for lacking in (filled(Candidates((1, 6, 6)), downwards), oblong):
        assert lacking.choose()[0].symmetry == "none"


def test_the_part_that_a_symmetry_removes_is_measured_without_the_noise():
    # Brighter to one corner: transposition only.
    both = np.add.outer(np.arange(6.0), np.arange(6.0)).ravel() / 5
    samples = [both * r for r in isotropic(60, 2)]
    candidates = filled(Candidates((1, 6, 6)), samples)
    chosen, error = candidates.choose()
    assert chosen.symmetry == "transposition" and candidates.error() == error
    assert error == pytest.approx(
        np.hypot(chosen.error(), chosen.asymmetry()), rel=1e-12
    )
    true = np.diag(both**2)
    averaged = symmetrise("square", true, (1, 6, 6))
    expected = np.linalg.norm(true - averaged) / np.linalg.norm(averaged)
    square = filled(Covariance((1, 6, 6), "square"), samples)
    assert square.asymmetry() == pytest.approx(expected, rel=0.1)
    assert filled(Covariance((1, 6, 6)), samples).asymmetry() == 0


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_vectors_themselves_give_the_leading_eigenvectors_of_the_matrix(symmetry):
    shape = (2, 6, 6)
    samples = jacobians(7, 3, shape)
    whole = filled(Covariance(shape, symmetry), samples)
    leading = filled(Leading(shape, 5, symmetry), samples)
    assert leading.error() == pytest.approx(whole.error(), rel=1e-4)
    assert leading.split_half() == pytest.approx(whole.split_half(), rel=1e-4)
    assert np.isnan(leading.asymmetry())
    one = whole.spectrum()
    other = leading.spectrum()
    np.testing.assert_allclose(other.eigenvalues, one.eigenvalues[:5], rtol=1e-4)
    # Seven networks are seven parts in either.
    np.testing.assert_allclose(other.parts, one.parts[:, :5], rtol=1e-4)
    np.testing.assert_array_equal(other.sizes, one.sizes)
    np.testing.assert_allclose(other.overlap, one.overlap[:5], rtol=1e-4, atol=1e-9)
    # Equal eigenvalues leave the vectors open, so it is asked whether they are
    # eigenvectors of the matrix.
    turned = other.directions @ whole.mean()
    np.testing.assert_allclose(
        turned, other.eigenvalues[:, None] * other.directions, atol=1e-5
    )
    np.testing.assert_allclose(
        other.directions @ other.directions.T, np.eye(5), atol=1e-4
    )
    assert (
        other.directions[np.arange(5), np.abs(other.directions).argmax(1)] > 0
    ).all()


def test_no_more_directions_than_the_vectors_span():
    samples = jacobians(6, 1, (1, 4, 4))
    assert filled(Leading((1, 4, 4), 10), samples).spectrum().directions.shape == (
        6,
        16,
    )
    repeated = filled(Leading((1, 4, 4), 10), samples[:2] * 3).spectrum()
    assert repeated.directions.shape == (2, 16), "what rounding leaves is no direction"


def test_directions_are_orthonormal_however_steeply_the_spectrum_falls():
    left, right = jacobians(2, 40, (1, 20, 20))
    turn = np.linalg.qr(left[:, :40])[0]
    basis = np.linalg.qr(right.T)[0].T
    sizes = np.geomspace(1, 1e-6, 40)
    rows = (turn * sizes @ basis)[:, None].astype(np.float32)
    spectrum = filled(Leading((1, 20, 20), 30), rows).spectrum()
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
    small = [np.float32(1e-9) * sample for sample in samples]
    usual = filled(Leading((1, 20, 20), 5), samples).spectrum()
    tiny = filled(Leading((1, 20, 20), 5), small).spectrum()
    np.testing.assert_allclose(tiny.eigenvalues, 1e-18 * usual.eigenvalues, rtol=1e-4)
    cosines = np.einsum("kd,kd->k", usual.directions, tiny.directions)
    np.testing.assert_allclose(np.abs(cosines), 1, atol=1e-3)
