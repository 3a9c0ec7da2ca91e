"""What may be asked of an estimate."""

import dataclasses

import pytest
from nads_samples import SECANT


@pytest.mark.parametrize("point", ["normal", "many", "zero"])
@pytest.mark.parametrize("symmetry", [True, False])
def test_the_other_estimand_keeps_everything_but_a_symmetry_that_it_lacks(point, symmetry):
    secant = dataclasses.replace(SECANT, point=point, symmetry=symmetry, compare=True)
    expected = symmetry and point != "normal"
    assert secant.other() == dataclasses.replace(secant, estimand="gradient", symmetry=expected)
