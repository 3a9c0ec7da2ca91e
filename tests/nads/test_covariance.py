"""The running estimate of C from D×D sums: parts, errors, symmetries given and measured."""

import numpy as np
import pytest
from nads_samples import filled, jacobians

from pipeline.nads.covariance import Covariance
from pipeline.nads.symmetry import symmetrised
from pipeline.networks import SYMMETRIES


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_parts_are_estimates_of_their_own_whose_spread_is_the_error(symmetry):
    shape, samples = (2, 4, 4), jacobians(19, 2, (2, 4, 4))
    covariance = filled(Covariance(shape, symmetry), samples)
    squares = np.stack([symmetrised(symmetry, j.T.astype(float) @ j, shape) for j in samples])
    mean = squares.mean(0)
    np.testing.assert_allclose(covariance.mean(), mean, rtol=1e-6, atol=1e-9)
    assert covariance.averaged_over() == symmetry
    standard_error = np.sqrt(((squares - mean) ** 2).sum() / (19 * 18))
    assert covariance.error() == pytest.approx(standard_error / np.linalg.norm(mean), rel=1e-5)
    first, second = (squares[half::2].mean(0) for half in (0, 1))
    expected = np.linalg.norm(first - second) / np.linalg.norm(first + second)
    assert covariance.split_half() == pytest.approx(expected, rel=1e-5)
    spectrum = covariance.spectrum()
    assert spectrum.sizes.tolist() == [3, 3, 3, 2, 2, 2, 2, 2]
    whole = spectrum.sizes @ spectrum.parts / 19
    np.testing.assert_allclose(whole, spectrum.eigenvalues, rtol=1e-9)
    along = ((spectrum.directions @ (squares[3] + squares[11]) / 2) * spectrum.directions).sum(1)
    np.testing.assert_allclose(spectrum.parts[3], along, rtol=1e-5)


def isotropic(count, seed):
    """Samples whose law has all symmetries of the square: noise."""
    return list(np.random.default_rng(seed).standard_normal((count, 4, 36)).astype(np.float32))


def test_a_symmetry_that_the_law_has_is_measured_and_one_that_it_lacks_is_not_taken():
    whole = filled(Covariance((1, 6, 6), "measured"), isotropic(60, 0))
    assert whole.averaged_over() == "square"
    assert whole.asymmetry("square") < whole.error()
    rows = np.repeat(np.linspace(0.2, 1.8, 6), 6)  # brighter downwards: no flip, no transposition
    downwards = [rows * sample for sample in isotropic(60, 1)]
    oblong = filled(Covariance((1, 4, 9), "measured"), isotropic(8, 3))
    for lacking in (filled(Covariance((1, 6, 6), "measured"), downwards), oblong):
        assert lacking.averaged_over() == "none"


def test_the_part_that_a_symmetry_removes_is_measured_without_the_noise():
    # Brighter to one corner: transposition only.
    both = np.add.outer(np.arange(6.0), np.arange(6.0)).ravel() / 5
    corner = filled(Covariance((1, 6, 6), "measured"), [both * r for r in isotropic(60, 2)])
    assert corner.averaged_over() == "transposition"
    true = np.diag(both**2)
    removed = np.linalg.norm(true - symmetrised("square", true, (1, 6, 6)))
    expected = removed / np.linalg.norm(symmetrised("square", true, (1, 6, 6)))
    assert corner.asymmetry("square") == pytest.approx(expected, rel=0.1)
    given = filled(Covariance((1, 6, 6), "transposition"), [both * r for r in isotropic(60, 2)])
    assert corner.error() == pytest.approx(
        np.hypot(given.error(), corner.asymmetry("transposition")), rel=1e-12
    )
    assert corner.asymmetry("none") == 0
