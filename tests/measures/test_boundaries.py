"""Cross-sections, tilt and margins of classifiers whose boundary is known."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.measures import boundaries

FIRST = torch.zeros(2, 4, 4)
SECOND = torch.zeros(2, 4, 4)
FIRST[0, 1, 1] = 1
SECOND[1, 2, 3] = 1


def linear(a, b, offset=0.0):
    """The score a⟨x, u₁⟩ + b⟨x, u₂⟩ + offset."""
    normal = a * FIRST + b * SECOND

    def score(x):
        return (x * normal).sum((1, 2, 3)) + offset

    return score


@pytest.mark.parametrize(
    ("a", "b", "degrees"),
    [(1, 0, 0), (-1, 0, 0), (0, -1, 90), (2, -2, 45), (1, 0.5, 26.565051)],
)
@pytest.mark.parametrize("offset", [0.0, 0.9])
def test_tilt_of_a_linear_classifier(a, b, degrees, offset):
    section = boundaries.cross_section(linear(a, b, offset), FIRST, SECOND)
    assert boundaries.tilt(section) == pytest.approx(degrees, abs=1e-3)


def test_a_row_of_a_cross_section_is_a_step_along_the_second_direction():
    section = boundaries.cross_section(linear(10, 1, 100.0), FIRST, SECOND)
    axis = np.linspace(-2, 2, 33)
    expected = 100 + 10 * axis[None, :] + axis[:, None]
    np.testing.assert_allclose(section, expected, atol=1e-4)


def test_the_lengths_of_the_directions_are_the_units_of_the_axes():
    section = boundaries.cross_section(linear(1, 1), 3 * FIRST, SECOND)
    assert section[16, -1] == pytest.approx(6)
    assert section[-1, 16] == pytest.approx(2)
    assert boundaries.tilt(section, (3.0, 1.0)) == pytest.approx(45, abs=1e-3)
    expected = np.degrees(np.arctan2(1, 3))
    assert boundaries.tilt(section) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("offset", "exists"),
    [(1.99, True), (2.0, False), (-1.99, True), (-2.0, False), (10.0, False)],
)
def test_a_boundary_that_leaves_the_cross_section_has_no_tilt(offset, exists):
    """The boundary is at −offset on the first axis, and the section ends at ±2."""
    section = boundaries.cross_section(linear(1, 0, offset), FIRST, SECOND)
    assert np.isnan(boundaries.tilt(section)) != exists


@pytest.mark.parametrize(
    ("first", "second", "degrees"), [(1.0, 0.5, 26.565), (0.0, 2.0, 90), (2.0, 0.0, 0)]
)
def test_max_margin_tilt(first, second, degrees):
    """The separator's normal is (first, second)."""
    tilt = boundaries.max_margin_tilt(first, second)
    assert tilt == pytest.approx(degrees, abs=0.001)


def test_networks_that_have_learned_nothing_have_no_tilt():
    columns = ["index_1", "seed", "accuracy"]
    rows = [(1, 0, 0.55), (1, 1, 0.551), (2, 0, 0.49), (2, 1, 1.0)]
    cells = pd.DataFrame(rows, columns=columns).assign(architecture="lenet", index_2=5)
    whole = cells.assign(test_set="all")
    first = cells.assign(test_set="first", accuracy=1.0)
    planes = cells[::-1].drop(columns="accuracy").assign(tilt=30.0, margin_1=1.0)
    results = pd.concat([whole, first])
    masked = boundaries.mask_tilts(planes, results, ["index_1", "index_2"])
    assert masked["tilt"].isna().tolist() == [False, True, False, True]
    assert masked.drop(columns="tilt").equals(planes.drop(columns="tilt"))


@settings(derandomize=True, deadline=None, max_examples=30)
@given(
    slope=st.floats(0.2, 5) | st.floats(-5, -0.2),
    position=st.floats(-6, 6),
    length=st.floats(0.5, 2),
    start=st.floats(-1, 1),
)
def test_a_margin_is_the_distance_in_lengths_of_the_direction_up_to_four(
    slope, position, length, start
):
    """One boundary at t = position along the first axis, a sample at t = start."""
    score = linear(slope, 0, -slope * position)
    distance = abs(position - start) / length
    (margin,) = boundaries.margins(score, start * FIRST[None], length * FIRST)
    if distance < 3.999:
        assert margin == pytest.approx(distance, abs=1e-4)
    elif distance > 4.001:
        assert np.isinf(margin)


def test_the_margins_of_a_boundary_are_of_samples_from_the_whole_set():
    """Images are sorted, here by their distance 0, 0.01, … 1.28 from the boundary."""
    x = torch.arange(129)[:, None, None, None] / 100 * FIRST
    _, row = boundaries.boundary(linear(1, 0), x, FIRST, SECOND)
    assert row["margin_1"] == pytest.approx(0.63, abs=0.02)
    assert np.isinf(row["margin_2"])


@pytest.mark.parametrize("sign", [1, -1])
def test_the_margin_is_that_of_the_nearest_of_two_boundaries(sign):
    def score(x):
        t = sign * (x * FIRST).sum((1, 2, 3))
        return (t - 1.03) * (t + 2.1)

    (margin,) = boundaries.margins(score, torch.zeros(1, 2, 4, 4), FIRST)
    assert margin == pytest.approx(1.03, abs=0.02)


def test_without_a_boundary_the_margin_is_infinite():
    origin = torch.zeros(1, 2, 4, 4)
    assert np.isinf(boundaries.margins(linear(1, 0, 100.0), origin, FIRST)).all()
    parallel = boundaries.margins(linear(1, 0), origin, SECOND)
    assert np.isinf(parallel).all(), "also if the score is 0 all along the line"


@pytest.mark.parametrize(
    ("score", "y", "accuracy"),
    [
        ([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1], 1.0),
        # A shift of all scores changes nothing.
        ([5.0, 6.0, 8.0, 9.0], [0, 0, 1, 1], 1.0),
        # Class 1 is never given to the smaller scores: the best threshold gives one
        # class to all.
        ([2.0, 1.0, -1.0, -2.0], [0, 0, 1, 1], 0.5),
        # Equal scores are not parted, whatever their order.
        ([1.0, 1.0, 1.0, 1.0], [0, 1, 0, 1], 0.5),
        ([0.0, 1.0, 1.0, 1.0, 2.0], [0, 0, 1, 1, 1], 0.8),
        ([3.0, 1.0, 2.0, 0.0], [1, 1, 0, 0], 0.75),
        ([1.0], [1], 1.0),
    ],
)
def test_the_accuracy_at_the_best_threshold(score, y, accuracy):
    found = boundaries.best_accuracy(np.array(score), np.array(y))
    assert found == pytest.approx(accuracy)
