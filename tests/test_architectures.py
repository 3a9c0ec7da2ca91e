"""The table of networks: parameter counts of SCIENCE's networks, and what is refused."""

import sys
import types

import pytest
import torch
import torch.nn.functional as F

from pipeline import networks
from pipeline.machine import closure
from pipeline.networks.resnet import Residual
from pipeline.project.errors import InputError
from pipeline.report.labels import LABELS, label


@pytest.mark.parametrize(
    ("specification", "count"),
    [
        ({"network": "logreg"}, 1_025),
        ({"network": "lenet"}, 60_941),
        ({"network": "vgg11"}, 9_750_657),
        ({"network": "resnet18"}, 11_168_193),
        ({"network": "densenet121"}, 6_945_921),
        ({"network": "mlp", "hidden": [100, 20]}, 1024 * 100 + 100 + 100 * 20 + 20 + 21),
        ({"network": "lenet", "downsampling": "stride"}, 60_941),
        ({"network": "lenet", "downsampling": "none"}, 60_941 + (24**2 - 5**2) * 16 * 120),
        ({"network": "resnet18", "downsampling": "none"}, 11_168_193 + (32**2 - 1) * 512),
        # Three strided 1×1 convolutions with their batch norms are all that a skip connection has of its own.
        ({"network": "resnet18", "skip": False}, 11_168_193 - 64 * 128 - 128 * 256 - 256 * 512 - 2 * (128 + 256 + 512)),
    ],
)
def test_parameter_counts(specification, count):
    network = networks.build(specification, 1, 1, 0)
    assert sum(p.numel() for p in network.parameters()) == count


@pytest.mark.parametrize(
    "specification",
    [
        {"network": "logreg"},
        {"network": "lenet"},
        {"network": "mlp", "hidden": [20, 5]},
        {"network": "vgg11"},
        {"network": "resnet18", "width": 0.125},
        {"network": "densenet121"},
    ],
)
def test_outputs_and_initial_weights(specification):
    network = networks.build(specification, 4, 2, 7)
    assert network.eval()(torch.zeros(3, 4, 32, 32)).shape == (3, 2)
    state = torch.get_rng_state()
    same, other = networks.build(specification, 4, 2, 7), networks.build(specification, 4, 2, 8)
    assert torch.equal(torch.get_rng_state(), state)
    pairs = list(zip(network.state_dict().values(), same.state_dict().values()))
    assert all(torch.equal(a, b) for a, b in pairs)
    assert any(not torch.equal(a, b) for a, b in zip(network.state_dict().values(), other.state_dict().values()))


@pytest.mark.parametrize(
    "specification",
    [
        {"network": "logreg", "side": 64},
        {"network": "lenet", "side": 64},
        {"network": "mlp", "hidden": [9], "side": 64},
        {"network": "vgg11", "width": 0.125, "side": 64},
        {"network": "resnet18", "width": 0.125},
        {"network": "densenet121", "growth": 4},
    ],
)
def test_inputs_of_64_pixels(specification):
    networks.check({"large": specification}, {"large": {((1, 64, 64), 1), ((3, 64, 64), 2)}})


def test_networks_of_torchvision_are_named_without_code():
    specification = {"network": "torchvision.models:mobilenet_v3_small"}
    networks.check({"theirs": specification}, {"theirs": {((3, 64, 64), 1)}})
    assert networks.symmetry(specification) == "measured"
    assert closure.Code().reached(networks.resolved(specification)["network"])[1] == {"torchvision"}
    assert label(specification) == "mobilenet_v3_small"
    with pytest.raises(InputError, match="take 3 channels, not 1"):
        networks.check({"theirs": specification}, {"theirs": {((1, 32, 32), 1)}})


def test_networks_of_timm_are_called_by_its_own_names(monkeypatch):
    """timm is the user's own dependency: a stand-in with its calling convention takes its place here."""
    stand_in = types.ModuleType("timm.models")

    def create(in_chans, num_classes, depth=1):
        return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(in_chans * 64, num_classes * depth))

    stand_in.tiny = create
    monkeypatch.setitem(sys.modules, "timm", types.ModuleType("timm"))
    monkeypatch.setitem(sys.modules, "timm.models", stand_in)
    network = networks.build({"network": "timm.models:tiny", "depth": 2}, 4, 3, 0)
    assert network(torch.zeros(5, 4, 8, 8)).shape == (5, 6)


def test_pooling_before_relu_is_lenet():
    network, x = networks.build({"network": "lenet"}, 1, 2, 0), torch.randn(5, 1, 32, 32)
    y = F.max_pool2d(F.relu(network.conv1(x)), 2)
    y = F.max_pool2d(F.relu(network.conv2(y)), 2).flatten(1)
    expected = network.fc3(F.relu(network.fc2(F.relu(network.fc1(y)))))
    assert torch.equal(network.eval()(x), expected)
    with torch.no_grad():
        assert torch.equal(network(x), expected), "pooling is written differently without gradients"


@pytest.mark.parametrize("downsampling", ["pool", "stride", "none"])
def test_filters_of_zeros_change_no_output_and_no_gradient(downsampling):
    network, x = (
        networks.build({"network": "lenet", "downsampling": downsampling}, 2, 2, 0),
        torch.randn(5, 2, 32, 32),
    )
    found = []
    for mode in (True, False):
        network.train(mode)
        output = network(x)
        found.append([output, *torch.autograd.grad(output.square().sum(), network.parameters())])
    for trained, evaluated in zip(*found):
        torch.testing.assert_close(trained, evaluated, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("specification", "sentence"),
    [
        (
            {"network": "lenet5"},
            "the network 'lenet5' is unknown; known are logreg, mlp, lenet, vgg11, resnet18, densenet121, or",
        ),
        ({}, "the network None is unknown"),
        ({"network": "lenet", "width": 2}, "takes no argument 'width'"),
        ({"network": "mlp", "hidden": "ten"}, "cannot be built"),
        ({"network": "resnet18", "width": 0.01}, "width must lie between"),
        ({"network": "vgg11", "width": 5}, "width must lie between"),
        ({"network": "vgg11", "side": 40}, "multiple of 32"),
        ({"network": "lenet", "side": 30}, "multiple of 4"),
        ({"network": "lenet", "downsampling": "average"}, "downsampling must be one of pool, stride, none"),
        ({"network": "resnet18", "skip": "no"}, "skip must be one of True, False"),
    ],
)
def test_what_is_refused(specification, sentence):
    with pytest.raises(InputError, match=sentence):
        networks.build(specification, 1, 1, 0)
    with pytest.raises(InputError, match=r"^architectures\.mine: "):
        networks.check({"mine": specification}, {"mine": {((1, 32, 32), 1)}})


def test_vgg11_is_drawn_as_the_papers_draw_it():
    network = networks.build({"network": "vgg11"}, 1, 1, 0)
    for layer in network.features:
        if isinstance(layer, torch.nn.Conv2d):
            assert not layer.bias.any()
            assert float(layer.weight.detach().std()) == pytest.approx((2 / (9 * layer.out_channels)) ** 0.5, rel=0.05)


def test_every_network_has_a_label_and_states_its_symmetry():
    assert set(LABELS) == set(networks.NETWORKS)
    for network in networks.NETWORKS:
        assert networks.symmetry({"network": network}) in {"square", "transposition", "none"}
    assert networks.symmetry({"network": "lenet", "downsampling": "stride"}) == "transposition"
    assert label({"network": "lenet", "downsampling": "none"}) == "LeNet, no pooling"


def test_networks_without_pooling_and_without_skip_connections():
    x = torch.randn(2, 1, 32, 32)
    strided = networks.build({"network": "lenet", "downsampling": "stride"}, 1, 2, 0)
    assert strided.conv1(x).shape[-1] == 14 and strided(x).shape == (2, 2)
    unpooled = networks.build({"network": "resnet18", "width": 0.125, "downsampling": "none"}, 1, 2, 0)
    assert unpooled.blocks(unpooled.conv1(x)).shape[-1] == 32
    block = Residual(4, 4, 1, skip=False).eval()
    y = torch.randn(2, 4, 8, 8)
    expected = F.relu(block.bn2(block.conv2(F.relu(block.bn1(block.conv1(y))))))
    assert torch.equal(block(y), expected)


def tiny(channels, outputs, filters=4):
    """A network of one's own, as a user would write it: no symmetry stated, no linear read-out."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(channels, filters, 3),
        torch.nn.ReLU(),
        torch.nn.Conv2d(filters, outputs, 30),
        torch.nn.Flatten(),
    )


def test_a_network_of_ones_own():
    specification = {"network": "test_architectures:tiny", "filters": 3}
    networks.check({"mine": specification}, {"mine": {((1, 32, 32), 1), ((2, 32, 32), 2)}})
    assert networks.build(specification, 2, 5, 0)(torch.zeros(4, 2, 32, 32)).shape == (4, 5)
    assert networks.symmetry(specification) == "measured" and networks.symmetry({"network": "lenet"}) == "square"
    assert label(specification) == "tiny (filters 3)"


@pytest.mark.parametrize(
    ("specification", "sentence"),
    [
        ({"network": "no_such_module:net"}, "cannot be imported"),
        ({"network": "test_architectures:no_such_name"}, "cannot be imported"),
        ({"network": "test_architectures:tiny", "filter": 3}, "takes no argument 'filter'; it takes filters"),
        ({"network": "test_architectures:tiny", "filters": "x"}, "cannot be built"),
        ({"network": "torch.nn:Conv2d", "kernel_size": 3}, r"maps \(2, 1, 32, 32\) to \(2, 1, 30, 30\)"),
        ({"network": "torch.nn:Linear"}, "cannot be run"),
    ],
)
def test_what_is_refused_of_ones_own(specification, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        networks.check({"mine": specification}, {"mine": {((1, 32, 32), 1), ((2, 32, 32), 2)}})
    assert str(caught.value).startswith("architectures.mine: ")
