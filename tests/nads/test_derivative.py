"""Secants and gradients of functions against closed forms, in passes of any size."""

import numpy as np
import pytest
import torch
from torch import nn

from pipeline import networks
from pipeline.nads import derivative
from pipeline.nads.derivative import gradient, images_per_pass, secant


class Cubes:
    """The features f_k(x) = Σ_i w_ki x_i³, and a record of the batches in which they were asked for."""

    def __init__(self, features, pixels):
        self.weights = torch.randn(features, pixels, generator=torch.Generator().manual_seed(1)).double()
        self.batches = []

    def __call__(self, images):
        self.batches.append(len(images))
        assert len(images) == 1 or images.is_contiguous(memory_format=torch.channels_last)
        return images.flatten(1) ** 3 @ self.weights.T


@pytest.mark.parametrize("batch", [1, 2, 7, 8, 100])
def test_derivatives_of_cubes_in_passes_of_any_size(batch):
    """((x + h)³ − (x − h)³) / 2h = 3x² + h², and the gradient is 3x²."""
    shape, function = (2, 3, 5), Cubes(9, 30)
    point = torch.randn(30, generator=torch.Generator().manual_seed(2)).double()
    found = secant(function, point, 0.5, shape, batch)
    torch.testing.assert_close(found, function.weights * (3 * point**2 + 0.25), rtol=1e-12, atol=1e-12)
    assert max(function.batches) == min(60, max(2, batch // 2 * 2))
    assert sum(function.batches) == 60
    function.batches.clear()
    found = gradient(function, point, shape, batch)
    torch.testing.assert_close(found, function.weights * 3 * point**2, rtol=1e-12, atol=1e-12)
    assert function.batches[0] == 1
    assert sum(function.batches[1:]) == 9
    assert max(function.batches) == min(9, batch)


def test_passes_are_of_128_images_by_default():
    function = Cubes(200, 300)
    secant(function, torch.zeros(300).double(), 1.0, (3, 10, 10))
    assert function.batches == [128] * 4 + [88]
    function.batches.clear()
    gradient(function, torch.zeros(300).double(), (3, 10, 10))
    assert function.batches == [1, 128, 72]


def test_a_secant_keeps_no_graph_and_a_gradient_leaves_none_behind():
    linear = nn.Linear(4, 3)
    function = lambda images: linear(images.flatten(1))
    assert not secant(function, torch.zeros(4), 1.0, (1, 2, 2)).requires_grad
    point = torch.zeros(4)
    assert not gradient(function, point, (1, 2, 2)).requires_grad
    assert not point.requires_grad
    assert linear.weight.grad is None


def test_a_small_step_turns_the_secant_into_the_gradient():
    network = networks.build({"network": "pipeline.networks.lenet:LeNet"}, 1, 20, 3).double().eval()
    point = torch.randn(1024, generator=torch.Generator().manual_seed(0)).double()
    exact = gradient(network, point, (1, 32, 32))
    assert exact.shape == (20, 1024)
    torch.testing.assert_close(secant(network, point, 1e-6, (1, 32, 32)), exact, rtol=0, atol=1e-6)
    x = point.clone().requires_grad_()
    (row,) = torch.autograd.grad(network(x.reshape(1, 1, 32, 32))[0, 5], x)
    torch.testing.assert_close(exact[5], row, rtol=0, atol=1e-12)


class Pair(nn.Module):
    """A module whose output is no tensor."""

    def forward(self, x):
        return x, x


class First(nn.Module):
    """The first of two."""

    def forward(self, pair):
        return pair[0]


def test_passes_hold_fewer_images_where_layers_are_large(monkeypatch):
    wide = nn.Sequential(Pair(), First(), nn.Conv2d(1, 64, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 1))
    assert images_per_pass(wide, (1, 64, 64)) == 2**21 // (64 * 64 * 64) == 8
    assert images_per_pass(wide, (1, 128, 64)) == 4
    assert not any(module._forward_hooks for module in wide.modules())
    narrow = nn.Sequential(nn.Flatten(), nn.Linear(16_384, 1))
    assert images_per_pass(narrow, (1, 128, 128)) == 128
    monkeypatch.setattr(derivative, "ACTIVATION", 2**15)
    assert images_per_pass(nn.Sequential(nn.Conv2d(1, 1, 128)), (1, 128, 128)) == 2, "the input is a layer too"
    monkeypatch.setattr(derivative, "ACTIVATION", 5)
    assert images_per_pass(narrow, (1, 128, 128)) == 1


def test_hooks_are_removed_where_a_network_fails():
    network = nn.Sequential(nn.Flatten(), nn.Linear(16, 1))
    with pytest.raises(RuntimeError, match="shapes"):
        images_per_pass(network, (1, 5, 5))
    assert not any(module._forward_hooks for module in network.modules())


@pytest.mark.slow
def test_the_passes_of_the_networks_of_the_table():
    for network, arguments, shape, batch in (
        ("lenet", {}, (1, 32, 32), 128),
        ("resnet18", {}, (1, 32, 32), 32),
        ("resnet18", {"width": 0.125}, (1, 32, 32), 128),
        ("resnet18", {"width": 0.125}, (3, 224, 224), 5),
    ):
        built = networks.build(networks.specification({"network": network} | arguments), shape[0], 1, 0).eval()
        assert images_per_pass(built, shape) == batch
    found = secant(lambda x: x.flatten(1), torch.zeros(30), 1.0, (1, 5, 6), batch=7)
    np.testing.assert_array_equal(found, np.eye(30))
