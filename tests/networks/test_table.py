"""The table of networks: how one is named, built and refused, and what it states of itself."""

import pytest
import torch

from pipeline import networks
from pipeline.networks.dry_run import dry_run
from pipeline.project.errors import InputError
from pipeline.report.labels import LABELS, label

NAMES = ("logreg", "mlp", "lenet", "vgg11", "resnet18", "densenet121")


def tiny(channels, outputs, filters=4):
    """A network of one's own, as a user would write it: no symmetry stated, no linear read-out."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(channels, filters, 3),
        torch.nn.ReLU(),
        torch.nn.Conv2d(filters, outputs, 30),
        torch.nn.Flatten(),
    )


def looking(channels, outputs):
    """A network of one's own that needs the numbers themselves: torch's meta device has none."""

    class Looking(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(channels * 1024, outputs)

        def forward(self, x):
            return self.fc(x.flatten(1))[:, : outputs + int(x.sum() * 0)]

    return Looking()


def no_module(channels, outputs):
    """What is no network."""
    return {}


def no_tensor(channels, outputs):
    """A network of which the output is no tensor."""

    class Pair(torch.nn.Module):
        def forward(self, x):
            return x, x

    return Pair()


def leaving(channels, outputs):
    """What ends the process of whoever builds it."""
    raise SystemExit("goodbye")


def test_a_specification_holds_the_place_of_the_network_instead_of_its_name():
    assert tuple(networks.NETWORKS) == NAMES
    for name, place in networks.NETWORKS.items():
        found = networks.specification({"network": name, "width": 2})
        assert found == {"network": place, "width": 2} and networks.constructor(place).__module__ in place
    mine = {"network": "my.module:net", "depth": 3}
    assert networks.specification(mine) == mine and networks.keywords(mine) == {"depth": 3}


@pytest.mark.parametrize(
    ("architecture", "sentence"),
    [
        ({"network": "lenet5"}, r"the network 'lenet5' is unknown; did you mean 'lenet'\? One of your own is named"),
        (
            {"network": "cnn"},
            "the network 'cnn' is unknown; known are: logreg, mlp, lenet, vgg11, resnet18, densenet121",
        ),
        ({}, "the network None is unknown"),
        ({"network": 3}, "the network 3 is unknown"),
        ({"network": "torchvision.models.resnet18"}, "is unknown; write 'torchvision.models:resnet18' "),
        ({"network": "timm.resnet10t"}, "is unknown; write 'timm:resnet10t' "),
        ({"network": "my_networks.py:Mixer"}, "is unknown; write 'my_networks:Mixer' "),
        (
            {"network": "~/research/my_networks.py:Mixer"},
            "is unknown; write 'my_networks:Mixer', with ~/research in the environment variable PYTHONPATH ",
        ),
        ({"network": "resnet50"}, r"did you mean 'resnet18'\? .* a library's torchvision.models:name or timm:name"),
    ],
)
def test_what_is_in_no_table_is_refused(architecture, sentence):
    with pytest.raises(InputError, match=sentence):
        networks.specification(architecture)


@pytest.mark.parametrize(
    ("architecture", "sentence"),
    [
        ({"network": "lenet", "width": 2}, "takes no argument 'width'; known are: side, downsampling"),
        ({"network": "mlp", "hiden": [3]}, r"takes no argument 'hiden'; did you mean 'hidden'\?"),
        ({"network": "mlp", "hidden": "ten"}, "cannot be built with {'hidden': 'ten'}"),
        ({"network": "resnet18", "width": 0.01}, "width must lie between 0.125 and 4"),
        ({"network": "vgg11", "width": 5}, "width must lie between 0.125 and 4"),
        ({"network": "vgg11", "side": 40}, "side must be a multiple of 32"),
        ({"network": "lenet", "side": 30}, "side must be a multiple of 4, at least 16"),
        ({"network": "lenet", "side": 12}, "side must be a multiple of 4, at least 16"),
        (
            {"network": "lenet", "downsampling": "average"},
            "downsampling must be one of pool, stride, none, not 'average'",
        ),
        ({"network": "resnet18", "downsampling": "pool"}, "downsampling must be one of stride, none, not 'pool'"),
        ({"network": "resnet18", "skip": "no"}, "skip must be one of True, False, not 'no'"),
        ({"network": "no_such_module:net"}, "'no_such_module:net' cannot be imported"),
        ({"network": "test_table:no_such_name"}, "cannot be imported"),
        ({"network": "test_table:tiny", "filter": 3}, r"takes no argument 'filter'; did you mean 'filters'\?"),
        ({"network": "test_table:looking", "filter": 3}, "takes no argument 'filter'; it takes none"),
        ({"network": "test_table:tiny", "filters": "x"}, "cannot be built with {'filters': 'x'}"),
        (
            {"network": "torch.nn:Conv2d", "kernel_size": 3},
            r"maps \(2, 1, 32, 32\) to \(2, 1, 30, 30\), not to \(2, 1\)",
        ),
        ({"network": "torch.nn:Linear"}, "torch.nn:Linear cannot be run: "),
        ({"network": "mlp", "hidden": [0]}, "hidden must be made of whole numbers from 1 to 100,000, not 0"),
        ({"network": "mlp", "hidden": [5, 3.0]}, "hidden must be made of whole numbers from 1 to 100,000, not 3.0"),
        ({"network": "densenet121", "growth": 1001}, "growth must be made of whole numbers from 1 to 1,000, not 1001"),
        ({"network": "densenet121", "blocks": [6, 0]}, "blocks must be made of whole numbers from 1 to 100, not 0"),
        ({"network": "mlp", "hidden": [100_000, 100_000]}, "cannot be run: its weights take 40 GB, more than 4"),
        ({"network": "test_table:no_module"}, "cannot be run: it is of type dict, not a torch module"),
        ({"network": "test_table:no_tensor"}, "cannot be run: it returns a value of type tuple, not a tensor"),
        ({"network": "test_table:leaving"}, "cannot be run: SystemExit: goodbye"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_sentence(architecture, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        dry_run(networks.specification(architecture), (1, 32, 32), 1)
    assert "\n" not in str(caught.value)


def test_widths_at_the_limits_are_allowed():
    for name in ("vgg11", "resnet18"):
        for width in (0.125, 4):
            with torch.device("meta"):
                networks.build(networks.specification({"network": name, "width": width}), 1, 1, 0)


@pytest.mark.parametrize(
    "architecture",
    [
        {"network": "logreg"},
        {"network": "lenet"},
        {"network": "mlp", "hidden": [20, 5]},
        {"network": "vgg11", "width": 0.125},
        {"network": "resnet18", "width": 0.125},
        {"network": "densenet121", "growth": 4},
    ],
    ids=lambda architecture: architecture["network"],
)
def test_outputs_and_initial_weights(architecture):
    """The seed alone decides the weights, whatever random numbers the caller has drawn."""
    specification = networks.specification(architecture)
    network = networks.build(specification, 4, 2, 7)
    assert network.eval()(torch.zeros(3, 4, 32, 32)).shape == (3, 2)
    state = torch.get_rng_state()
    same, other = networks.build(specification, 4, 2, 7), networks.build(specification, 4, 2, 8)
    assert torch.equal(torch.get_rng_state(), state)
    pairs = list(zip(network.state_dict().values(), same.state_dict().values()))
    assert all(torch.equal(a, b) for a, b in pairs)
    assert any(not torch.equal(a, b) for a, b in zip(network.state_dict().values(), other.state_dict().values()))


@pytest.mark.parametrize(
    "architecture",
    [
        {"network": "logreg", "side": 64},
        {"network": "lenet", "side": 64},
        {"network": "mlp", "hidden": [9], "side": 64},
        {"network": "vgg11", "width": 0.125, "side": 64},
        {"network": "resnet18", "width": 0.125},
        {"network": "densenet121", "growth": 4},
    ],
    ids=lambda architecture: architecture["network"],
)
def test_inputs_of_64_pixels(architecture):
    for channels, outputs in ((1, 1), (3, 2)):
        dry_run(networks.specification(architecture), (channels, 64, 64), outputs)


def test_every_network_has_a_label_and_states_its_symmetry():
    assert set(LABELS) == set(networks.NETWORKS.values())
    stated = {name: networks.symmetry({"network": place}) for name, place in networks.NETWORKS.items()}
    assert stated == {name: "transposition" if name == "resnet18" else "square" for name in NAMES}
    lenet, resnet = networks.NETWORKS["lenet"], networks.NETWORKS["resnet18"]
    for specification, symmetry, name in (
        ({"network": lenet, "downsampling": "stride"}, "transposition", "LeNet, stride for pooling"),
        ({"network": lenet, "downsampling": "none"}, "square", "LeNet, no pooling"),
        ({"network": resnet, "downsampling": "none"}, "square", "ResNet-18, no pooling"),
    ):
        assert networks.symmetry(specification) == symmetry and label(specification) == name


def test_a_network_of_ones_own():
    specification = {"network": "test_table:tiny", "filters": 3}
    for channels, outputs in ((1, 1), (2, 2)):
        dry_run(specification, (channels, 32, 32), outputs)
    assert networks.build(specification, 2, 5, 0)(torch.zeros(4, 2, 32, 32)).shape == (4, 5)
    assert networks.symmetry(specification) == "measured" and networks.together(specification) == "alone"
    assert label(specification) == "tiny (filters 3)"


def test_a_network_that_needs_the_numbers_is_tried_for_real():
    assert dry_run({"network": "test_table:looking"}, (1, 32, 32), 3).size == 4 * 3 * 1025
