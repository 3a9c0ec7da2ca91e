"""Fully connected networks: logistic regression and the multilayer perceptron."""

import itertools

from torch import nn


class LogReg(nn.Sequential):
    """Logistic regression: one linear layer."""

    symmetry = "square"

    def __init__(self, channels, outputs, side=32):
        super().__init__(nn.Flatten(), nn.Linear(channels * side**2, outputs))


class MLP(nn.Sequential):
    """Fully connected ReLU network.

    Args:
        channels: Number of input channels.
        outputs: Number of outputs.
        hidden: Widths of the hidden layers (paper 2: 100, 20 in §3 and 200, 50 in §4).
        side: Side of the input in pixels.
    """

    symmetry = "square"

    def __init__(self, channels, outputs, hidden, side=32):
        widths = [channels * side**2, *hidden]
        layers = [nn.Flatten()]
        for fan_in, fan_out in itertools.pairwise(widths):
            layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
        super().__init__(*layers, nn.Linear(widths[-1], outputs))
