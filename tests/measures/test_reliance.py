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
    """Scores 1, 3, 5: the median margin is that of 3."""
    x = torch.stack([torch.zeros(2, 4, 4), 0.5 * SECOND, SECOND])
    section, row = reliance.boundary(score, x, FIRST, SECOND)
    assert row == {"tilt": pytest.approx(53.13, abs=1e-3), "margin_1": 1.0, "margin_2": 0.75}
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
        ([2.0, 1.0, -1.0], [0, 0, 1], 2 / 3),
        # Equal scores are not parted, however they lie.
        ([1.0, 1.0, 1.0, 1.0], [0, 1, 0, 1], 0.5),
        ([0.0, 1.0, 1.0, 1.0, 2.0], [0, 0, 1, 1, 1], 0.8),
        ([3.0, 1.0, 2.0, 0.0], [1, 1, 0, 0], 0.75),
        ([1.0], [1], 1.0),
        ([1.0], [0], 1.0),
    ],
)
def test_the_accuracy_at_the_best_threshold(score, y, accuracy):
    assert reliance.best_accuracy(np.array(score), np.array(y)) == pytest.approx(accuracy)


def test_the_best_threshold_of_a_gaussian_pair_undoes_its_shift():
    """Scores y + g + 3, y = ± 1: Φ(1) = 84.1 % at the threshold 3, 52 % at 0."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 20_000)
    score = 2 * y - 1 + rng.standard_normal(20_000) + 3
    assert ((score > 0) == y).mean() < 0.55
    assert reliance.best_accuracy(score, y) == pytest.approx(0.8413, abs=0.01)


def test_the_numbers_of_a_boundary_are_rounded():
    """arctan(5/3) = 59.03624°; the score 1.23456 is 0.41152 of the first direction and 0.246912 of the second away."""
    uneven = lambda x: 3 * (x * FIRST).sum((1, 2, 3)) + 5 * (x * SECOND).sum((1, 2, 3)) + 1.23456
    _, row = reliance.boundary(uneven, torch.zeros(1, 2, 4, 4), FIRST, SECOND)
    assert row == {"tilt": 59.036, "margin_1": 0.4115, "margin_2": 0.2469}


def test_the_margins_are_those_of_the_first_64_samples():
    """Margins 1/100, 2/100, …: the median of 64 lies between the 32nd and the 33rd, of 63 it is the 32nd, of 65 the 33rd."""
    along = (torch.arange(100.0) / 100 - 0.24).reshape(-1, 1, 1, 1) * SECOND
    assert reliance.boundary(score, along, FIRST, SECOND)[1]["margin_2"] == pytest.approx(0.325)
    assert reliance.boundary(score, along[:3], FIRST, SECOND)[1]["margin_2"] == pytest.approx(0.02)


def predict(x):
    """Class 1 where the first value is positive: a network for which the sign of its input matters."""
    return (x[:, 0, 0, 0] > 0).long()


def test_changes_of_a_network_for_which_the_sign_matters():
    """Four inputs of norm 5; what is altered turns the first value of some of them."""
    x = torch.zeros(4, 1, 2, 2)
    x[:, 0, 0, 0], x[:, 0, 1, 1] = torch.tensor([3.0, 3.0, 3.0, -3.0]), 4.0
    y = torch.tensor([1, 1, 0, 0])
    turned, shifted = x.clone(), x.clone()
    turned[0, 0, 0, 0] = -3.0
    shifted[:, 0, 0, 0] -= 4.0
    found = reliance.changes(predict, x, y, iter([({"of": "one"}, turned), ({"of": "all"}, shifted), ({"of": 0}, x)]))
    assert found == [
        # The first sample is now taken for class 0, and was moved by 6 of its 5; the third was wrong already.
        {"of": "one", "changed": 0.25, "relative_change": 0.3, "accuracy": 0.5, "n": 4},
        # All are now taken for class 0.
        {"of": "all", "changed": 0.75, "relative_change": 0.8, "accuracy": 0.5, "n": 4},
        {"of": 0, "changed": 0.0, "relative_change": 0.0, "accuracy": 0.75, "n": 4},
    ]


def test_the_relative_change_is_the_mean_over_inputs_of_different_size():
    """Norms 1, 10 and 3, all moved by 1: (1 + 1/10 + 1/3)/3; only the second is taken for another class."""
    x = torch.zeros(3, 1, 2, 2)
    x[:, 0, 0, 1] = torch.tensor([1.0, 10.0, 3.0])
    moved = x.clone()
    moved[:, 0, 0, 0] = torch.tensor([-1.0, 1.0, -1.0])
    (row,) = reliance.changes(predict, x, torch.tensor([0, 1, 1]), [({}, moved)])
    assert row == {"changed": 0.333333, "relative_change": 0.477778, "accuracy": 0.666667, "n": 3}


def test_without_alterations_there_is_nothing_to_say():
    assert reliance.changes(predict, torch.zeros(2, 1, 2, 2), torch.zeros(2), iter(())) == []
