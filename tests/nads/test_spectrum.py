"""Eigenvectors that depend on C only, not on its last bits, and their errors."""

import numpy as np
import pytest
from nads_samples import fill, jacobians

from pipeline.nads.covariance import Covariance
from pipeline.nads.spectrum import (
    agreement,
    decompose,
    degenerate_ranges,
    orient,
    overlaps,
    standard_errors,
)
from pipeline.nads.symmetry import symmetrise


def test_the_first_of_the_largest_entries_is_positive():
    rows = np.array([[1.0, -2.0], [-3.0, 2.0], [-2.0, 2.0], [2.0, -2.0]])
    np.testing.assert_array_equal(orient(rows), [[-1, 2], [3, -2], [2, -2], [2, -2]])
    assert orient(np.array([[-1.0, 1 + 7e-10]]))[0, 0] == 1, "equal but for rounding"
    assert orient(np.array([[-1.0, 1 + 1.5e-9]]))[0, 0] == -1, "not equal"
    assert orient(np.asfortranarray(rows)).flags["C_CONTIGUOUS"]


@pytest.mark.parametrize("scale", [1.0, 1e-7, 1e7])
@pytest.mark.parametrize("symmetry", ["none", "transposition", "square"])
def test_eigenvectors_in_decreasing_eigenvalue(symmetry, scale):
    shape = (2, 3, 3)
    samples = np.random.default_rng(0).standard_normal((18, 40))
    matrix = scale * symmetrise(symmetry, np.cov(samples), shape)
    values, vectors = decompose(matrix, symmetry, shape)
    assert (np.diff(values) <= 0).all()
    expected = np.linalg.eigvalsh(matrix)[::-1]
    np.testing.assert_allclose(values, expected, atol=1e-13 * scale)
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(18), atol=1e-12)
    expected = values[:, None] * vectors
    np.testing.assert_allclose(vectors @ matrix, expected, atol=1e-12 * scale)


@pytest.mark.parametrize("scale", [1.0, 1e-7, 1e7])
@pytest.mark.parametrize(
    ("excess", "first"),
    [(2e-13, "even"), (-2e-13, "even"), (4e-13, "odd"), (-4e-13, "even")],
)
def test_only_in_a_degenerate_pair_the_even_vector_comes_first(excess, first, scale):
    """Two images of 1×2 pixels, even and odd under the flip.

    A pair's eigenvalues differ by less than 2√2·10⁻¹³ here.
    """
    vectors = {
        "even": np.array([1.0, 1.0]) / np.sqrt(2),
        "odd": np.array([1.0, -1.0]) / np.sqrt(2),
    }
    even = np.outer(vectors["even"], vectors["even"])
    odd = np.outer(vectors["odd"], vectors["odd"])
    matrix = scale * (even + (1 + excess) * odd)
    values, found = decompose(matrix, "square", (1, 1, 2))
    np.testing.assert_allclose(values, scale)
    np.testing.assert_allclose(np.abs(found @ vectors[first]), [1, 0], atol=1e-12)


def test_directions_do_not_depend_on_the_last_bits_of_the_sums():
    """The square's eigenvalues come in pairs, and sums depend on the order."""
    shape = (1, 6, 6)
    samples = jacobians(40, 3, shape)
    covariance = fill(Covariance(shape, "square"), samples)
    reordered = fill(Covariance(shape, "square"), samples[::-2] + samples[-2::-2])
    assert not np.array_equal(covariance.mean(), reordered.mean())
    spectrum = covariance.spectrum()
    directions = spectrum.directions
    gaps = -np.diff(spectrum.eigenvalues) / spectrum.eigenvalues[0]
    pairs = np.flatnonzero(gaps < 1e-9)
    assert len(pairs) >= 8
    found = reordered.spectrum().directions
    np.testing.assert_allclose(directions, found, atol=1e-8)
    flipped = directions.reshape(36, 6, 6)[..., ::-1].reshape(36, 36)
    parity = (flipped * directions).sum(1)
    np.testing.assert_allclose(np.abs(parity), 1)
    for k in pairs:
        assert parity[k] > 0 > parity[k + 1]


def test_overlaps_are_shares_of_spans():
    rng = np.random.default_rng(0)
    a = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    b = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    found = overlaps(a @ b.T)
    for k in range(1, 7):
        projected = a[:k] @ b[:k].T @ b[:k]
        assert found[k - 1] == pytest.approx((projected**2).sum() / k)
    np.testing.assert_allclose(overlaps(np.eye(4)), 1)
    np.testing.assert_allclose(overlaps(np.eye(4)[::-1]), [0, 0, 2 / 3, 1])


def test_halves_agree_on_as_many_of_the_first_ten_directions_as_were_compared():
    assert agreement(np.linspace(1, 0, 21)) == (10, pytest.approx(0.55))
    assert agreement(np.array([0.9, 0.8, np.nan, np.nan])) == (2, 0.8)
    assert agreement(np.array([np.nan])) == (0, 0.0)


@pytest.mark.parametrize("count", [2, 8, 11])
def test_standard_errors_of_eigenvalues_are_those_of_repeated_estimates(count):
    values = np.linspace(30, 20, 30)
    differences = []
    errors = []
    rng = np.random.default_rng(1)
    sizes = np.full(count, 5)
    sizes[0] = 6
    for _ in range(60):
        noise = rng.standard_normal((count, 30))
        parts = values + 4 * noise / np.sqrt(sizes[:, None])
        mean = sizes @ parts / sizes.sum()
        differences.append(mean - values)
        errors.append(standard_errors(mean, parts, sizes))
    assert np.mean(errors) == pytest.approx(np.std(differences), rel=0.1)


def test_equal_eigenvalues_are_rarely_separated():
    """Their gap exceeds 3.5 standard errors with probability exp(−3.5²/4) = 4.7 %.

    The noise has unit variance on the diagonal and half of it beside the diagonal.
    """
    noise = np.random.default_rng(0).standard_normal((4000, 2, 2))
    matrices = np.eye(2) + 0.01 * (noise + noise.transpose(0, 2, 1)) / 2
    errors = np.full(2, 0.01)
    count = 0
    for pair in np.linalg.eigvalsh(matrices)[:, ::-1]:
        count += degenerate_ranges(pair, errors)[0, 1] == 0
    assert 0.035 < count / 4000 < 0.06


def test_degenerate_ranges_are_between_clear_gaps():
    values = np.array([9.0, 5.0, 4.9, 4.8, 1.0])
    found = degenerate_ranges(values, np.full(5, 0.1))
    np.testing.assert_array_equal(found, [[0, 0], [1, 3], [1, 3], [1, 3], [4, 4]])
