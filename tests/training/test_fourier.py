"""Fourier directions: single frequencies, each different one once."""

import itertools

import numpy as np
import pytest

from pipeline.training.fourier import (
    AXES,
    fourier,
    frequencies,
    in_colour,
    wrap_frequency,
)
from pipeline.training.shapes import SIZE


@pytest.mark.parametrize(
    ("step", "pixels"), [(1, SIZE), (2, SIZE), (16, SIZE), (1, (6, 4))]
)
def test_the_grid_has_every_different_direction_once(step, pixels):
    """Each is a unit vector of k and −k alone, in which no other has a part; together
    they have all multiples of `step`."""
    seen = []
    for k in frequencies(step, pixels):
        v = fourier(*k, pixels).reshape(pixels)
        assert np.linalg.norm(v) == pytest.approx(1, abs=1e-6)
        seen += zip(*np.nonzero(np.abs(np.fft.fft2(v)) > 1e-3), strict=True)
        assert tuple(np.mod(k, pixels)) in seen[-2:]
    multiples = itertools.product(*(range(0, side, step) for side in pixels))
    assert sorted(seen) == list(multiples)


@pytest.mark.parametrize(("step", "count"), [(2, 73), (4, 21), (8, 7), (16, 3)])
def test_without_transposes_the_grid_has_one_of_each_direction_and_its_transpose(
    step, count
):
    """Together with their transposes they are the whole grid; the larger |k_row| is
    there."""
    kept = frequencies(step, transposes=False)
    whole = frequencies(step)
    assert len(kept) == count and set(kept) < set(whole)
    assert all(abs(row) >= abs(column) for row, column in kept)

    def same(row, column):
        return {
            (wrap_frequency(sign * row), wrap_frequency(sign * column))
            for sign in (1, -1)
        }

    shown = [same(row, column) | same(column, row) for row, column in kept]
    assert set().union(*shown) == {k for pair in whole for k in same(*pair)}
    assert sum(map(len, shown)) == len(set().union(*shown)), "none is there twice"


def test_the_grid_runs_from_minus_half_the_side_in_order():
    """Of k and −k the first in order: rows −16, −8 and 0, and of the row that is its
    own partner half the columns."""
    assert frequencies(8) == [
        (-16, -16), (-16, -8), (-16, 0),
        (-8, -16), (-8, -8), (-8, 0), (-8, 8),
        (0, -16), (0, -8), (0, 0),
    ]  # fmt: skip
    assert frequencies(4, (8, 8)) == [(-4, -4), (-4, 0), (0, -4), (0, 0)]


def test_a_direction_is_a_cosine_of_rows_and_columns():
    assert fourier(0, 0).dtype == np.float32
    np.testing.assert_allclose(fourier(0, 0), 1 / 32, rtol=1e-6)
    v = fourier(4, 0).reshape(32, 32)
    np.testing.assert_allclose(
        v,
        np.outer(np.cos(np.arange(32) * np.pi / 4), np.ones(32)) / np.sqrt(512),
        atol=1e-7,
    )


def test_a_wave_of_one_colour_is_the_wave_with_a_weight_in_each_channel():
    waves = [fourier(*k) for k in ((0, 0), (3, -5))]
    colours = np.stack([in_colour(wave, axis) for wave in waves for axis in AXES])
    exact = colours.astype(np.float64)  # float32 products depend on the processor
    np.testing.assert_allclose(exact @ exact.T, np.eye(6), atol=1e-6)
    grey, red_green, blue_yellow = colours[3:].reshape(3, 3, 1024)
    np.testing.assert_allclose(grey * 3**0.5, [waves[1]] * 3, atol=1e-6)
    np.testing.assert_allclose(
        red_green * 2**0.5, [waves[1], -waves[1], 0 * waves[1]], atol=1e-6
    )
    np.testing.assert_allclose(blue_yellow[2], -blue_yellow[:2].sum(0), atol=1e-6)
