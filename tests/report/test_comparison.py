"""Our values beside published ones in numbers, and p-values as text."""

import math

import pandas as pd
import pytest

from pipeline.report.comparison import indices_text, number, p_text, rms, rms_text


def test_differences_are_at_what_both_have():
    ours, published = pd.Series({0: 1.0, 4: 5.0, 7: 90.0}), pd.Series({4: 8.0, 1: 50.0, 0: 5.0})
    # −4 and −3.
    assert rms(ours, published) == (pytest.approx(math.sqrt(12.5)), 2)
    assert rms_text(ours, published) == "3.5 (2)"


def test_nothing_in_common_has_no_difference():
    points, count = rms(pd.Series({0: 1.0}), pd.Series({1: 1.0}))
    assert math.isnan(points) and count == 0
    assert rms_text(pd.Series({0: 1.0}), pd.Series({1: 1.0})) == "–"


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0, "p < 0.001"), (0.00099, "p < 0.001"), (0.001, "p = 0.001"), (0.19, "p = 0.19"), (1.0, "p = 1")],
)
def test_p_values(p, text):
    assert p_text(p) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"), [(-0.4, 1, "−0.4"), (-0.04, 1, "0.0"), (0.9981, 3, "0.998"), (-12, 0, "−12")]
)
def test_numbers_have_a_minus_sign_but_not_before_zero(value, digits, text):
    assert number(value, digits) == text


def test_one_index_is_singular():
    assert (indices_text(1), indices_text(2)) == ("1 index", "2 indices")
