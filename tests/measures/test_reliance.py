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


def predict(x):
    """Class 1 where the first value is positive: a network for which the sign of its input
    matters."""
    return (x[:, 0, 0, 0] > 0).long()


def test_changes_of_a_network_for_which_the_sign_matters():
    """Four inputs of norm 5; what is altered turns the first value of some of them."""
    x = torch.zeros(4, 1, 2, 2)
    x[:, 0, 0, 0], x[:, 0, 1, 1] = torch.tensor([3.0, 3.0, 3.0, -3.0]), 4.0
    y = torch.tensor([1, 1, 0, 0])
    turned, shifted = x.clone(), x.clone()
    turned[0, 0, 0, 0] = -3.0
    shifted[:, 0, 0, 0] -= 4.0
    found = reliance.changes(
        predict, x, y, iter([({"of": "one"}, turned), ({"of": "all"}, shifted), ({"of": 0}, x)])
    )
    assert found == [
        # The first sample is now taken for class 0, and was moved by 6 of its 5; the third was
        # wrong already.
        {"of": "one", "changed": 0.25, "relative_change": 0.3, "accuracy": 0.5, "n": 4},
        # All are now taken for class 0.
        {"of": "all", "changed": 0.75, "relative_change": 0.8, "accuracy": 0.5, "n": 4},
        {"of": 0, "changed": 0.0, "relative_change": 0.0, "accuracy": 0.75, "n": 4},
    ]
