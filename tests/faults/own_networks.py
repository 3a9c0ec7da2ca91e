"""Networks of a user's own and what is wrong with each; a module by itself, which is laid into a repository as it is."""

import random
import time
import warnings

import torch
import torch.nn.functional as F
from torch import nn


class Ending(BaseException):
    """What is no Exception, as SystemExit is none."""


class Silent(Exception):
    """An exception whose message cannot be had."""

    def __str__(self):
        raise ValueError


ERRORS = {
    "exit": SystemExit(0),
    "ending": Ending("at once"),
    "silent": Silent(),
    "long": ValueError("x" * 10_000),
    "lines": ValueError("two\r\n\x0clines\u2028 and more"),
}


class Own(nn.Module):
    """A linear network that raises an error of `ERRORS` in one of its parts."""

    def __init__(self, channels, outputs, building=None, running=None, returning=None):
        super().__init__()
        if building:
            raise ERRORS[building]
        self.running, self.returning = running, returning
        self.fc = nn.Linear(channels * 1024, outputs)

    def forward(self, x):
        if self.running:
            raise ERRORS[self.running]
        y = self.fc(x.flatten(1))
        return RETURNED[self.returning](self, x, y) if self.returning else y


class Backward(torch.autograd.Function):
    """The identity, whose derivative cannot be taken."""

    @staticmethod
    def forward(context, x):
        return x * 1

    @staticmethod
    def backward(context, gradient):
        raise RuntimeError("no derivative")


RETURNED = {
    "a tuple": lambda self, x, y: (y, y),
    "a mapping": lambda self, x, y: {"output": y},
    "nothing": lambda self, x, y: None,
    "a tuple in training": lambda self, x, y: (y, y) if self.training else y,
    "one value": lambda self, x, y: y.sum(),
    "too few": lambda self, x, y: y[:, :1],
    "one image": lambda self, x, y: y[:1],
    "a warning": lambda self, x, y: warnings.warn("beware", UserWarning, 1) or y,
    "NaN": lambda self, x, y: y * float("nan"),
    "infinity": lambda self, x, y: y / 0,
    "NaN in training": lambda self, x, y: y * float("nan") if self.training else y,
    "complex numbers": lambda self, x, y: torch.complex(y, y),
    "whole numbers": lambda self, x, y: y.long(),
    "doubles": lambda self, x, y: y.double(),
    "bfloat16": lambda self, x, y: y.bfloat16(),
    "no gradient": lambda self, x, y: y.detach(),
    "no finite gradient": lambda self, x, y: (y * 0).abs().sqrt() + y.detach(),
    "no derivative": lambda self, x, y: Backward.apply(y),
    "other images too": lambda self, x, y: y - y.mean(0),
    "chance": lambda self, x, y: self.fc(F.dropout(x).flatten(1)),
    "for two images": lambda self, x, y: self.fc(x.reshape(2, -1)),
    "of a view": lambda self, x, y: self.fc(x.view(len(x), -1)),
    "after doubling": lambda self, x, y: self.fc(x.mul_(2).flatten(1)),
    "after ReLU": lambda self, x, y: self.fc(F.relu(x, inplace=True).flatten(1)),
    "after .data": lambda self, x, y: self.fc((x.data.add_(1) * 1).flatten(1)),
}


def weightless(channels, outputs):
    """No weights, but outputs of the right shape."""
    return nn.Sequential(nn.Flatten(), nn.AdaptiveAvgPool1d(outputs))


def unseeded(channels, outputs):
    """Weights that a generator other than torch's draws."""
    network = nn.Sequential(nn.Flatten(), nn.Linear(channels * 1024, outputs))
    nn.init.constant_(network[1].bias, random.random())
    return network


def lazy(channels, outputs):
    """Weights whose shape its first input decides."""
    return nn.Sequential(nn.Flatten(), nn.LazyLinear(outputs))


def free_norm(channels, outputs):
    """Batch norm by the images of the batch, also in eval mode."""
    norm = nn.BatchNorm2d(channels, track_running_stats=False)
    return nn.Sequential(norm, nn.Flatten(), nn.Linear(channels * 1024, outputs))


class Stating(Own):
    """A class that states what none may."""

    symmetry = "hexagon"


class Piled(Own):
    """Another."""

    together = "pile"


class Method(Own):
    """Its symmetry is a method, which only an object of it has."""

    def symmetry(self):
        return "square"


def waiting(channels, outputs, seconds=60, stubborn=False):
    """A constructor that does not end, and that may catch every Exception."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            time.sleep(0.01)
        except Exception:
            if not stubborn:
                raise
    return Own(channels, outputs)


def half_frozen(channels, outputs):
    """A part of its weights is not trained, another not used."""
    network = Own(channels, outputs)
    network.fc.bias.requires_grad_(False)
    network.unused = nn.Linear(3, 3)
    return network


def usual(channels, outputs):
    """Batch norm over single values, dropout and tied weights."""
    tied = nn.Linear(8, 8)
    middle = [tied, nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Dropout(), tied]
    return nn.Sequential(nn.Flatten(), nn.Linear(channels * 1024, 8), *middle, nn.Linear(8, outputs))
