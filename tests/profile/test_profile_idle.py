"""Weights that hardly affect the output before training."""

import pytest
import torch
from torch import nn

from pipeline import networks
from pipeline.profile.idle import find_idle_weights, idle_share


class TwoBranches(nn.Module):
    """One linear map, and a second one of twice its size whose output is scaled."""

    def __init__(self, scale):
        super().__init__()
        self.first = nn.Linear(16, 1)
        self.second = nn.Sequential(nn.Linear(16, 1, bias=False), nn.Linear(1, 16))
        self.scale = scale

    def forward(self, x):
        x = x.flatten(1)
        return self.first(x) + self.scale * self.second(x).sum(1, keepdim=True)


class Experts(nn.Module):
    """Two maps, of which each pass uses one."""

    def __init__(self):
        super().__init__()
        self.maps = nn.ModuleList(nn.Linear(16, 1) for _ in range(2))

    def forward(self, x):
        return self.maps[torch.randint(2, ())](x.flatten(1))


@pytest.mark.parametrize(("scale", "share"), [(0, 2 / 3), (1e-6, 2 / 3), (1, 0)])
def test_weights_of_a_branch_that_starts_near_zero_are_idle(scale, share):
    torch.manual_seed(0)
    assert idle_share(TwoBranches(scale), (1, 4, 4)) == pytest.approx(share)


def test_weights_that_are_never_used_are_idle():
    network = TwoBranches(1)
    network.unused = nn.Linear(48, 1)
    torch.manual_seed(0)
    assert idle_share(network, (1, 4, 4)) == pytest.approx(1 / 2)


def test_weights_before_a_batch_norm_have_an_effect():
    """The mean of its outputs over a batch does not depend on them."""
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Conv2d(1, 64, 3), nn.BatchNorm2d(64), nn.Flatten(), nn.Linear(256, 1)
    )
    assert idle_share(network, (1, 4, 4)) == 0


def test_weights_in_the_depth_of_a_plain_network_have_an_effect():
    """Its biases decide most of the output, which is nearly the same for all images."""
    torch.manual_seed(0)
    hidden = [part for _ in range(20) for part in (nn.Linear(16, 16), nn.Tanh())]
    network = nn.Sequential(nn.Flatten(), *hidden, nn.Linear(16, 1))
    assert idle_share(network, (1, 4, 4)) == 0


def test_weights_that_only_some_passes_use_have_an_effect():
    torch.manual_seed(0)
    assert idle_share(Experts(), (1, 4, 4)) == 0


def test_frozen_weights_are_left_out():
    network = TwoBranches(1e-6)
    network.second.requires_grad_(False)
    assert idle_share(network, (1, 4, 4)) == 0
    network.first.requires_grad_(False)
    network.first.bias.requires_grad_(True)
    assert idle_share(network, (1, 4, 4)) == 0


def test_a_network_without_output_has_no_idle_weights():
    network = nn.Sequential(nn.Flatten(), nn.Linear(16, 1))
    nn.init.zeros_(network[1].weight)
    assert idle_share(network, (1, 4, 4)) == 0


@pytest.mark.parametrize("name", [*networks.NETWORKS])
def test_of_the_built_in_networks_convnext_has_idle_weights(name):
    arguments = {"hidden": [100, 20]} if name == "mlp" else {}
    specification = networks.specification({"network": name} | arguments)
    assert bool(find_idle_weights(specification, (1, 32, 32))) == (name == "convnext")


def test_convnext_with_a_layer_scale_of_one_has_none():
    specification = networks.specification({"network": "convnext", "scale": 1})
    assert not find_idle_weights(specification, (1, 32, 32))
