"""The response along given directions against closed forms: quadratic forms of a C that
is known."""

import numpy as np
import pytest

from pipeline.profile.response import Response, wave

SHAPE = (2, 6, 8)


@pytest.fixture
def response():
    """The response of 300 random vectors."""
    rng = np.random.default_rng(0)
    return Response(rng.standard_normal((300, 96)) * rng.uniform(0, 1, (300, 1)), SHAPE)


def test_the_response_is_the_quadratic_form_of_c_over_that_of_a_random_direction(
    response,
):
    covariance = response.rows.T @ response.rows
    directions = np.random.default_rng(1).standard_normal((3, 96))
    quadratic = np.einsum("kd,de,ke->k", directions, covariance, directions)
    expected = quadratic / (np.trace(covariance) / 96)
    np.testing.assert_allclose(response.along(directions) ** 2, expected)


def test_rows_of_one_channel_are_those_of_every_channel():
    rows = np.random.default_rng(0).standard_normal((5, 48))
    whole = Response(np.kron(np.eye(2), rows), SHAPE)
    one_channel = Response(rows, SHAPE)
    directions = np.random.default_rng(1).standard_normal((3, 96))
    np.testing.assert_allclose(one_channel.along(directions), whole.along(directions))
    np.testing.assert_allclose(one_channel.waves, whole.waves)


@pytest.mark.parametrize(
    ("row", "column"), [(0, 0), (1, 2), (-3, 0), (2, -4), (-3, -4)]
)
def test_the_response_to_a_wave_is_averaged_over_phases_and_channels(
    response, row, column
):
    rows, columns = np.indices((6, 8))
    phase = 2 * np.pi * (row * rows / 6 + column * columns / 8)
    # The real and the imaginary part are the cosine and the sine.
    plane = np.exp(1j * phase).ravel() / np.sqrt(48)
    products = response.rows.reshape(-1, 2, 48) @ plane
    expected = (np.abs(products) ** 2).sum(0).mean() / response.mean
    assert response.waves[row + 3, column + 4] ** 2 == pytest.approx(expected)


def test_the_mean_over_waves_is_that_over_all_directions(response):
    assert (response.waves**2).mean() == pytest.approx(1)


def test_every_size_but_one_pixel_has_fine_waves():
    rows = np.random.default_rng(0).standard_normal((9, 20))
    assert set(Response(rows, (1, 1, 20)).bands) == {"coarse", "fine"}
    assert set(Response(rows[:, :1], (1, 1, 1)).bands) == {"coarse"}


def test_waves_of_equal_response_are_in_the_order_of_their_frequencies():
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((96, 96)))[0]
    table = Response(basis, SHAPE).frequencies
    # Only the last bits of the responses differ.
    assert table["response"].nunique() > 1
    assert np.ptp(table["response"]) < 1e-12
    frequencies = table[["k_row", "k_col"]].to_numpy().tolist()
    assert frequencies == sorted(frequencies)


def test_a_wave_is_a_unit_vector_with_one_frequency_and_equal_channels():
    first, second = wave(1, 3, SHAPE).reshape(SHAPE)
    assert np.vdot(first, first) == pytest.approx(0.5)
    assert (first == second).all()
    response = Response(wave(1, 3, SHAPE)[None], SHAPE).waves
    assert np.argwhere(response > 1e-6).tolist() == [[2, 1], [4, 7]]
