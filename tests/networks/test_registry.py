"""The table of networks: how a network is named, built, refused and identified."""

import pytest
import torch
from refusals import refused

from pipeline import networks
from pipeline.networks import checks, registry
from pipeline.networks.dry_run import dry_run

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


def test_a_specification_holds_the_import_path_of_the_network_instead_of_its_name():
    for name, import_path in networks.NETWORKS.items():
        found = networks.specification({"network": name, "width": 2})
        assert found == {"network": import_path, "width": 2}
        assert networks.constructor(import_path).__module__ in import_path
    own = {"network": "my.module:net", "depth": 3}
    assert networks.specification(own) == own
    assert networks.keywords(own) == {"depth": 3}


@pytest.mark.parametrize(
    ("name", "argument", "value"),
    [
        ("resnet18", "width", 0.01),
        ("vgg11", "side", 40),
        ("lenet", "side", 12),
        ("vit", "patch", 5),
        ("convnext", "side", 24),
        ("resnet18", "downsampling", "pool"),
        ("resnet18", "skip", "no"),
    ],
)
def test_arguments_that_make_no_network_are_refused(name, argument, value):
    specification = networks.specification({"network": name, argument: value})
    with refused("value") as caught:
        dry_run(specification, (1, 32, 32), 1)
    assert f"{argument} {value}" in caught.value.fields["place"]


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("nets.Mixer", "'nets:Mixer'"),
        ("a.nets.Mixer", "'a.nets:Mixer'"),
        ("lennet", "'lenet'"),
    ],
)
def test_a_name_like_a_right_one_is_corrected(name, advice):
    with refused("unknown-name") as caught:
        networks.specification({"network": name})
    assert f"did you mean {advice}?" in str(caught.value)


@pytest.mark.parametrize("architecture", SMALL, ids=str)
def test_the_seed_determines_the_weights_of_a_network(architecture):
    specification = networks.specification(architecture)
    state = torch.get_rng_state()
    network = networks.build(specification, 4, 2, 7)
    same = networks.build(specification, 4, 2, 7)
    different = networks.build(specification, 4, 2, 8)
    assert torch.equal(torch.get_rng_state(), state)
    checks.check_seed(network, same, different)
    # Every weight has a gradient, which `dry_run` takes for granted.
    network.train()(torch.randn(2, 4, 32, 32)).square().sum().backward()
    assert all(weight.grad.isfinite().all() for weight in network.parameters())


@pytest.mark.parametrize("architecture", SMALL, ids=str)
def test_a_network_runs_on_inputs_of_any_size_and_number_of_channels(architecture):
    specification = networks.specification(architecture)
    if architecture["network"] not in ("resnet18", "densenet121"):
        specification["side"] = 64
    dry_run(specification, (3, 64, 64), 10)


def test_an_argument_that_the_package_uses_itself_is_refused():
    with refused("unknown-key", key="memory_format"):
        networks.specification({"network": "m:Net", "memory_format": "channels_last"})


def test_your_own_network_may_build_on_any_network_of_the_table():
    def names(import_path):
        return {path.name for path in networks.files(import_path)}

    assert names(networks.NETWORKS["lenet"]) == {"lenet.py"}
    assert names("torchvision.models:resnet18") == {"custom.py", "libraries.py"}
    assert names("my_networks:net") > {"lenet.py", "resnet.py", "arguments.py"}


def test_the_versions_of_installed_packages_identify_networks(monkeypatch, tmp_path):
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

    distributions = {
        "their_networks": ["their-networks"],
        "einops": ["einops"],
        "other": ["other"],
    }
    monkeypatch.setattr(registry, "_distributions", lambda: distributions)
    monkeypatch.setattr(registry.metadata, "version", version)
    assert networks.version(networks.NETWORKS["lenet"]) == ""
    expected = "their-networks 3, timm 1.2, torchvision 0.5"
    assert networks.version("their_networks:net") == expected
    del versions["timm"]
    assert networks.version("my_networks:net") == "torchvision 0.5"
    text = "# -*- coding: latin-1 -*-\nfrom einops.layers import Reduce  # réseau\n"
    (tmp_path / "mine.py").write_text(text, encoding="latin-1")
    own = [str(tmp_path / "mine.py"), str(tmp_path / "weights.npy")]
    assert networks.version("mine:net", own) == "einops 2, torchvision 0.5"
