"""Constructors that return untrained networks, and those that do not."""

import pytest
from torch import nn

from pipeline.networks.untrained import check_untrained
from pipeline.project.errors import InputError

CHECKPOINT = nn.Linear(4, 2).state_dict()


def loaded():
    network = nn.Linear(4, 2)
    network.load_state_dict(CHECKPOINT)
    return network


def constant():
    network = nn.Linear(4, 2)
    nn.init.zeros_(network.weight)
    nn.init.zeros_(network.bias)
    return network


def partly(frozen):
    """A network whose first layer is loaded."""
    first = loaded().requires_grad_(not frozen)
    return nn.Sequential(first, nn.BatchNorm1d(2), nn.Linear(2, 1))


@pytest.mark.parametrize("make", [loaded, constant])
def test_fixed_weights_are_refused(make):
    with pytest.raises(InputError, match="the same under two of torch's seeds, so it is not un"):
        check_untrained(make)


def test_parameters_that_are_fixed_are_named_and_constants_are_not():
    assert check_untrained(lambda: partly(frozen=False)) == ["0.weight", "0.bias"]
    assert check_untrained(lambda: partly(frozen=True)) == []
