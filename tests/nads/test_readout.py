"""Which read-outs may be averaged over, and with what variance."""

import dataclasses

import numpy as np
import pytest
import torch
from nads_samples import GRADIENT, SECANT
from torch import nn

from pipeline.nads.readout import find_readout, resolve_method

SHAPE = (1, 4, 4)
INPUTS = 400
SIGNS = np.random.default_rng(0).permutation(np.repeat([1.0, -1.0], INPUTS // 2))
"""Weights of mean zero and mean square one."""


def make_network(weights=None):
    """A network with a read-out of 400 weights."""
    torch.manual_seed(0)
    last = nn.Linear(INPUTS, 1)
    if weights is not None:
        last.weight.data = torch.as_tensor(weights[None], dtype=torch.float32)
    return nn.Sequential(nn.Flatten(), nn.Linear(16, 5), nn.Linear(5, INPUTS), last)


def has_hooks(network):
    return any(module._forward_hooks for module in network.modules())


def test_the_last_linear_layer_and_the_variance_of_pytorchs_weights():
    network = make_network()
    assert find_readout(network, SHAPE) == (network[3], 1 / 1200)
    assert not has_hooks(network)


@pytest.mark.parametrize(
    ("ratio", "expected"), [(1.22, 1), (0.78, 1), (1.23, 1.23), (0.77, 0.77)]
)
def test_a_mean_square_within_five_standard_errors_is_pytorchs(ratio, expected):
    """Five standard errors of the mean square of 400 uniform weights are 22 % of it."""
    network = make_network(SIGNS * np.sqrt(ratio / 1200))
    _, variance = find_readout(network, SHAPE)
    assert variance == pytest.approx(expected / 1200, rel=1e-6)


def test_the_mean_square_of_another_distribution_is_its_variance():
    """PyTorch's weights end at 1/√400 = 0.05."""
    weights = SIGNS / 1200**0.5
    weights[0] = 0.051
    _, variance = find_readout(make_network(weights), SHAPE)
    assert variance == pytest.approx((weights**2).mean()) != pytest.approx(1 / 1200)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_mean_beyond_five_standard_errors_is_refused(sign):
    """Five standard errors of the mean of 400 weights are 0.25 of their deviation."""
    network = make_network(7 * (SIGNS + sign * 0.24))
    assert find_readout(network, SHAPE)[0] is network[3]
    network = make_network(7 * (SIGNS + sign * 0.27))
    sentence = "^the last layer's weights do not have zero mean$"
    with pytest.raises(ValueError, match=sentence):
        find_readout(network, SHAPE)


LAYER = nn.Linear(16, 16)


class Around(nn.Module):
    """A network with a function of its last linear layer's output and its input."""

    def __init__(self, last):
        super().__init__()
        torch.manual_seed(0)  # one of ten seeds has no negative output
        self.head = nn.Linear(5, 1)
        self.body = nn.Linear(16, 5)
        self.last = last

    def forward(self, x):
        x = x.flatten(1)
        return self.last(self.head(self.body((x - x.mean()) / x.std())), x)


@pytest.mark.parametrize(
    "network",
    [
        nn.Sequential(nn.Flatten(), nn.Linear(16, 4), nn.Tanh()),
        nn.Sequential(nn.Conv2d(1, 1, 4), nn.Flatten()),
        nn.Sequential(nn.Flatten(), LAYER, LAYER),
        nn.Flatten(),
        Around(lambda y, x: y + x.mean(1, keepdim=True)),
        Around(lambda y, x: y.clamp(-0.1, 0.1)),
        Around(lambda y, x: y.relu()),
        Around(lambda y, x: y.relu_()),
        Around(lambda y, x: y.add_(x.mean(1, keepdim=True))),
    ],
)
def test_an_output_that_is_not_the_last_linear_layers_is_refused(network):
    sentence = "the network is not seen to end in a linear layer"
    with pytest.raises(ValueError, match=sentence):
        find_readout(network, SHAPE)
    assert not has_hooks(network)
    plain = dataclasses.replace(SECANT, method="plain")
    estimator, vectors, reason = resolve_method(network, SECANT, SHAPE)
    assert (estimator, vectors) == (plain, 1)
    assert reason.startswith(sentence)
    assert resolve_method(network, plain, SHAPE) == (plain, 1, None)


def test_the_last_layer_may_be_named_first_and_inputs_may_be_standardised():
    network = Around(lambda y, x: y)
    assert find_readout(network, SHAPE)[0] is network.head


def test_the_last_layer_may_be_called_with_its_input_by_name():
    class ByName(nn.Sequential):
        def forward(self, x):
            return self[0](input=x.flatten(1))

    assert find_readout(ByName(LAYER), SHAPE)[0] is LAYER


def test_the_last_layer_may_have_further_arguments():
    class Scaled(nn.Linear):
        def forward(self, scale, x):
            return super().forward(x) * scale

    class Net(nn.Sequential):
        def forward(self, x):
            return self[0](1.0, x=x.flatten(1))

    last = Scaled(16, 1)
    assert find_readout(Net(last), SHAPE)[0] is last


def test_the_readout_of_a_network_with_dropout_is_found_in_eval_mode():
    network = nn.Sequential(
        nn.Flatten(),
        nn.Dropout(),
        nn.Linear(16, 7),
        nn.Dropout(),
        nn.Linear(7, 1),
        nn.Dropout(),
    )
    assert resolve_method(network.train(), GRADIENT, SHAPE) == (GRADIENT, 7, None)
