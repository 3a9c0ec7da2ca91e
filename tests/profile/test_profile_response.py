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


def test_the_response_along_v_is_the_quadratic_form_of_c_over_that_of_a_random_direction(
    response,
):
    matrix = response.rows.T @ response.rows
    directions = np.random.default_rng(1).standard_normal((3, 96))
    expected = np.einsum("kd,de,ke->k", directions, matrix, directions) / (
        np.trace(matrix) / 96
    )
    np.testing.assert_allclose(response.along(directions) ** 2, expected)


def test_rows_of_one_channel_stand_for_the_same_in_each():
    rows = np.random.default_rng(0).standard_normal((5, 48))
    whole = Response(np.kron(np.eye(2), rows), SHAPE)
    directions = np.random.default_rng(1).standard_normal((3, 96))
    of_one = Response(rows, SHAPE)
    np.testing.assert_allclose(of_one.along(directions), whole.along(directions))
    np.testing.assert_allclose(of_one.waves, whole.waves)


def test_the_response_along_waves_is_that_along_their_cosines_and_sines_averaged_over_channels(
    response,
):
    matrix = response.rows.T @ response.rows
    rows, columns = np.indices((6, 8))
    for row, column in ((0, 0), (1, 2), (-3, 0), (2, -4), (-3, -4)):
        # |⟨e^{ik·r}, d⟩|², of which cosine and sine are the real and the imaginary
        # part.
        plane = np.exp(
            2j * np.pi * (row * rows / 6 + column * columns / 8)
        ).ravel() / np.sqrt(48)
        channels = [
            np.concatenate([plane, 0 * plane]),
            np.concatenate([0 * plane, plane]),
        ]
        expected = (
            np.mean([(v.conj() @ matrix @ v).real for v in channels]) / response.mean
        )
        assert response.waves[row + 3, column + 4] ** 2 == pytest.approx(expected)
    assert (response.waves**2).mean() == pytest.approx(1), "Parseval"


def test_every_size_but_one_pixel_has_fine_waves():
    for size, bands in (((1, 1), {"coarse"}), ((1, 20), {"coarse", "fine"})):
        rows = np.random.default_rng(0).standard_normal((9, size[0] * size[1]))
        assert Response(rows, (1, *size)).bands.keys() == bands


def test_waves_of_one_response_are_in_the_order_of_their_places_whatever_the_last_bits():
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((96, 96)))[0]
    table = Response(basis, SHAPE).frequencies
    assert table["response"].nunique() > 1 and np.ptp(table["response"]) < 1e-12
    places = table[["k_row", "k_col"]].to_numpy().tolist()
    assert places == sorted(places)


def test_a_wave_is_a_unit_vector_of_its_frequency_alone_and_alike_in_every_channel():
    one, other = wave(1, 3, SHAPE).reshape(SHAPE)
    assert np.vdot(one, one) == pytest.approx(0.5) and (one == other).all()
    power = Response(wave(1, 3, SHAPE)[None], SHAPE).waves
    assert np.argwhere(power > 1e-6).tolist() == [[-1 + 3, -3 + 4], [1 + 3, 3 + 4]]
