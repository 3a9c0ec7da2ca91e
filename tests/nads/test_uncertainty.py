"""Errors of estimates and of eigenvalues against brute force and repeated estimates, and what they tell apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.nads.uncertainty import NEIGHBOURS, SEPARATION, groups_of, nearby_of, sampling_error, standard_errors

few = settings(max_examples=50, deadline=None)


@pytest.mark.parametrize("count", [2, 3, 10])
def test_the_sampling_error_is_the_standard_error_of_a_mean(count):
    samples = np.random.default_rng(count).standard_normal((count, 4, 4)) + 0.5
    mean = samples.mean(0)
    expected = np.sqrt(((samples - mean) ** 2).sum() / (count * (count - 1))) / np.linalg.norm(mean)
    # Relative to √n times the mean's own norm where that is mostly noise: at most 1.
    found = sampling_error((samples**2).sum(), (samples.sum(0) ** 2).sum(), count)
    assert found == pytest.approx(expected)


def test_equal_samples_have_no_error_and_opposite_parts_have_one():
    assert sampling_error(5.0, 125.0, 5) == 0
    assert sampling_error(4.999999, 125.0, 5) == 0, "not the root of a negative number where rounding gives one"
    orthogonal = sampling_error(7.0, 7.0, 7)
    assert orthogonal == pytest.approx(1), "samples that share nothing: all of it is error"
    assert isinstance(orthogonal, float)


def by_loops(eigenvalues, parts, sizes):
    """As `standard_errors`, one direction after another."""
    count, relative = sizes.sum(), []
    for k in range(len(eigenvalues)):
        mean = (sizes * parts[:, k]).sum() / count
        variance = (sizes * (parts[:, k] - mean) ** 2).sum() / ((len(sizes) - 1) * count)
        relative.append(variance / mean**2 if mean > 0 else 0.0)
    return np.array(
        [
            abs(value) * np.sqrt(np.mean(relative[max(0, k - NEIGHBOURS) : k + NEIGHBOURS + 1]))
            for k, value in enumerate(eigenvalues)
        ]
    )


def test_standard_errors_average_over_the_neighbours():
    rng = np.random.default_rng(0)
    sizes = np.array([3, 3, 2, 2])
    parts = np.geomspace(9, 0.01, 24) * rng.chisquare(4, (4, 24))
    parts[:, 7], parts[:, 20] = 0.0, -1.0
    eigenvalues = sizes @ parts / 10
    np.testing.assert_allclose(standard_errors(eigenvalues, parts, sizes), by_loops(eigenvalues, parts, sizes))
    assert NEIGHBOURS == 5
    np.testing.assert_allclose(standard_errors(-eigenvalues, parts, sizes), by_loops(eigenvalues, parts, sizes))


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


def test_eight_parts_know_the_error_where_two_halves_agree_by_luck():
    """Networks that differ by a factor move all eigenvalues together, so neighbours add nothing to two halves."""
    rng, errors = np.random.default_rng(2), {1: [], 4: []}
    for _ in range(200):
        factors = rng.chisquare(3, 8)
        parts = factors[:, None] * np.geomspace(2, 1, 40)
        for together, found in errors.items():
            merged = parts.reshape(together, -1, 40).mean(0) if together == 4 else parts
            found.append(standard_errors(parts.mean(0), merged, np.full(len(merged), together))[0])
    assert np.mean(errors[1]) == pytest.approx(2 * np.sqrt(6 / 8), rel=0.15)
    assert np.std(np.log(errors[1])) < 0.45 < 0.8 < np.std(np.log(errors[4]))


def random_symmetric(rng, size):
    """Noise of an estimate of C: unit variance on the diagonal, half of it beside."""
    noise = rng.standard_normal((size, size))
    return (noise + noise.T) / 2


def test_equal_eigenvalues_are_rarely_taken_apart():
    """The gap of two equal eigenvalues exceeds 3.5 standard errors with probability exp(−3.5²/4) = 4.7 %."""
    rng = np.random.default_rng(0)
    values = [np.linalg.eigvalsh(np.eye(2) + 0.01 * random_symmetric(rng, 2))[::-1] for _ in range(4000)]
    apart = np.mean([groups_of(pair, np.full(2, 0.01))[1] == 1 for pair in values])
    assert 0.035 < apart < 0.06


def test_groups_lie_between_clear_gaps_and_neighbours_within_them():
    values, errors = np.array([9.0, 5.0, 4.9, 4.8, 1.0]), np.full(5, 0.1)
    np.testing.assert_array_equal(groups_of(values, errors), [0, 1, 1, 1, 4])
    np.testing.assert_array_equal(nearby_of(values, errors), [[0, 0], [1, 3], [1, 3], [1, 3], [4, 4]])
    assert SEPARATION == 3.5
    np.testing.assert_array_equal(groups_of(np.array([8.0, 1.0]), np.array([2.0, 1.0])), [0, 0])
    np.testing.assert_array_equal(groups_of(np.array([8.1, 1.0]), np.array([2.0, 1.0])), [0, 1])


@few
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 4)), min_size=1, max_size=12))
def test_groups_and_neighbours_by_loops(pairs):
    values = np.sort([float(value) for value, _ in pairs])[::-1]
    errors = np.array([float(error) for _, error in pairs])
    begins, expected = 0, []
    for k in range(len(values)):
        if k and values[k - 1] - values[k] > SEPARATION * max(errors[k - 1], errors[k]):
            begins = k
        expected.append(begins)
    np.testing.assert_array_equal(groups_of(values, errors), expected)
    for k, (first, last) in enumerate(nearby_of(values, errors)):
        within = np.flatnonzero(np.abs(values - values[k]) <= SEPARATION * errors[k])
        assert (first, last) == (within[0], within[-1])
