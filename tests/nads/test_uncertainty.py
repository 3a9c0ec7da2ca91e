"""Errors of eigenvalues against those of repeated estimates, and what they tell apart."""

import numpy as np
import pytest

from pipeline.nads.spectrum import SEPARATION, nearby_of, standard_errors


@pytest.mark.parametrize("count", [2, 8, 11])
def test_standard_errors_of_eigenvalues_are_those_of_repeated_estimates(count):
    values, spread, from_parts = np.linspace(30, 20, 30), [], []
    rng, sizes = np.random.default_rng(1), np.full(count, 5)
    sizes[0] = 6
    for _ in range(60):
        parts = values + 4 * rng.standard_normal((count, 30)) / np.sqrt(sizes[:, None])
        mean = sizes @ parts / sizes.sum()
        spread.append(mean - values)
        from_parts.append(standard_errors(mean, parts, sizes))
    assert np.mean(from_parts) == pytest.approx(np.std(spread), rel=0.1)


def test_equal_eigenvalues_are_rarely_taken_apart():
    """The gap of two equal eigenvalues exceeds 3.5 standard errors with probability exp(−3.5²/4) =
    4.7 %; the noise has unit variance on the diagonal, half of it beside."""
    noise = np.random.default_rng(0).standard_normal((4000, 2, 2))
    noisy = np.eye(2) + 0.01 * (noise + noise.transpose(0, 2, 1)) / 2
    values = np.linalg.eigvalsh(noisy)[:, ::-1]
    apart = np.mean([nearby_of(pair, np.full(2, 0.01))[0, 1] == 0 for pair in values])
    assert 0.035 < apart < 0.06


def test_neighbours_lie_between_clear_gaps():
    values, errors = np.array([9.0, 5.0, 4.9, 4.8, 1.0]), np.full(5, 0.1)
    np.testing.assert_array_equal(
        nearby_of(values, errors), [[0, 0], [1, 3], [1, 3], [1, 3], [4, 4]]
    )
    assert SEPARATION == 3.5
