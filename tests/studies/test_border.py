"""Directions made from LeNet's NAD 1000."""

import numpy as np
import pytest

from pipeline.nads import load
from studies.border import in_frame, make_directions


@pytest.fixture
def directions():
    return make_directions(load("lenet").directions[1000].astype(np.float32))


def test_all_directions_are_unit_vectors(directions):
    for name, v in directions.items():
        assert np.linalg.norm(v) == pytest.approx(1, abs=1e-5), name


def test_the_frame_is_two_pixels_wide(directions):
    assert in_frame().sum() == 32**2 - 28**2
    assert np.array_equal(directions["frame"] > 0, in_frame().ravel())


def test_without_alternation_the_pattern_stays_in_its_pixels(directions):
    v, positive = directions["NAD 1000"], directions["no alternation"]
    assert np.array_equal(positive**2, v**2) and (positive >= 0).all()


def test_nad_1000_is_at_the_border_and_is_moved_away_from_it(directions):
    def border(v):
        return (v[in_frame().ravel()] ** 2).sum()

    assert border(directions["NAD 1000"]) > 0.9
    assert border(directions["in the middle"]) < 0.1
