"""The table of networks: how one is named, built and refused, and what it states of
itself."""

import pytest
import torch

from pipeline import networks
from pipeline.networks import registry
from pipeline.networks.dry_run import dry_run
from pipeline.project.errors import InputError

SMALL = [
    {"network": "logreg"},
    {"network": "lenet"},
    {"network": "mlp", "hidden": [20, 5]},
    {"network": "vgg11", "width": 0.125},
    {"network": "resnet18", "width": 0.125},
    {"network": "densenet121", "growth": 4},
    {"network": "vit", "width": 16},
    {"network": "mixer", "width": 16},
    {"network": "convmixer", "width": 16},
    {"network": "convnext", "widths": [4, 8, 16]},
]


def test_a_specification_holds_the_place_of_the_network_instead_of_its_name():
    for name, place in networks.NETWORKS.items():
        found = networks.specification({"network": name, "width": 2})
        assert found == {"network": place, "width": 2}
        assert networks.constructor(place).__module__ in place
    own = {"network": "my.module:net", "depth": 3}
    assert networks.specification(own) == own and networks.keywords(own) == {"depth": 3}


@pytest.mark.parametrize(
    ("architecture", "words"),
    [
        ({"network": "resnet18", "width": 0.01}, "width must be at least 0.125"),
        ({"network": "vgg11", "side": 40}, "side must be a multiple of 32"),
        ({"network": "lenet", "side": 12}, "side must be a multiple of 4, at least 16"),
        ({"network": "vit", "patch": 5}, "side must be a multiple of 5, not 32"),
        ({"network": "convnext", "side": 24}, "side must be a multiple of 16, not 24"),
        (
            {"network": "resnet18", "downsampling": "pool"},
            "one of stride, none, not 'pool'",
        ),
        (
            {"network": "resnet18", "skip": "no"},
            "skip must be one of True, False, not 'no'",
        ),
    ],
)
def test_arguments_that_make_no_network_are_refused(architecture, words):
    with pytest.raises(InputError, match=words):
        dry_run(networks.specification(architecture), (1, 32, 32), 1)


@pytest.mark.parametrize(
    "architecture", SMALL, ids=lambda architecture: architecture["network"]
)
def test_a_network_is_drawn_by_its_seed_and_takes_any_size_and_number_of_channels(
    architecture,
):
    specification = networks.specification(architecture)
    state = torch.get_rng_state()
    made = [networks.build(specification, 4, 2, seed) for seed in (7, 7, 8)]
    assert torch.equal(torch.get_rng_state(), state)
    network, same, other = (each.state_dict() for each in made)
    assert all(torch.equal(value, same[name]) for name, value in network.items())
    assert any(not torch.equal(value, other[name]) for name, value in network.items())
    # Every weight has a gradient, which `dry_run` takes for granted.
    made[0].train()(torch.randn(2, 4, 32, 32)).square().sum().backward()
    assert all(weight.grad.isfinite().all() for weight in made[0].parameters())
    side = (
        {} if architecture["network"] in ("resnet18", "densenet121") else {"side": 64}
    )
    dry_run(specification | side, (3, 64, 64), 10)


def test_a_network_of_ones_own_may_build_on_any_of_ours():
    def names(place):
        return {path.name for path in networks.files(place)}

    assert names(networks.NETWORKS["lenet"]) == {"lenet.py"}
    assert names("torchvision.models:resnet18") == {"libraries.py"}
    assert names("my_networks:net") > {"lenet.py", "resnet.py", "arguments.py"}


def test_installed_networks_count_by_their_versions_and_ours_by_their_code(
    monkeypatch, tmp_path
):
    versions = {
        "torchvision": "0.5",
        "timm": "1.2",
        "their-networks": "3",
        "einops": "2",
    }

    def version(name):
        if name not in versions:
            raise registry.metadata.PackageNotFoundError
        return versions[name]

    places = {
        "their_networks": ["their-networks"],
        "einops": ["einops"],
        "other": ["other"],
    }
    monkeypatch.setattr(registry, "_distributions", lambda: places)
    monkeypatch.setattr(registry.metadata, "version", version)
    assert networks.version(networks.NETWORKS["lenet"]) == ""
    assert (
        networks.version("their_networks:net")
        == "their-networks 3, timm 1.2, torchvision 0.5"
    )
    del versions["timm"]
    assert networks.version("my_networks:net") == "torchvision 0.5"
    text = (
        "# -*- coding: latin-1 -*-\nfrom einops.layers.torch import Reduce  # réseau\n"
    )
    (tmp_path / "mine.py").write_text(text, encoding="latin-1")
    own = [str(tmp_path / "mine.py"), str(tmp_path / "weights.npy")]
    assert networks.version("mine:net", own) == "einops 2, torchvision 0.5"
