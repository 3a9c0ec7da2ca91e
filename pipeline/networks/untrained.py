"""A check that a constructor returns untrained networks, their weights drawn by torch's seed."""

from collections.abc import Callable

import torch
from torch import nn

from pipeline.cells.training import initialised
from pipeline.project.errors import InputError


def check_untrained(make: Callable[[], nn.Module]) -> list[str]:
    """The names of parameters that stay the same under two seeds, without constant ones.

    make: builds the network. Raises InputError where all parameters stay the same (a seed set in
    the constructor, a checkpoint, one model returned twice), since C would be the covariance of a
    single network; and where one seed gives two networks (weights drawn by NumPy).
    """
    first, same, other = (_parameters(make, seed) for seed in (0, 0, 1))
    if any(not torch.equal(value, same[name]) for name, value in first.items()):
        raise InputError(
            "its initial weights differ though torch's seed is the same; draw them with torch, not "
            "with NumPy or Python's random"
        )
    drawn = [name for name, value in first.items() if value.min() < value.max()]
    fixed = [name for name in drawn if torch.equal(first[name], other[name])]
    if fixed == drawn:
        raise InputError(
            "its weights are the same under two of torch's seeds, so it is not untrained; build a "
            "new network in each call, without a checkpoint and without torch.manual_seed"
        )
    return fixed


def _parameters(make: Callable[[], nn.Module], seed: int) -> dict[str, torch.Tensor]:
    parameters = initialised(make, seed).named_parameters()
    return {name: value.detach().clone() for name, value in parameters if value.requires_grad}
