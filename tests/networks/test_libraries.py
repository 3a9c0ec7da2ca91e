"""Networks of torchvision and timm: how they are named, and that they read any number
of channels by their own law."""

import sys
import types

import pytest
import torch
import torchvision
from torch import nn

from pipeline import networks
from pipeline.networks.dry_run import dry_run
from pipeline.report.labels import label


def of(place, **arguments):
    """The specification of a network of a library."""
    return networks.specification({"network": place} | arguments)


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("name", ["squeezenet1_1", "mobilenet_v3_small"])
def test_a_network_of_torchvision_reads_as_many_channels_as_an_experiment_has(
    name, channels
):
    plain = nn.Conv2d.__init__
    specification = of(f"torchvision.models:{name}")
    dry_run(specification, (channels, 64, 64), 2)
    assert nn.Conv2d.__init__ is plain
    assert networks.symmetry(specification) == networks.Symmetry("measured")
    assert label(specification) == f"torchvision's {name}"


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_the_first_convolution_is_drawn_by_the_networks_own_law(channels):
    """ResNet draws it with variance 2 / (64·7·7), whatever it reads; torch's default
    would be 1 / (3·49·channels)."""
    network = networks.build(of("torchvision.models:resnet18"), channels, 2, 5)
    weight = network.conv1.weight
    assert weight.shape == (64, channels, 7, 7) and network.conv1.stride == (2, 2)
    assert weight.var().item() == pytest.approx(2 / (64 * 49), rel=0.1)
    if channels == 3:
        with torch.random.fork_rng():
            torch.manual_seed(5)
            theirs = torchvision.models.resnet18(num_classes=2).state_dict()
        assert all(
            torch.equal(theirs[name], w) for name, w in network.state_dict().items()
        )


def test_networks_of_timm_are_called_by_its_own_names(monkeypatch):
    """timm is the user's own dependency: a stand-in with its calling convention takes
    its place here."""
    stand_in = types.ModuleType("timm")
    models = types.ModuleType("timm.models")

    def create(in_chans, num_classes, depth=1):
        return nn.Sequential(
            nn.Flatten(), nn.Linear(in_chans * 64, num_classes * depth)
        )

    models.tiny = create
    stand_in.create_model = lambda name, **arguments: vars(models)[name](**arguments)
    monkeypatch.setitem(sys.modules, "timm", stand_in)
    monkeypatch.setitem(sys.modules, "timm.models", models)
    for place in ("timm:tiny", "timm.models:tiny"):
        assert networks.build(of(place, depth=2), 4, 3, 0)(
            torch.zeros(5, 4, 8, 8)
        ).shape == (5, 6)
