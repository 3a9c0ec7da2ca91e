"""What ConvNeXt without blocks can see."""

import numpy as np
import pytest
import torch

from pipeline import networks
from pipeline.training.shapes import SIDE
from studies import layer_scale


def test_repeated_energy_is_that_of_the_mean_patch():
    patch = np.random.default_rng(0).standard_normal((16, 16))
    tiled = np.tile(patch, (2, 2)).ravel()
    tiled /= np.linalg.norm(tiled)
    assert layer_scale.repeated_energy(tiled) == pytest.approx(1)
    signs = np.kron([[1, -1], [-1, 1]], np.ones((16, 16))).ravel()
    assert layer_scale.repeated_energy(tiled * signs) == pytest.approx(0, abs=1e-12)
    one = np.zeros((SIDE, SIDE))
    one[3, 20] = 1
    assert layer_scale.repeated_energy(one.ravel()) == pytest.approx(1 / 4)


def test_without_blocks_exchanged_patches_change_nothing():
    specification = networks.specification({"network": "convnext", "scale": 0.0})
    network = networks.build(specification, 1, 2, 0)
    x = torch.randn(4, 1, SIDE, SIDE)
    size = layer_scale.PATCH
    with torch.no_grad():
        same = network(x.roll((size, size), (2, 3)))
        other = network(x.roll((size // 2, 0), (2, 3)))
        torch.testing.assert_close(same, network(x))
        assert (other - network(x)).abs().max() > 1e-3


def test_a_gain_multiplies_the_gradients_of_blocks_and_no_others():
    specification = networks.specification({"network": "convnext", "scale": 1.0})
    x = torch.randn(4, 1, SIDE, SIDE)
    gradients = []
    for gain in (1.0, 100.0):
        network = networks.build(specification, 1, 2, 0)
        layer_scale.multiply_gradients(network, gain)
        network(x).square().sum().backward()
        gradients.append({name: w.grad for name, w in network.named_parameters()})
    for name, gradient in gradients[0].items():
        in_block = any(part in name for part in ("depthwise", "mlp", ".norm."))
        factor = 100 if in_block else 1
        torch.testing.assert_close(gradients[1][name], factor * gradient, msg=name)
