"""Estimates in a given time: secants where enough networks can be had, gradients elsewhere; all
NADs or the first."""

import time

import numpy as np
import pytest

from pipeline.nads.estimator import Estimator
from pipeline.profile import untrained

SMALL = {"network": "pipeline.networks.mlp:MLP", "hidden": [8, 4]}
GRADIENT = Estimator("gradient", "readout", 100.0, "many", True, False)


def estimated(side, seconds):
    """NADs and response of a small network in a time of seconds."""
    specification, shape = SMALL | {"side": side}, (1, side, side)
    limit = time.monotonic() + seconds
    return untrained.estimated(specification, shape, GRADIENT, "cpu", limit)


def test_secants_are_taken_where_eight_networks_can_be_had():
    """Each takes 2·64 forward passes: 1.28 s at a hundredth of a second, 10.24 for eight."""
    assert untrained.affordable((1, 8, 8), 0.03, 10.3, 1) == (untrained.SECANT, [])
    estimator, (reason,) = untrained.affordable((1, 8, 8), 0.03, 10.2, 1)
    assert estimator == GRADIENT and "128 forward passes take 1 seconds" in reason
    assert untrained.affordable((1, 8, 8), 0.03, 10.3, 9)[0] == GRADIENT
    # Beyond 4,096 values one vector a network.
    assert untrained.affordable((3, 64, 64), 1.0, 0.0, 1)[0].method == "plain"


def test_too_few_networks_for_all_directions_are_said_to_be_so(in_this_process, repository):
    """A network that ends in a convolution gives one vector, and nothing is known of its symmetry.
    The small one gives four, each under eight elements of the square's."""
    assert untrained.spanning(SMALL | {"side": 8}, (1, 8, 8), GRADIENT) == 64 // (4 * 8)
    assert untrained.spanning(SMALL | {"side": 72}, (1, 72, 72), GRADIENT) == 4  # 100 directions
    assert not estimated(8, 0.0)[2]
    (repository / "own/headless.py").write_text(
        "from torch import nn\n\n\n"
        "def net(channels, outputs):\n"
        "    layers = nn.Conv2d(channels, 8, 3), nn.ReLU(), nn.Conv2d(8, outputs, 6)\n"
        "    return nn.Sequential(*layers, nn.Flatten())\n"
    )
    asked = {"network": "headless:net"}, (1, 8, 8), GRADIENT, "cpu"
    nads, response, (gap,) = untrained.estimated(*asked, 0.0)
    assert gap.startswith("4 untrained networks are too few") and "it takes 64" in gap
    assert (response.along(nads.directions) < 1e-6).sum() == 64 - 4 * untrained.ORDERS[
        nads.symmetry
    ]


def test_an_estimate_ends_in_time_but_has_the_least_networks(in_this_process):
    least, response, _ = estimated(8, 0.0)
    assert least.networks == untrained.LEAST and least.directions.shape == (64, 64)
    assert response.mean == pytest.approx(least.eigenvalues.mean())
    again, *_ = estimated(8, 0.0)
    np.testing.assert_array_equal(again.directions, least.directions)
    assert estimated(8, 1.0)[0].networks > untrained.LEAST


def test_of_large_inputs_the_first_nads_are_estimated_in_bounded_memory(
    in_this_process, monkeypatch
):
    """Each network has four features, each under eight elements of the square's symmetry."""
    monkeypatch.setattr(untrained, "ROWS", 256)
    nads, response, _ = estimated(72, 600)
    assert nads.networks == untrained.ROWS // (4 * 8) and len(nads.directions) == untrained.FIRST
    assert response.rows.shape == (untrained.ROWS, 72 * 72)
    squares = response.along(nads.directions) ** 2 * response.mean
    np.testing.assert_allclose(squares, nads.eigenvalues, rtol=1e-4)
    monkeypatch.setattr(untrained, "ROWS", 64)  # fewer than the vectors of four networks
    nads, response, _ = estimated(72, 600)
    assert (nads.method, nads.networks, len(response.rows)) == ("plain", 64 // 8, 64)
    monkeypatch.setattr(untrained, "ROWS", 256)
    monkeypatch.setattr(untrained, "VALUES", 64 * 72 * 72)  # of two networks: as of 3×1024×1024
    monkeypatch.setattr(untrained, "LEAST", 2)
    assert len(estimated(72, 600)[0].directions) <= 64 < untrained.FIRST
