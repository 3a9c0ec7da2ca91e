"""Networks of torchvision and timm, for any number of channels."""

import sys
import types

import pytest
import torch
import torchvision
from torch import nn

from pipeline import networks
from pipeline.networks.dry_run import dry_run
from pipeline.report.labels import label


def specify(import_path, **arguments):
    """The specification of a network of a library."""
    return networks.specification({"network": import_path, **arguments})


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("name", ["squeezenet1_1", "mobilenet_v3_small"])
def test_a_network_of_torchvision_has_as_many_channels_as_an_experiment(name, channels):
    original = nn.Conv2d.__init__
    specification = specify(f"torchvision.models:{name}")
    dry_run(specification, (channels, 64, 64), 2)
    assert nn.Conv2d.__init__ is original
    assert networks.symmetry(specification) == networks.Symmetry("measured")
    assert label(specification) == f"torchvision's {name}"


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_the_first_convolution_is_drawn_from_the_networks_own_distribution(channels):
    """ResNet's variance is 2 / (64·7·7); PyTorch's would be 1 / (3·49·channels)."""
    network = networks.build(specify("torchvision.models:resnet18"), channels, 2, 5)
    weight = network.conv1.weight
    assert weight.shape == (64, channels, 7, 7)
    assert network.conv1.stride == (2, 2)
    assert weight.var().item() == pytest.approx(2 / (64 * 49), rel=0.1)
    if channels == 3:
        with torch.random.fork_rng():
            torch.manual_seed(5)
            theirs = torchvision.models.resnet18(num_classes=2).state_dict()
        for name, value in network.state_dict().items():
            assert torch.equal(theirs[name], value)


def test_networks_of_timm_are_called_by_its_own_names(monkeypatch):
    """timm is not installed here: a module with its calling convention replaces it."""
    timm = types.ModuleType("timm")
    models = types.ModuleType("timm.models")

    def tiny(in_chans, num_classes, depth=1):
        linear = nn.Linear(in_chans * 64, num_classes * depth)
        return nn.Sequential(nn.Flatten(), linear)

    def create_model(name, **arguments):
        return getattr(models, name)(**arguments)

    models.tiny = tiny
    timm.create_model = create_model
    monkeypatch.setitem(sys.modules, "timm", timm)
    monkeypatch.setitem(sys.modules, "timm.models", models)
    for import_path in ("timm:tiny", "timm.models:tiny"):
        network = networks.build(specify(import_path, depth=2), 4, 3, 0)
        assert network(torch.zeros(5, 4, 8, 8)).shape == (5, 6)
