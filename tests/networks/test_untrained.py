"""Constructors that return untrained networks, and those that do not."""

import copy

import pytest
from torch import nn

from pipeline.networks.untrained import check_untrained
from pipeline.project.errors import InputError

LOADED = nn.Linear(4, 2)


def constant():
    network = nn.Linear(4, 2)
    nn.init.zeros_(network.weight)
    nn.init.zeros_(network.bias)
    return network


@pytest.mark.parametrize("make", [lambda: copy.deepcopy(LOADED), constant])
def test_fixed_weights_are_refused(make):
    with pytest.raises(InputError, match="the same under two of torch's seeds, so it is not un"):
        check_untrained(make)


@pytest.mark.parametrize(("frozen", "fixed"), [(False, ["0.weight", "0.bias"]), (True, [])])
def test_parameters_that_are_fixed_are_named_and_constants_are_not(frozen, fixed):
    first = copy.deepcopy(LOADED).requires_grad_(not frozen)
    make = lambda: nn.Sequential(first, nn.BatchNorm1d(2), nn.Linear(2, 1))
    assert check_untrained(make) == fixed
