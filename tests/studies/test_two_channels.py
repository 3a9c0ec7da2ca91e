"""The closed form of a linear reader of two channels is what a simulation gives."""

import numpy as np
import pytest

from studies import two_channels

SAMPLES = 200_000
NOISE = 0.8
"""The standard deviation s of the score's noise from each channel."""


def test_a_linear_reader_of_two_channels():
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], SAMPLES)
    a1 = 1.0
    a2 = 0.5
    first = 1.0 * a1 * y
    second = 0.5 * a2 * y

    def draw():
        return rng.standard_normal(SAMPLES)

    def accuracy(score):
        return 100 * (score * y > 0).mean()

    simulated = {
        "both": first + second + NOISE * (draw() + draw()),
        "first_zeros": first + NOISE * draw(),
        "first_off_v": first + NOISE * (draw() + draw()),
        "first_white": first + a2 * draw() + NOISE * (draw() + draw()),
        "second_white": second + a1 * draw() + NOISE * (draw() + draw()),
    }
    found = two_channels.compute_accuracies(accuracy(second + NOISE * draw()))
    expected = {name: accuracy(score) for name, score in simulated.items()}
    assert found.to_dict() == pytest.approx(expected, abs=0.6)


@pytest.mark.parametrize("accuracy", [51, 75, 91, 99])
def test_with_zeros_the_first_channel_alone_is_never_below_both(accuracy):
    found = two_channels.compute_accuracies(accuracy)
    assert found["first_zeros"] >= found["both"] > found["first_off_v"]
