"""What may be asked of an estimate."""

import dataclasses

import pytest
from nads_samples import SECANT

from pipeline.nads.estimator import Source


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"point": "one"}, "point must be one of normal, many, zero, not 'one'"),
        ({"step": float("nan")}, r"step must lie between 0.001 and 1e\+06, not nan"),
        (
            {"estimand": "gradient"},
            "symmetry does not hold for the gradient at one fixed image; set symmetry: false, or "
            "point: many or zero",
        ),
    ],
)
def test_an_estimator_that_cannot_be(wrong, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        dataclasses.replace(SECANT, **wrong)


@pytest.mark.parametrize("point", ["normal", "many", "zero"])
@pytest.mark.parametrize("symmetry", [True, False])
def test_the_other_estimand_keeps_everything_but_a_symmetry_that_it_lacks(point, symmetry):
    secant = dataclasses.replace(SECANT, point=point, symmetry=symmetry, compare=True)
    expected = symmetry and point != "normal"
    assert secant.other() == dataclasses.replace(secant, estimand="gradient", symmetry=expected)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, r"the key 'networks' \(or 'file'\) is missing"),
        ({"networks": 2, "error": 0.0}, "error must lie between 0 and 1, not 0.0"),
        ({"networks": 2, "first": 5, "input": (1, 2, 2)}, "first must lie between 1 and 4, not 5"),
        ({"file": "a.npy", "networks": 2}, "give either file, or networks with error and first.*"),
    ],
)
def test_a_source_that_cannot_be(values, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        Source(**values)
