"""One network's training, as a plain function of (network, data, recipe, seed), and its accuracy.

This file knows neither grids nor processes nor files; `pipeline.grid` runs many of these.
"""

import dataclasses

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

BATCH = 128
CLIP = 0.5
PEAK = 2 / 5
"""Constants of both papers' experiments: batch size, norm to which each step's gradient is clipped, and the part of
training at which the triangular schedule peaks (the group's habit; paper 2 does not state it)."""


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How a network is trained: SGD on the cross-entropy with the triangular schedule 0 → lr → 0."""

    epochs: int
    lr: float
    momentum: float
    weight_decay: float


class Diverged(Exception):
    """The training loss of a network was not a finite number."""


def triangular(steps, peak_lr):
    """Learning rates (steps,) from 0 up to `peak_lr` at 2/5 of training and back to 0, each taken mid-step."""
    return np.interp((np.arange(steps) + 0.5) / steps, [0, PEAK, 1], [0, peak_lr, 0])


def arranged(x, device):
    """x (N, C, H, W) on `device`, channels last: the layout in which convolutions are fastest."""
    return x.to(device).contiguous(memory_format=torch.channels_last)


def train(network, x, y, recipe, seed):
    """Train `network` in place on inputs x (N, C, H, W) and class numbers y (N,), both on the device it shall run on.

    `seed` decides the order of the samples. Returns (loss, accuracy): means over the last epoch's samples as they were
    seen, in train mode. Raises Diverged if that loss is not finite.
    """
    network.to(x.device, memory_format=torch.channels_last).train()
    optimiser = torch.optim.SGD(
        network.parameters(), lr=recipe.lr, momentum=recipe.momentum, weight_decay=recipe.weight_decay, foreach=True
    )
    order = torch.Generator().manual_seed(seed)
    batches = -(-len(x) // BATCH)
    rates = iter(triangular(recipe.epochs * batches, recipe.lr))
    parameters = list(network.parameters())
    for _ in range(recipe.epochs):
        # Sums stay on the device: reading them at every step would make the host wait for it.
        loss_sum, correct = torch.zeros((), device=x.device), torch.zeros((), device=x.device)
        for chosen in torch.randperm(len(x), generator=order).to(x.device).split(BATCH):
            optimiser.param_groups[0]["lr"] = next(rates)
            output, target = network(x[chosen]), y[chosen]
            loss = F.cross_entropy(output, target)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, CLIP)
            optimiser.step()
            loss_sum += loss.detach() * len(chosen)
            correct += (output.detach().argmax(1) == target).sum()
    loss, accuracy = float(loss_sum) / len(x), float(correct) / len(x)
    if not np.isfinite(loss):
        raise Diverged(f"the training loss became {loss}; a smaller lr helps")
    return loss, accuracy


@torch.no_grad()
def logits(network, x, batch=512):
    """Outputs of `network` in eval mode on x (N, C, H, W): (N, outputs)."""
    network.to(x.device, memory_format=torch.channels_last).eval()
    return torch.cat([network(part) for part in x.split(batch)])


def accuracy(network, x, y):
    """Fraction of x (N, C, H, W) that `network` assigns to its class y (N,)."""
    return float((logits(network, x).argmax(1) == y).float().mean())
