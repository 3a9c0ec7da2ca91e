"""The table of networks: parameter counts of SCIENCE's networks, and what is refused."""

import pytest
import torch
import torch.nn.functional as F

from pipeline import architectures
from pipeline.errors import InputError


@pytest.mark.parametrize(
    ("specification", "count"),
    [
        ({"network": "logreg"}, 1_025),
        ({"network": "lenet"}, 60_941),
        ({"network": "vgg11"}, 9_750_657),
        ({"network": "resnet18"}, 11_168_193),
        ({"network": "densenet121"}, 6_945_921),
        ({"network": "mlp", "hidden": [100, 20]}, 1024 * 100 + 100 + 100 * 20 + 20 + 21),
    ],
)
def test_parameter_counts(specification, count):
    network = architectures.build(specification, 1, 1, 0)
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
    network = architectures.build(specification, 4, 2, 7)
    assert network.eval()(torch.zeros(3, 4, 32, 32)).shape == (3, 2)
    state = torch.get_rng_state()
    same, other = architectures.build(specification, 4, 2, 7), architectures.build(specification, 4, 2, 8)
    assert torch.equal(torch.get_rng_state(), state)
    pairs = list(zip(network.state_dict().values(), same.state_dict().values()))
    assert all(torch.equal(a, b) for a, b in pairs)
    assert any(not torch.equal(a, b) for a, b in zip(network.state_dict().values(), other.state_dict().values()))


def test_pooling_before_relu_is_lenet():
    network, x = architectures.build({"network": "lenet"}, 1, 2, 0), torch.randn(5, 1, 32, 32)
    y = F.max_pool2d(F.relu(network.conv1(x)), 2)
    y = F.max_pool2d(F.relu(network.conv2(y)), 2).flatten(1)
    assert torch.equal(network(x), network.fc3(F.relu(network.fc2(F.relu(network.fc1(y))))))


@pytest.mark.parametrize(
    ("specification", "sentence"),
    [
        (
            {"network": "lenet5"},
            "the network 'lenet5' is unknown; known are logreg, mlp, lenet, vgg11, resnet18, densenet121",
        ),
        ({}, "the network None is unknown"),
        ({"network": "lenet", "width": 2}, "takes no argument 'width'"),
        ({"network": "mlp", "hidden": "ten"}, "cannot be built"),
        ({"network": "resnet18", "width": 0.01}, "width must lie between"),
    ],
)
def test_what_is_refused(specification, sentence):
    with pytest.raises(InputError, match=sentence):
        architectures.build(specification, 1, 1, 0)
    with pytest.raises(InputError, match=r"^architectures\.mine: "):
        architectures.check({"mine": specification})


def test_vgg11_is_drawn_as_the_papers_draw_it():
    network = architectures.build({"network": "vgg11"}, 1, 1, 0)
    for layer in network.features:
        if isinstance(layer, torch.nn.Conv2d):
            assert not layer.bias.any()
            assert float(layer.weight.detach().std()) == pytest.approx((2 / (9 * layer.out_channels)) ** 0.5, rel=0.05)


def test_every_network_has_a_label_and_states_its_symmetry():
    assert set(architectures.LABELS) == set(architectures.NETWORKS)
    assert {kind.symmetry for kind in architectures.NETWORKS.values()} <= {"square", "transposition", "none"}
