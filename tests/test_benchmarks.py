"""The formulas that the benchmarks rest on; the times that they measure are never tested."""

import numpy as np
import pytest
import torch
from torch import nn

from benchmarks import grid as throughput
from benchmarks import nads
from pipeline import networks
from pipeline.networks.lenet import LeNet


def test_the_fourth_moment_of_a_plain_derivative():
    """E‖Jᵀa‖⁴ for the read-out's uniform a against brute force."""
    jacobian = np.random.default_rng(0).standard_normal((6, 9))
    torch.manual_seed(0)
    weights = nn.Linear(6, 200_000).weight.detach().double().numpy()
    sampled = (((weights @ jacobian) ** 2).sum(1) ** 2).mean()
    assert nads.plain_fourth_moment(jacobian / np.sqrt(18)) == pytest.approx(sampled, rel=0.01)


def test_the_reference_is_the_same_function():
    torch.manual_seed(3)
    usual = nads.UsualLeNet(1, 1)
    ours = LeNet(1, 1).eval()
    ours.load_state_dict(usual.state_dict())
    x = torch.randn(4, 1, 32, 32)
    assert torch.equal(usual(x), ours(x))


def test_the_symmetries_of_a_lenet_save_five_to_eight_of_its_networks():
    """Eight elements of the square, less what the samples of one network have in common."""
    _, (plain, readout, symmetric) = nads.one_round("lenet", range(4))
    assert plain > 10 * readout and 5 < readout / symmetric < 8


@pytest.mark.slow
def test_every_way_trains_the_same_cells():
    """One at a time, together, and the usual loop: same data, weights, order and schedule."""
    specification = networks.specification({"network": "mlp", "hidden": [6, 4]})
    cells = [throughput.Cell(specification, throughput.TRAINING(1), seed) for seed in range(3)]
    sets, device = throughput.data(200), torch.device("cpu")
    found = [throughput.train_group(device, sets, [cell])[0] for cell in cells]
    assert throughput.train_group(device, sets, cells) == pytest.approx(found, abs=0.01)
    assert throughput.usual(cells[0], sets, device) == pytest.approx(found[0], abs=0.01)
    assert len(set(found)) > 1 and all(0.4 < accuracy <= 1 for accuracy in found)
