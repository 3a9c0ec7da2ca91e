"""Cross-sections, tilt and margins of classifiers whose boundary is known."""

import numpy as np
import pytest
import torch

from pipeline.measures import boundaries

FIRST, SECOND = torch.zeros(2, 4, 4), torch.zeros(2, 4, 4)
FIRST[0, 1, 1] = 1
SECOND[1, 2, 3] = 1


def linear(a, b, offset=0.0):
    """The score a⟨x, u₁⟩ + b⟨x, u₂⟩ + offset."""
    normal = a * FIRST + b * SECOND
    return lambda x: (x * normal).sum((1, 2, 3)) + offset


@pytest.mark.parametrize(("a", "b", "degrees"), [(1, 0, 0), (0, 1, 90), (2, -2, 45), (1, 0.5, 26.565)])
@pytest.mark.parametrize("offset", [0.0, 10.0])
def test_tilt_of_a_linear_classifier(a, b, degrees, offset):
    section = boundaries.cross_section(linear(a, b, offset), FIRST, SECOND)
    assert section.shape == (boundaries.POINTS, boundaries.POINTS)
    assert boundaries.tilt(section) == pytest.approx(degrees, abs=0.01)


def test_cross_section_rows_are_the_second_direction():
    section = boundaries.cross_section(linear(1, 0), FIRST, SECOND)
    np.testing.assert_allclose(
        section, np.tile(np.linspace(-2, 2, boundaries.POINTS), (boundaries.POINTS, 1)), atol=1e-6
    )


def test_a_constant_classifier_has_no_tilt():
    assert np.isnan(boundaries.tilt(np.zeros((boundaries.POINTS, boundaries.POINTS))))


def test_max_margin_tilt():
    assert boundaries.max_margin_tilt(1.0, 0.5) == pytest.approx(26.565, abs=0.001)


def test_margins_are_distances_along_the_direction():
    x = torch.randn(20, 2, 4, 4) * 0.3
    score = linear(2, 1, 0.2)
    np.testing.assert_allclose(boundaries.margins(score, x, FIRST), score(x).abs() / 2, atol=1e-4)
    np.testing.assert_allclose(boundaries.margins(score, x, SECOND), score(x).abs(), atol=1e-4)


def test_margin_is_infinite_where_no_boundary_is_met():
    assert np.isinf(boundaries.margins(linear(1, 0, 100.0), torch.zeros(3, 2, 4, 4), FIRST)).all()


def test_the_nearest_of_two_boundaries_counts():
    def score(x):
        t = (x * FIRST).sum((1, 2, 3))
        return (t - 1.03) * (t + 2.1)

    assert boundaries.margins(score, torch.zeros(1, 2, 4, 4), FIRST) == pytest.approx(1.03, abs=0.02)
