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
    return lambda x: (x * normal).sum((1, 2, 3)) + offset


@pytest.mark.parametrize(
    ("a", "b", "degrees"),
    [(1, 0, 0), (-1, 0, 0), (0, -1, 90), (2, -2, 45), (1, 0.5, 26.565051)],
)
@pytest.mark.parametrize("offset", [0.0, 0.9])
def test_tilt_of_a_linear_classifier(a, b, degrees, offset):
    section = boundaries.cross_section(linear(a, b, offset), FIRST, SECOND)
    assert boundaries.tilt(section) == pytest.approx(degrees, abs=1e-3)


def test_a_cross_section_holds_the_score_on_33_by_33_points_row_by_row_along_the_second_direction():
    section = boundaries.cross_section(linear(10, 1, 100.0), FIRST, SECOND)
    axis = np.linspace(-2, 2, 33)
    np.testing.assert_allclose(
        section, 100 + 10 * axis[None, :] + axis[:, None], atol=1e-4
    )


def test_the_lengths_of_the_directions_are_the_units_of_the_axes():
    section = boundaries.cross_section(linear(1, 1), 3 * FIRST, SECOND)
    assert section[16, -1] == pytest.approx(6) and section[-1, 16] == pytest.approx(2)
    assert boundaries.tilt(section, (3.0, 1.0)) == pytest.approx(45, abs=1e-3)
    assert boundaries.tilt(section) == pytest.approx(
        np.degrees(np.arctan2(1, 3)), abs=1e-3
    )


@pytest.mark.parametrize(
    ("offset", "there"),
    [(1.99, True), (2.0, False), (-1.99, True), (-2.0, False), (10.0, False)],
)
def test_a_boundary_that_leaves_the_cross_section_has_no_tilt(offset, there):
    """The score a along the first axis is −offset at the boundary, and the section ends
    at ±2."""
    section = boundaries.cross_section(linear(1, 0, offset), FIRST, SECOND)
    assert np.isnan(boundaries.tilt(section)) != there


def test_max_margin_tilt():
    """The separator's normal is (first, second)."""
    assert boundaries.max_margin_tilt(1.0, 0.5) == pytest.approx(26.565, abs=0.001)
    assert (
        boundaries.max_margin_tilt(0.0, 2.0) == 90
        and boundaries.max_margin_tilt(2.0, 0.0) == 0
    )


def test_networks_that_have_learned_nothing_have_no_tilt():
    accuracies = {(1, 0): 0.55, (1, 1): 0.551, (2, 0): 0.49, (2, 1): 1.0}
    columns = ["index_1", "seed", "accuracy"]
    rows = [(*cell, accuracy) for cell, accuracy in accuracies.items()]
    cells = pd.DataFrame(rows, columns=columns).assign(architecture="lenet", index_2=5)
    results = pd.concat(
        [cells.assign(test_set="all"), cells.assign(test_set="first", accuracy=1.0)]
    )
    planes = cells[::-1].drop(columns="accuracy").assign(tilt=30.0, margin_1=1.0)
    learners = boundaries.mask_tilts(planes, results, ["index_1", "index_2"])
    assert learners["tilt"].isna().tolist() == [False, True, False, True]
    assert learners.drop(columns="tilt").equals(planes.drop(columns="tilt"))


@settings(derandomize=True, deadline=None, max_examples=30)
@given(
    slope=st.floats(0.2, 5) | st.floats(-5, -0.2),
    place=st.floats(-6, 6),
    length=st.floats(0.5, 2),
    start=st.floats(-1, 1),
)
def test_a_margin_is_the_distance_in_lengths_of_the_direction_up_to_four(
    slope, place, length, start
):
    """One boundary at t = place along the first axis, a sample at t = start."""

    def score(x):
        return slope * ((x * FIRST).sum((1, 2, 3)) - place)

    distance = abs(place - start) / length
    (found,) = boundaries.margins(score, start * FIRST[None], length * FIRST)
    if distance < 3.999:
        assert found == pytest.approx(distance, abs=1e-4)
    elif distance > 4.001:
        assert np.isinf(found)


def test_the_margins_of_a_boundary_are_of_samples_from_all_of_the_set():
    """Images come sorted, here by their distance t = 0, 0.01, … 1.28 from the boundary
    at 0."""
    x = torch.arange(129)[:, None, None, None] / 100 * FIRST
    score = linear(1, 0)
    _, row = boundaries.boundary(score, x, FIRST, SECOND)
    assert row["margin_1"] == pytest.approx(0.63, abs=0.02) and np.isinf(
        row["margin_2"]
    )


def test_margins_of_the_nearest_of_two_boundaries_and_where_none_is_met():
    def score(x):
        t = (x * FIRST).sum((1, 2, 3))
        return (t - 1.03) * (t + 2.1)

    origin = torch.zeros(1, 2, 4, 4)
    for sign in (1, -1):
        found = boundaries.margins(lambda x, sign=sign: score(sign * x), origin, FIRST)
        assert found == pytest.approx(1.03, abs=0.02)
    assert np.isinf(boundaries.margins(linear(1, 0, 100.0), origin, FIRST)).all()
    assert np.isinf(boundaries.margins(linear(1, 0), origin, SECOND)).all(), (
        "nor where it is 0"
    )


@pytest.mark.parametrize(
    ("score", "y", "accuracy"),
    [
        ([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1], 1.0),
        # A shift of all scores changes nothing.
        ([5.0, 6.0, 8.0, 9.0], [0, 0, 1, 1], 1.0),
        # Class 1 is never given to the smaller scores: the best there is gives one
        # class to all.
        ([2.0, 1.0, -1.0, -2.0], [0, 0, 1, 1], 0.5),
        # Equal scores are not parted, however they lie.
        ([1.0, 1.0, 1.0, 1.0], [0, 1, 0, 1], 0.5),
        ([0.0, 1.0, 1.0, 1.0, 2.0], [0, 0, 1, 1, 1], 0.8),
        ([3.0, 1.0, 2.0, 0.0], [1, 1, 0, 0], 0.75),
        ([1.0], [1], 1.0),
    ],
)
def test_the_accuracy_at_the_best_threshold(score, y, accuracy):
    assert boundaries.best_accuracy(np.array(score), np.array(y)) == pytest.approx(
        accuracy
    )
