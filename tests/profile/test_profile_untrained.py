"""Estimates in a given time: secants where enough networks can be had, gradients elsewhere; all
NADs or the first; what is kept."""

import time

import numpy as np
import pytest
import torch

from pipeline.machine import store
from pipeline.nads.covariance import Covariance
from pipeline.nads.estimator import Estimator
from pipeline.nads.leading import Leading
from pipeline.nads.recipe import Recipe
from pipeline.profile import untrained
from pipeline.project.errors import InputError

SMALL = {"network": "pipeline.networks.mlp:MLP", "hidden": [8, 4]}
GRADIENT = Estimator("gradient", "readout", 100.0, "many", True, False)
IN_PROCESS = torch.device("cuda")
"""The device for which the work is done in this process; the networks' own is the CPU."""


def test_secants_are_taken_where_eight_networks_can_be_had_or_where_they_were():
    """Each takes 2·64 forward passes: 1.28 s at a hundredth of a second, 10.24 for eight."""
    shape = (1, 8, 8)
    assert untrained.affordable(None, shape, 0.03, 10.3)[0].estimand == "secant"
    estimator, reason = untrained.affordable(None, shape, 0.03, 10.2)
    assert estimator == GRADIENT and "128 forward passes take 1 seconds" in reason
    assert untrained.affordable("secant", shape, 0.03, 0.0) == (
        Estimator("secant", "readout", 100.0, "normal", True, False),
        None,
    )
    assert untrained.affordable("gradient", shape, 0.03, 1e6)[0].estimand == "gradient"
    # Beyond 4,096 values one vector a network.
    assert untrained.affordable("gradient", (3, 64, 64), 1.0, 0.0)[0].method == "plain"


def recipe(side, **others):
    """The recipe of gradients of a small network."""
    specification = SMALL | {"side": side} | others
    return Recipe(specification, {}, (1, side, side), (0, "profile"), GRADIENT, "cpu")


@pytest.mark.parametrize(("side", "kind"), [(8, Covariance), (72, Leading)])
def test_an_estimate_has_bounded_memory(side, kind):
    task = untrained.empty_task(recipe(side), None)
    assert isinstance(task.estimation.accumulator, kind)
    # Four features of a network, each under eight elements of the square's symmetry.
    most = untrained.MOST if kind is Covariance else untrained.ROWS // (4 * 8)
    assert task.estimation.networks == most


@pytest.fixture
def estimated(tmp_path):
    """Gives NADs and response of a small network in a time of seconds, made in this process."""

    def estimate(seconds, **others):
        limit, sums = time.monotonic() + seconds, store.Sums(tmp_path, "key")
        return untrained.estimated(recipe(8, **others), sums, IN_PROCESS, limit)

    return estimate


def test_an_estimate_ends_in_time_and_the_next_goes_on_from_it(estimated, tmp_path):
    least, _ = estimated(0.0)
    assert least.networks == untrained.LEAST
    more, response = estimated(1.0)
    assert more.networks > untrained.LEAST
    assert [path.stem for path in tmp_path.rglob("*.safetensors")] == [f"{more.networks:07d}"]
    again, _ = estimated(0.0)
    assert again.networks == more.networks
    np.testing.assert_array_equal(again.directions, more.directions)
    assert response.mean == pytest.approx(more.eigenvalues.mean())


def test_what_a_network_raises_is_raised(estimated):
    with pytest.raises(InputError, match="cannot be built with"):
        estimated(0.1, depth=3)
