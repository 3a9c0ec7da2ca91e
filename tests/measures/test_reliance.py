"""What a network relies on, of networks that are known: a linear score, a sign."""

import numpy as np
import pytest
import torch

from pipeline.measures import boundaries, reliance

FIRST, SECOND = torch.zeros(2, 4, 4), torch.zeros(2, 4, 4)
FIRST[0, 1, 1] = 1
SECOND[1, 2, 3] = 1


def score(x):
    """3⟨x, u₁⟩ + 4⟨x, u₂⟩ + 1: tilt arctan(4/3), margins |score|/3 and |score|/4."""
    return 3 * (x * FIRST).sum((1, 2, 3)) + 4 * (x * SECOND).sum((1, 2, 3)) + 1


def test_the_boundary_of_a_linear_score():
    """Margins 1/100, 2/100, … of the first 64 samples: the median lies between the 32nd and the
    33rd."""
    along = (torch.arange(100.0) / 100 - 0.24).reshape(-1, 1, 1, 1) * SECOND
    section, row = reliance.boundary(score, along, FIRST, SECOND)
    assert row["margin_2"] == pytest.approx(0.325) and row["margin_1"] == pytest.approx(0.4333)
    assert row["tilt"] == pytest.approx(53.13, abs=1e-3)
    axis = np.linspace(-2, 2, boundaries.POINTS)
    expected = 1 / (1 + np.exp(-(3 * axis[None, :] + 4 * axis[:, None] + 1)))
    np.testing.assert_allclose(section.astype(float), expected, atol=5e-4)
    assert section.dtype == np.float16


@pytest.mark.parametrize(
    ("score", "y", "accuracy"),
    [
        ([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1], 1.0),
        # A shift of all scores changes nothing.
        ([5.0, 6.0, 8.0, 9.0], [0, 0, 1, 1], 1.0),
        # Class 1 is never given to the smaller scores: the best there is gives one class to all.
        ([2.0, 1.0, -1.0, -2.0], [0, 0, 1, 1], 0.5),
        # Equal scores are not parted, however they lie.
        ([1.0, 1.0, 1.0, 1.0], [0, 1, 0, 1], 0.5),
        ([0.0, 1.0, 1.0, 1.0, 2.0], [0, 0, 1, 1, 1], 0.8),
        ([3.0, 1.0, 2.0, 0.0], [1, 1, 0, 0], 0.75),
        ([1.0], [1], 1.0),
    ],
)
def test_the_accuracy_at_the_best_threshold(score, y, accuracy):
    assert reliance.best_accuracy(np.array(score), np.array(y)) == pytest.approx(accuracy)
