"""A network tried before any work: what it turns out to be, and the words of its mistakes."""

import pytest
import torch

from pipeline import networks
from pipeline.networks.dry_run import DryRun, dry_run
from pipeline.project.errors import InputError

NETWORKS = """
import torch
from torch import nn


def flat(channels, outputs, width=8, end=nn.Identity):
    layers = nn.Linear(1024 * channels, width), nn.ReLU(), nn.Linear(width, outputs), end()
    return nn.Sequential(nn.Flatten(), *layers)


def partly(channels, outputs):
    network = flat(channels, outputs)
    network[1].weight.data = torch.arange(8 * 1024.0).reshape(8, -1) / 10_000
    return network


def softmax(channels, outputs):
    return flat(channels, outputs, end=lambda: nn.Softmax(1))


def sized(width=1, depth=1, slope=0.1):
    return nn.Sequential(nn.Conv2d(3, width, 32), nn.Flatten(), nn.Linear(width, depth))


def without():
    return flat(1, 1)


"""


@pytest.fixture
def mine(repository):
    """The networks above, as a module of one's own."""
    (repository / "own/mine.py").write_text(NETWORKS)


def of(name, **arguments):
    """The specification of one of them."""
    return {"network": f"mine:{name}"} | arguments


def test_the_size_is_that_of_the_state(mine):
    """Weights and biases in four bytes; batch norm's mean and variance too, and a count in
    eight."""
    assert dry_run(of("flat"), (1, 32, 32), 2) == DryRun(4 * (1025 * 8 + 9 * 2))
    specification = networks.specification({"network": "resnet18", "width": 0.125})
    network = networks.build(specification, 1, 1, 0)
    norms = [module for module in network.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    parameters = sum(parameter.numel() for parameter in network.parameters())
    size = 4 * (parameters + 2 * sum(norm.num_features for norm in norms)) + 8 * len(norms)
    assert len(norms) == 20 and dry_run(specification, (1, 32, 32), 1) == DryRun(size)


LENET, MLP = "pipeline.networks.lenet:LeNet", "pipeline.networks.mlp:MLP"


@pytest.mark.parametrize(
    ("specification", "words"),
    [
        (
            of("softmax", width=3),
            "mine:softmax takes (channels, outputs), but a network is called with the numbers of "
            "input channels and of outputs, softmax(1, 2, width=3): got an unexpected keyword",
        ),
        (of("flat", width="a"), "the network mine:flat cannot be built with {'width': 'a'}: "),
        ({"network": LENET, "side": 64}, "mat1 and mat2 shapes cannot be multiplied (2x400 and"),
        ({"network": MLP}, "MLP(1, 2): missing a required argument: 'hidden'"),
    ],
)
def test_a_mistake_ends_in_one_sentence(specification, words, mine):
    with pytest.raises(InputError) as caught:
        dry_run(specification, (1, 32, 32), 2)
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("specification", "mistake"),
    [
        (of("sized"), "mine:sized cannot be run on inputs (2, 1, 32, 32), sized(1, 2): Run"),
        (of("sized", width=4), "sized(1, 2, width=4): multiple values for argument 'width'"),
        (of("without"), "mine:without takes (), but a network is called with the numbers of"),
    ],
)
def test_a_constructor_of_other_parameters_is_told_what_its_first_two_must_be(
    specification, mistake, mine
):
    with pytest.raises(InputError) as caught:
        dry_run(specification, (1, 32, 32), 2)
    names = "it has none" if specification == of("without") else "width, depth"
    said = str(caught.value)
    assert mistake in said and said.endswith(
        f"; its first two parameters ({names}) must be the numbers of input channels and of outputs"
    )


@pytest.mark.parametrize(
    ("name", "outputs", "notice"),
    [
        ("partly", 2, "mine:partly starts from the same 1.weight whatever the seed"),
        ("softmax", 1, "the outputs of mine:softmax sum to one, as after a softmax; training and"),
    ],
)
def test_what_is_odd_but_may_be_meant_is_a_notice(name, outputs, notice, mine):
    (sentence,) = dry_run(of(name), (1, 32, 32), outputs).notices
    assert sentence.startswith(notice)


def test_the_callers_chance_is_left_alone(mine):
    networks.constructor("mine:flat")
    state = torch.get_rng_state()
    dry_run(of("flat"), (1, 32, 32), 2)
    assert torch.equal(torch.get_rng_state(), state)
