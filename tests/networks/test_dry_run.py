"""What a network costs, found without computing: bytes of its state and operations of a forward pass, against counts by hand."""

import pytest
import torch

from pipeline import networks
from pipeline.nads.symmetry import SYMMETRIES
from pipeline.networks.dry_run import STATED, DryRun, _Unnormalised, dry_run
from pipeline.project.errors import InputError


def test_a_linear_layer_of_4096_inputs():
    """4,097 × 3 numbers of four bytes; a multiplication and an addition for each weight."""
    specification = networks.specification({"network": "logreg"})
    assert dry_run(specification, (4, 32, 32), 3) == DryRun(4 * 4097 * 3, 2 * 4096 * 3)


def test_lenet_by_hand():
    """Convolutions of 28² × 6 values of 25 products and 10² × 16 of 150, then 400·120 + 120·84 + 84 products."""
    products = 28**2 * 6 * 25 + 10**2 * 16 * 150 + 400 * 120 + 120 * 84 + 84
    found = dry_run(networks.specification({"network": "lenet"}), (1, 32, 32), 1)
    assert found == DryRun(4 * 60_941, 2 * products)


def test_the_buffers_of_batch_norm_are_in_a_networks_size():
    """`width` 0.125: mean, variance and a count of eight bytes for each of twenty batch norms."""
    specification = networks.specification({"network": "resnet18", "width": 0.125})
    network = networks.build(specification, 1, 1, 0)
    norms = [module for module in network.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    parameters = sum(parameter.numel() for parameter in network.parameters())
    size = 4 * (parameters + 2 * sum(norm.num_features for norm in norms)) + 8 * len(norms)
    assert len(norms) == 20 and dry_run(specification, (1, 32, 32), 1).size == size


def test_batch_norm_is_left_out_but_its_channels_are_checked():
    x = torch.randn(2, 3, 4, 4)
    with _Unnormalised():
        assert torch.nn.BatchNorm2d(3).eval()(x) is x
        with pytest.raises(ValueError, match="batch norm of 5 channels is given 3"):
            torch.nn.BatchNorm2d(5).eval()(x)
        untracked = torch.nn.BatchNorm2d(3, track_running_stats=False).eval()
        assert untracked(x) is x
        assert torch.equal(torch.nn.functional.relu(x), x.clamp(min=0))


def test_what_a_class_may_state():
    assert STATED["symmetry"] == (*SYMMETRIES, "measured")
    for name, place in networks.NETWORKS.items():
        arguments = {"hidden": [5]} if name == "mlp" else {}
        assert networks.symmetry({"network": place} | arguments) in STATED["symmetry"]
        assert networks.together({"network": place}) in STATED["together"]


class Unused(torch.nn.Module):
    """A network of which one layer is frozen and another left out."""

    def __init__(self, channels, outputs, frozen=False):
        super().__init__()
        self.fc, self.other = torch.nn.Linear(channels * 1024, outputs), torch.nn.Linear(2, 2)
        self.fc.requires_grad_(not frozen)

    def forward(self, x):
        return self.fc(x.flatten(1))


def test_some_weight_gets_a_gradient():
    assert dry_run({"network": f"{__name__}:Unused"}, (1, 32, 32), 1).size == 4 * (1025 + 6)
    with pytest.raises(InputError, match="^test_dry_run:Unused cannot be trained: none of its weights gets a gradient"):
        dry_run({"network": f"{__name__}:Unused", "frozen": True}, (1, 32, 32), 1)
