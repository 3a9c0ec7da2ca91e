"""Eigenvectors that depend on C alone, not on its last bits, the overlap of two
halves', and errors of eigenvalues against those of repeated estimates."""

import numpy as np
import pytest
from nads_samples import filled, jacobians

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


def test_the_largest_entry_is_positive_and_the_first_of_those_that_are_equal():
    rows = np.array([[1.0, -2.0], [-3.0, 2.0], [-2.0, 2.0], [2.0, -2.0]])
    np.testing.assert_array_equal(orient(rows), [[-1, 2], [3, -2], [2, -2], [2, -2]])
    assert orient(np.array([[-1.0, 1 + 7e-10]]))[0, 0] == 1, "equal but for rounding"
    assert orient(np.array([[-1.0, 1 + 1.5e-9]]))[0, 0] == -1, "not equal"
    assert orient(np.asfortranarray(rows)).flags["C_CONTIGUOUS"]


@pytest.mark.parametrize("scale", [1.0, 1e-7, 1e7])
@pytest.mark.parametrize("symmetry", ["none", "transposition", "square"])
def test_eigenvectors_in_decreasing_eigenvalue(symmetry, scale):
    shape = (2, 3, 3)
    matrix = scale * symmetrise(
        symmetry, np.cov(np.random.default_rng(0).standard_normal((18, 40))), shape
    )
    values, vectors = decompose(matrix, symmetry, shape)
    assert (np.diff(values) <= 0).all()
    np.testing.assert_allclose(
        values, np.linalg.eigvalsh(matrix)[::-1], atol=1e-13 * scale
    )
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(18), atol=1e-12)
    np.testing.assert_allclose(
        vectors @ matrix, values[:, None] * vectors, atol=1e-12 * scale
    )


@pytest.mark.parametrize("scale", [1.0, 1e-7, 1e7])
@pytest.mark.parametrize(
    ("excess", "first"),
    [(2e-13, "even"), (-2e-13, "even"), (4e-13, "odd"), (-4e-13, "even")],
)
def test_of_a_pair_the_even_vector_comes_first_and_only_of_a_pair(excess, first, scale):
    """Two pictures of 1×2 pixels, even and odd under the flip; a pair's eigenvalues
    differ by less than 2√2·10⁻¹³ here."""
    even = np.array([1.0, 1.0]) / np.sqrt(2)
    odd = np.array([1.0, -1.0]) / np.sqrt(2)
    matrix = scale * (np.outer(even, even) + (1 + excess) * np.outer(odd, odd))
    values, vectors = decompose(matrix, "square", (1, 1, 2))
    np.testing.assert_allclose(values, scale)
    chosen = {"even": even, "odd": odd}[first]
    np.testing.assert_allclose(np.abs(vectors @ chosen), [1, 0], atol=1e-12)


def test_directions_do_not_depend_on_the_last_bits_of_the_sums():
    """The symmetries of the square make eigenvalues equal in pairs; added in another
    order, the sums differ by rounding."""
    shape = (1, 6, 6)
    samples = jacobians(40, 3, shape)
    one = filled(Covariance(shape, "square"), samples)
    other = filled(Covariance(shape, "square"), samples[::-2] + samples[-2::-2])
    assert not np.array_equal(one.mean(), other.mean())
    first = one.spectrum()
    second = other.spectrum()
    gaps = -np.diff(first.eigenvalues) / first.eigenvalues[0]
    assert (gaps < 1e-9).sum() >= 8, "there are pairs"
    np.testing.assert_allclose(first.directions, second.directions, atol=1e-8)
    flipped = first.directions.reshape(36, 6, 6)[..., ::-1].reshape(36, 36)
    parity = (flipped * first.directions).sum(1)
    np.testing.assert_allclose(np.abs(parity), 1)
    for k in np.flatnonzero(gaps < 1e-9):
        assert parity[k] > 0 > parity[k + 1], "of a pair, the even one first"


def test_overlaps_are_shares_of_spans():
    rng = np.random.default_rng(0)
    one, other = (np.linalg.qr(rng.standard_normal((6, 6)))[0] for _ in range(2))
    found = overlaps(one @ other.T)
    for k in range(1, 7):
        projected = one[:k] @ other[:k].T @ other[:k]
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
    spread = []
    from_parts = []
    rng = np.random.default_rng(1)
    sizes = np.full(count, 5)
    sizes[0] = 6
    for _ in range(60):
        parts = values + 4 * rng.standard_normal((count, 30)) / np.sqrt(sizes[:, None])
        mean = sizes @ parts / sizes.sum()
        spread.append(mean - values)
        from_parts.append(standard_errors(mean, parts, sizes))
    assert np.mean(from_parts) == pytest.approx(np.std(spread), rel=0.1)


def test_equal_eigenvalues_are_rarely_taken_apart():
    """The gap of two equal eigenvalues exceeds 3.5 standard errors with probability
    exp(−3.5²/4) = 4.7 %; the noise has unit variance on the diagonal, half of it
    beside."""
    noise = np.random.default_rng(0).standard_normal((4000, 2, 2))
    noisy = np.eye(2) + 0.01 * (noise + noise.transpose(0, 2, 1)) / 2
    values = np.linalg.eigvalsh(noisy)[:, ::-1]
    apart = np.mean(
        [degenerate_ranges(pair, np.full(2, 0.01))[0, 1] == 0 for pair in values]
    )
    assert 0.035 < apart < 0.06


def test_neighbours_lie_between_clear_gaps():
    values = np.array([9.0, 5.0, 4.9, 4.8, 1.0])
    errors = np.full(5, 0.1)
    np.testing.assert_array_equal(
        degenerate_ranges(values, errors), [[0, 0], [1, 3], [1, 3], [1, 3], [4, 4]]
    )
