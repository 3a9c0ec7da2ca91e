"""What may be asked of an estimate."""

import dataclasses

import pytest

from pipeline.nads import Estimator, Source

VALUES = {
    "estimand": "secant",
    "method": "readout",
    "step": 100.0,
    "point": "normal",
    "symmetry": True,
    "compare": False,
}


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"estimand": "hessian"}, "estimand must be one of secant, gradient, not 'hessian'"),
        ({"step": -1.0}, r"step must lie between 0.001 and 1e\+06, not -1.0"),
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
        Estimator(**VALUES | wrong)


@pytest.mark.parametrize("point", ["normal", "many", "zero"])
@pytest.mark.parametrize("symmetry", [True, False])
def test_the_other_estimand_keeps_everything_but_a_symmetry_that_it_lacks(point, symmetry):
    secant = Estimator(**VALUES | {"point": point, "symmetry": symmetry, "compare": True})
    gradient = secant.other()
    assert gradient == dataclasses.replace(
        secant, estimand="gradient", symmetry=symmetry and point != "normal"
    )


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"networks": 1}, r"networks must be at least 2 \(halves are compared\), not 1"),
        ({}, r"the key 'networks' \(or 'file'\) is missing"),
        ({"networks": 2, "error": 0.0}, "error must lie between 0 and 1, not 0.0"),
        (
            {"networks": 2, "first": 13, "input": (3, 2, 2)},
            "first must lie between 1 and 12, not 13",
        ),
        (
            {"networks": 2, "input": (3, 2)},
            r"input must be \[channels, height, width\], not \(3, 2\)",
        ),
        (
            {"file": "a.npy", "networks": 2},
            "give either file, or networks with error and first, not both",
        ),
    ],
)
def test_a_source_that_cannot_be(values, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        Source(**values)


def test_a_source_covers_the_directions_that_it_will_have():
    whole = Source(2, input=(3, 1, 2))
    assert whole.covers(5)
    assert not whole.covers(6)
    assert Source(2, first=4).covers(3)
    assert not Source(2, first=4).covers(4)
    assert Source(file="a.npy").covers(1023)
    assert Source(2).input == (1, 32, 32)
