"""What may be asked of an estimate, and the plan that holds it."""

import dataclasses
import json

import numpy as np
import pytest
from torch import nn

from pipeline.nads import Estimator, Source, Spectrum, estimate, imported
from pipeline.nads.plan import NADsPlan, Request
from pipeline.nads.progress import Recipe
from pipeline.project.errors import InputError

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
        ({"method": "exact"}, "method must be one of readout, plain, not 'exact'"),
        ({"point": "one"}, "point must be one of normal, many, zero, not 'one'"),
        ({"step": 0.0}, "step must be positive, not 0.0"),
        ({"step": -1.0}, "step must be positive, not -1.0"),
        ({"step": float("inf")}, "step must be positive, not inf"),
        ({"step": float("nan")}, "step must be positive, not nan"),
        ({"step": 1e-30}, r"step must lie between 0.001 and 1e\+06, not 1e-30"),
        ({"step": 9.9e-4}, r"step must lie between 0.001 and 1e\+06, not 0.00099"),
        ({"step": 1e6 + 1}, r"step must lie between 0.001 and 1e\+06, not 1000001.0"),
        (
            {"estimand": "gradient"},
            "symmetry does not hold for the gradient at one fixed image; set symmetry: false, or point: many or zero",
        ),
    ],
)
def test_an_estimator_that_cannot_be(wrong, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        Estimator(**VALUES | wrong)


def test_the_smallest_and_the_largest_step():
    for step in (1e-3, 0.5, 1e6):
        assert Estimator(**VALUES | {"step": step}).step == step


def test_the_gradient_has_symmetries_where_the_point_has_none():
    secant = Estimator(**VALUES)
    for point, symmetric in (("normal", False), ("many", True), ("zero", True)):
        gradient = dataclasses.replace(secant, estimand="gradient", point=point, symmetry=False)
        assert gradient.symmetric() == symmetric
        assert dataclasses.replace(secant, point=point).symmetric()


@pytest.mark.parametrize("point", ["normal", "many", "zero"])
@pytest.mark.parametrize("symmetry", [True, False])
def test_the_other_estimand_keeps_everything_but_a_symmetry_that_it_lacks(point, symmetry):
    secant = Estimator(**VALUES | {"point": point, "symmetry": symmetry, "compare": True})
    gradient = secant.other()
    assert gradient == dataclasses.replace(secant, estimand="gradient", symmetry=symmetry and point != "normal")
    assert gradient.other().estimand == "secant"
    assert gradient.other().symmetry == gradient.symmetry


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"networks": 1}, r"networks must be at least 2 \(halves are compared\), not 1"),
        ({}, r"the key 'networks' \(or 'file'\) is missing"),
        ({"networks": 2, "error": 0.0}, "error must lie between 0 and 1, not 0.0"),
        ({"networks": 2, "error": 1.0}, "error must lie between 0 and 1, not 1.0"),
        ({"networks": 2, "first": 0}, "first must lie between 1 and 1024, not 0"),
        ({"networks": 2, "first": 13, "input": (3, 2, 2)}, "first must lie between 1 and 12, not 13"),
        ({"networks": 2, "input": (3, 2)}, r"input must be \[channels, height, width\], not \(3, 2\)"),
        ({"networks": 2, "input": (3, 0, 2)}, r"input must be \[channels, height, width\], not \(3, 0, 2\)"),
        ({"networks": 1_000_001}, "networks must be at most 1,000,000, not 1000001"),
        ({"networks": 2, "input": (1, 1000, 1001)}, "input must hold at most 1,000,000 values, not 1001000"),
        ({"file": "a.npy", "networks": 2}, "give either file, or networks with error and first, not both"),
        ({"file": "a.npy", "error": 0.5}, "give either file, or networks with error and first, not both"),
        ({"file": "a.npy", "first": 5}, "give either file, or networks with error and first, not both"),
    ],
)
def test_a_source_that_cannot_be(values, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        Source(**values)


def test_a_source_covers_the_directions_that_it_will_have():
    whole, leading = Source(2, input=(3, 1, 2)), Source(2, 0.999, (3, 1, 2), first=6)
    assert whole.dimension == leading.dimension == 6
    assert whole.covers(5)
    assert not whole.covers(6)
    assert Source(2, first=4).covers(3)
    assert not Source(2, first=4).covers(4)
    assert Source(file="a.npy").covers(1023)
    assert Source(2, 1e-9, (1, 1, 1), 1).dimension == 1
    assert Source(2).input == (1, 32, 32)
    assert Source(1_000_000, input=(1, 1000, 1000)).dimension == 1_000_000


@pytest.mark.parametrize(
    "record",
    [
        Estimator(**VALUES),
        Source(2),
        Request({}, Source(2)),
        NADsPlan("smoke", 0, Estimator(**VALUES), {}),
        Recipe({}, (1, 2, 2), (0, "net"), Estimator(**VALUES), "cpu"),
        Spectrum(*[np.zeros(1)] * 6),
        imported(np.eye(4), (1, 2, 2)),
    ],
)
def test_records_cannot_be_changed(record):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, dataclasses.fields(record)[0].name, None)


def test_a_plan_comes_back_from_json_as_it_was():
    plan = NADsPlan(
        "smoke",
        3,
        Estimator(**VALUES),
        {
            "lenet": Request({"network": "pipeline.networks.lenet:LeNet", "side": 64}, Source(8, 0.1, (3, 64, 64), 10)),
            "theirs": Request({"network": "mine:Net"}, Source(file="theirs.npy")),
        },
    )
    assert NADsPlan.read(json.loads(json.dumps(dataclasses.asdict(plan)))) == plan


class Scaled(nn.Module):
    """A linear network whose output is so many times as large: derivatives of a size that one may choose."""

    def __init__(self, factor):
        super().__init__()
        self.fc, self.factor = nn.Linear(16, 1), factor

    def forward(self, x):
        return self.fc(self.factor * x.flatten(1))


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")  # in the sums, before they are looked at
@pytest.mark.parametrize("first", [None, 2])
@pytest.mark.parametrize(
    ("factor", "method", "step"),
    [
        (0.0, "plain", 100.0),
        (0.0, "readout", 0.5),
        (1e-38, "plain", 1e-3),
        (1e38, "plain", 1e6),
        (float("nan"), "plain", 100.0),
        (float("inf"), "readout", 100.0),
    ],
)
def test_a_covariance_that_is_zero_or_no_number_is_refused_and_the_step_named(factor, method, step, first):
    """Outputs that do not change, not even in the last bit, or leave float32's range."""
    with pytest.raises(
        InputError, match=r"^C, the covariance of the networks' input derivative \(secant, step "
    ) as caught:
        estimate(lambda: Scaled(factor), (1, 4, 4), 6, method=method, step=step, first=first)
    assert f"step {step:g}), is zero or not finite; take another step" in str(caught.value)


@pytest.mark.parametrize("first", [None, 2])
@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e15])
def test_one_that_is_small_or_large_is_not(factor, first):
    nads = estimate(lambda: Scaled(factor), (1, 4, 4), 6, method="plain", first=first)
    assert 0.1 * factor**2 / 48 < nads.eigenvalues[0] < 100 * factor**2 / 48
