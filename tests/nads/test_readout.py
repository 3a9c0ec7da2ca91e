"""Which read-outs may be averaged over, with what variance, and the features below
them."""

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


def network(weights=None):
    """A network with a read-out of 400 weights."""
    torch.manual_seed(0)
    made = nn.Sequential(
        nn.Flatten(), nn.Linear(16, 5), nn.Linear(5, INPUTS), nn.Linear(INPUTS, 1)
    )
    if weights is not None:
        made[3].weight.data = torch.as_tensor(weights, dtype=torch.float32).reshape(
            1, -1
        )
    return made


def test_the_last_linear_layer_and_the_variance_of_pytorchs_weights():
    made = network()
    assert find_readout(made, SHAPE) == (made[3], 1 / 1200)
    assert not any(module._forward_pre_hooks for module in made.modules())


@pytest.mark.parametrize(
    ("ratio", "usual"), [(1.22, True), (0.78, True), (1.23, False), (0.77, False)]
)
def test_a_mean_square_within_five_standard_errors_is_taken_as_pytorchs(ratio, usual):
    """Five standard errors of the mean square of 400 uniform weights are 22 % of it."""
    made = network(SIGNS * np.sqrt(ratio / 1200))
    _, variance = find_readout(made, SHAPE)
    assert variance == pytest.approx((1 if usual else ratio) / 1200, rel=1e-6)


def test_a_mean_square_of_another_law_is_taken_as_it_is():
    """PyTorch's weights end at 1/√400 = 0.05."""
    weights = SIGNS / 1200**0.5
    weights[0] = 0.051
    _, variance = find_readout(network(weights), SHAPE)
    assert variance == pytest.approx((weights**2).mean()) != pytest.approx(1 / 1200)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_mean_beyond_five_standard_errors_is_refused(sign):
    """Five standard errors of the mean of 400 weights are 0.25 of their root mean
    square."""
    made = network(7 * (SIGNS + sign * 0.24))
    assert find_readout(made, SHAPE)[0] is made[3]
    with pytest.raises(
        ValueError, match="^the last layer's weights do not have zero mean$"
    ):
        find_readout(network(7 * (SIGNS + sign * 0.27)), SHAPE)


LAYER = nn.Linear(16, 16)


class Around(nn.Module):
    """A network of one linear layer, which stands before or after the body, and what is
    made of its output."""

    def __init__(self, last):
        super().__init__()
        torch.manual_seed(
            0
        )  # of ten draws one has no output below 0 among the images tried
        self.head = nn.Linear(5, 1)
        self.body = nn.Linear(16, 5)
        self.last = last

    def forward(self, x):
        x = x.flatten(1)
        return self.last(self.head(self.body((x - x.mean()) / x.std())), x)


@pytest.mark.parametrize(
    "made",
    [
        nn.Sequential(nn.Flatten(), nn.Linear(16, 4), nn.Tanh()),
        nn.Sequential(nn.Conv2d(1, 1, 4), nn.Flatten()),
        nn.Sequential(nn.Flatten(), LAYER, LAYER),
        nn.Flatten(),
        Around(lambda y, x: y + x.mean(1, keepdim=True)),
        Around(lambda y, x: y.clamp(-0.1, 0.1)),
        Around(lambda y, x: y.relu()),
    ],
)
def test_an_output_that_is_not_the_last_linear_layers_is_refused(made):
    with pytest.raises(
        ValueError, match="^the network does not end in a linear layer, so its rea"
    ):
        find_readout(made, SHAPE)
    assert not any(module._forward_pre_hooks for module in made.modules())
    plain, vectors, reason = resolve_method(made, SECANT, (1, 4, 4))
    assert (plain, vectors) == (dataclasses.replace(SECANT, method="plain"), 1)
    assert "does not end in a linear layer" in reason
    assert resolve_method(made, plain, (1, 4, 4)) == (plain, 1, None)


def test_the_last_layer_may_be_named_first_and_inputs_may_be_standardised():
    made = Around(lambda y, x: y)
    assert find_readout(made, SHAPE)[0] is made.head


def test_a_network_with_dropout_is_judged_as_it_is_evaluated():
    made = nn.Sequential(
        nn.Flatten(),
        nn.Dropout(),
        nn.Linear(16, 7),
        nn.Dropout(),
        nn.Linear(7, 1),
        nn.Dropout(),
    )
    assert resolve_method(made.train(), GRADIENT, (1, 4, 4)) == (GRADIENT, 7, None)
