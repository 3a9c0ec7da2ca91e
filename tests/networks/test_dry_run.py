"""A network tried before any work: what it turns out to be, and what is odd about it."""

import pytest
import torch

from pipeline import networks
from pipeline.cells import training
from pipeline.networks.dry_run import dry_run
from pipeline.project.errors import InputError

NETWORKS = """
import torch
from torch import nn


def flat(channels, outputs, width=8):
    layers = nn.Linear(1024 * channels, width), nn.ReLU(), nn.Linear(width, outputs)
    return nn.Sequential(nn.Flatten(), *layers)


def partly(channels, outputs):
    network = flat(channels, outputs)
    network[1].weight.data = torch.arange(8 * 1024.0).reshape(8, -1) / 10_000
    return network


def frozen(channels, outputs):
    network = partly(channels, outputs)
    network[1].requires_grad_(False)
    return network


class Viewing(nn.Module):
    def __init__(self, channels, outputs):
        super().__init__()
        self.first, self.last = nn.Conv2d(channels, 2, 3), nn.Linear(2 * 30 * 30, outputs)

    def forward(self, x):
        return self.last(self.first(x).view(len(x), -1))


class Odd(nn.Module):
    def __init__(self, channels, outputs, how):
        super().__init__()
        self.flat, self.how = flat(channels, outputs), how

    def forward(self, x):
        y = self.flat(x)
        return (-y.abs()).log() if self.how == "log" else y.softmax(1)


def slow(channels, outputs, momentum):
    norm = nn.BatchNorm1d(outputs, momentum=momentum)
    return nn.Sequential(nn.InstanceNorm2d(channels), flat(channels, outputs), norm)


"""


@pytest.fixture
def mine(repository):
    """The networks above, as a module of one's own."""
    (repository / "own/mine.py").write_text(NETWORKS)


def of(name, **arguments):
    """The specification of one of them."""
    return {"network": f"mine:{name}"} | arguments


def test_the_size_is_that_of_the_state(mine):
    """In four bytes, of batch norm's mean and variance too, and its count in eight."""
    assert dry_run(of("flat"), (1, 32, 32), 2) == (4 * (1025 * 8 + 9 * 2), [])
    specification = networks.specification({"network": "resnet18", "width": 0.125})
    network = networks.build(specification, 1, 1, 0)
    norms = [module for module in network.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    parameters = sum(parameter.numel() for parameter in network.parameters())
    size = 4 * (parameters + 2 * sum(norm.num_features for norm in norms)) + 8 * len(norms)
    assert len(norms) == 20 and dry_run(specification, (1, 32, 32), 1) == (size, [])


def test_weights_of_which_some_are_fixed_get_a_notice_and_the_callers_chance_is_left_alone(mine):
    networks.constructor("mine:partly")
    state = torch.get_rng_state()
    for name, fixed in (("partly", "1.weight"), ("frozen", "1.weight")):
        assert dry_run(of(name), (1, 32, 32), 2)[1] == [
            f"mine:{name} starts from the same {fixed} whatever the seed"
        ]
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("log", "its outputs at noise are not finite"),
        ("soft", "its outputs sum to one, as after a softmax; leave that out"),
    ],
)
@pytest.mark.parametrize("outputs", [1, 2])
def test_outputs_that_are_no_logits_are_refused(mine, how, words, outputs):
    with pytest.raises(InputError, match=words):
        dry_run(of("Odd", how=how), (1, 32, 32), outputs)


def test_a_network_that_runs_in_the_usual_memory_format_alone_gets_it(mine):
    """With a notice: whatever is done with it later, `view` finds its values in their order."""
    specification = of("Viewing")
    for _ in range(2):
        assert dry_run(specification, (2, 32, 32), 2)[1] == [
            "mine:Viewing runs in torch's usual memory format alone, not in channels last"
        ]
    assert specification == of("Viewing", memory_format="contiguous")
    assert dry_run(other := of("flat"), (2, 32, 32), 2)[1] == [] and other == of("flat")
    x = training.channels_last(torch.randn(8, 2, 32, 32), "cpu")
    network, plain = (networks.build(specification, 2, 2, 0) for _ in range(2))
    plain._forward_pre_hooks.clear()
    expected = plain(x.contiguous())
    assert torch.equal(network.to(memory_format=torch.channels_last)(x), expected)
    training.train(network, x, torch.arange(8) % 2, training.Training(2, 0.1, 0, 0), 0)
    assert training.logits(network, x).shape == (8, 2)


def test_batch_norms_that_a_short_training_leaves_behind_get_a_notice(mine):
    (text,) = dry_run(of("slow", momentum=0.01), (1, 32, 32), 2, 100)[1]
    assert "37% are still their first values after 100 steps" in text
    for momentum, steps in ((0.01, 300), (0.1, 100), (None, 1)):
        assert dry_run(of("slow", momentum=momentum), (1, 32, 32), 2, steps)[1] == []


def test_a_shape_that_looks_as_if_its_channels_came_last_gets_a_notice():
    specification = networks.specification({"network": "resnet18", "width": 0.125})
    for shape in ((32, 32, 3), (3, 32, 32), (32, 3, 3), (32, 32, 32)):
        notices = dry_run(specification, shape, 2)[1]
        assert notices == [
            "inputs of 32×32×3 are 32 channels of 32×3 pixels; a shape is channels × height × width"
        ] * (shape == (32, 32, 3))
