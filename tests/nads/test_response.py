"""The response along given directions against closed forms: quadratic forms of a C that is known."""

import numpy as np
import pytest
from nads_samples import GRADIENT, filled, jacobians

from pipeline.nads import Covariance, Estimation, Leading
from pipeline.nads.response import Response, frequencies, wave

SHAPE = (2, 6, 8)


def estimated(accumulator, count=6, rows=40):
    """The estimate of an accumulator, and C itself, of the same sample."""
    samples = jacobians(count, rows, SHAPE)
    estimation = Estimation(filled(accumulator, samples), count)
    stacked = np.concatenate(samples).astype(float)
    return estimation.nads(GRADIENT), stacked.T @ stacked / count, stacked


def responses():
    """A response from all NADs, and one from the sampled vectors, of the same C, which is given too."""
    nads, matrix, _ = estimated(Covariance(SHAPE))
    first, _, rows = estimated(Leading(SHAPE, 5))
    return (Response.of(nads), Response.of(first, rows)), matrix


def test_the_response_along_v_is_the_quadratic_form_of_c_whether_all_nads_are_known_or_only_vectors():
    both, matrix = responses()
    directions = np.random.default_rng(1).standard_normal((3, 96))
    for response in both:
        np.testing.assert_allclose(
            response.along(directions), np.einsum("kd,de,ke->k", directions, matrix, directions), rtol=1e-5
        )
        assert response.mean == pytest.approx(np.trace(matrix) / 96, rel=1e-5)


def test_the_response_along_waves_is_that_along_their_cosines_and_sines_averaged_over_channels():
    both, matrix = responses()
    rows, columns = np.meshgrid(np.arange(6), np.arange(8), indexing="ij")
    for response in both:
        found = response.waves()
        for row, column in ((0, 0), (1, 2), (-3, 0), (2, -4), (-3, -4)):
            phase = 2 * np.pi * (row * rows / 6 + column * columns / 8)
            forms = []
            for channel in range(2):
                # |⟨e^{ik·r}, d⟩|², of which cosine and sine are the real and the imaginary part.
                complex_wave = np.zeros((2, 6, 8), complex)
                complex_wave[channel] = np.exp(1j * phase) / np.sqrt(48)
                forms.append((complex_wave.ravel().conj() @ matrix @ complex_wave.ravel()).real)
            assert found[row + 3, column + 4] == pytest.approx(np.mean(forms), rel=1e-5)


def test_the_mean_over_waves_is_the_mean_over_all_directions():
    for response in responses()[0]:
        assert response.waves().mean() == pytest.approx(response.mean, rel=1e-6)


def test_logistic_regression_responds_alike_along_all_waves():
    """C = I/(3·D) under the default initialisation."""
    response = Response(np.eye(64), np.full(64, 1 / (3 * 64)), (1, 8, 8))
    np.testing.assert_allclose(response.waves(), 1 / (3 * 64), rtol=1e-12)


@pytest.mark.parametrize("frequency", [(0, 0), (-3, 0), (0, -4), (1, 3), (-3, -4)])
def test_a_wave_has_unit_length_and_the_energy_of_its_frequency_alone(frequency):
    vector = wave(*frequency, SHAPE)
    assert np.linalg.norm(vector) == pytest.approx(1)
    power = Response(vector[None], np.ones(1), SHAPE).waves()
    places = {tuple((sign * k + side // 2) % side for k, side in zip(frequency, SHAPE[1:])) for sign in (1, -1)}
    assert set(zip(*np.nonzero(power > 1e-12))) == places
    assert frequencies(6).tolist() == [-3, -2, -1, 0, 1, 2] and frequencies(5).tolist() == [-2, -1, 0, 1, 2]
