"""The closed form of a linear reader of two channels is what a simulation gives."""

import numpy as np
import pytest

from studies import two_channels

SAMPLES, NOISE = 200_000, 0.8
"""Samples, and the standard deviation s of the score's noise from each channel."""


def test_a_linear_reader_of_two_channels():
    rng, (a1, a2) = np.random.default_rng(0), (1.0, 0.5)
    y = rng.choice([-1.0, 1.0], SAMPLES)
    noise = lambda: NOISE * rng.standard_normal(SAMPLES)
    along_v = lambda: rng.standard_normal(SAMPLES)  # σ = 1
    right = lambda score: 100 * (score * y > 0).mean()
    first, second = (eps * a * y for eps, a in ((1.0, a1), (0.5, a2)))
    simulated = {
        "both": first + noise() + second + noise(),
        "first_zeros": first + noise(),
        "first_off_v": first + noise() + noise(),
        "first_white": first + noise() + a2 * along_v() + noise(),
        "second_white": a1 * along_v() + noise() + second + noise(),
    }
    found = two_channels.right(right(second + noise()))
    assert found == pytest.approx({k: right(score) for k, score in simulated.items()}, abs=0.6)


def test_with_zeros_the_first_channel_alone_is_never_below_both():
    for accuracy in (51, 75, 91, 99):
        found = two_channels.right(accuracy)
        assert found["first_zeros"] >= found["both"] > found["first_off_v"]
