"""One network's training, as a plain function of (network, data, how, seed), and its accuracy.

This file knows neither grids nor processes nor files; `pipeline.machine.workers` runs many of these.
"""

import dataclasses

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.sgd import sgd

BATCH = 128
CLIP = 0.5
PEAK = 2 / 5
"""Constants of both papers' experiments: batch size, norm to which each step's gradient is clipped, and the part of
training at which the triangular schedule peaks (the group's habit; paper 2 does not state it)."""

LEARNED = 0.01
WINDOW = 10
"""A training set counts as learned when the mean loss of so many batches in a row has come down to this (choice)."""

MOST = {"epochs": 10_000, "lr": 1_000, "weight_decay": 1_000, "clip": 1_000_000}
"""Largest values of `Training`: of more epochs the rates of all steps fill the memory, larger rates and decays only diverge, and
larger norms are those of no gradient."""


@dataclasses.dataclass(frozen=True)
class Training:
    """How a network is trained: SGD on the cross-entropy, its learning rate following one of `SCHEDULES` with maximum lr.

    precision: 'float32', or 'bfloat16' for the products of forward and backward pass; weights, sums over a batch and the
    updates stay float32. clip: norm to which each step's gradient is clipped.
    """

    epochs: int
    lr: float
    momentum: float
    weight_decay: float
    schedule: str = "triangular"
    precision: str = "float32"
    clip: float = CLIP

    def __post_init__(self) -> None:
        if self.epochs <= 0:
            raise ValueError(f"epochs must be at least 1, not {self.epochs}")
        if not self.lr > 0:
            raise ValueError(f"lr must be positive, not {self.lr}")
        if not 0 <= self.momentum < 1:
            raise ValueError(f"momentum must lie in [0, 1), not {self.momentum}")
        if not self.clip > 0:
            raise ValueError(f"clip must be positive, not {self.clip}")
        if not self.weight_decay >= 0:
            raise ValueError(f"weight_decay must not be negative, not {self.weight_decay}")
        for name, most in MOST.items():
            if getattr(self, name) > most:
                raise ValueError(f"{name} must be at most {most:,}, not {getattr(self, name)}")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a training went, besides its weights.

    losses: mean loss of every epoch's samples; accuracy: the fraction of the last epoch's samples that were right; both as they
    were seen, in train mode. steps: how many steps it took until the training set was learned (see `LEARNED`), None if it
    never was.
    """

    losses: list[float]
    accuracy: float
    steps: int | None


class Diverged(Exception):
    """The training loss of a network was not a finite number."""


def triangular(steps: int, peak_lr: float) -> np.ndarray:
    """Learning rates (steps,) from 0 up to `peak_lr` at 2/5 of training and back to 0, each taken mid-step."""
    return np.interp((np.arange(steps) + 0.5) / steps, [0, PEAK, 1], [0, peak_lr, 0])


def linear(steps: int, peak_lr: float) -> np.ndarray:
    """Learning rates (steps,) from `peak_lr` down to 0, each taken mid-step (paper 1)."""
    return peak_lr * (1 - (np.arange(steps) + 0.5) / steps)


SCHEDULES = {"triangular": triangular, "linear": linear}


def arranged(x: torch.Tensor, device: torch.device | str) -> torch.Tensor:
    """x (N, C, H, W) on `device`, channels last: the layout in which convolutions are fastest."""
    return x.to(device).contiguous(memory_format=torch.channels_last)


def multiplying(device: torch.device, precision: str) -> torch.autocast:
    """Context in which a network multiplies in `precision` (see `Training`) on `device`."""
    # The cast weights are not kept from one layer to the next: a recorded step must make them itself.
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16", cache_enabled=False)


def steps_until_learned(losses: np.ndarray) -> int | None:
    """The first step by which the mean of the last `WINDOW` losses is at most `LEARNED`; None if there is none.

    losses: (steps,), of every batch.
    """
    if len(losses) < WINDOW:
        return None
    learned = np.flatnonzero(np.lib.stride_tricks.sliding_window_view(losses, WINDOW).mean(1) <= LEARNED)
    return int(learned[0]) + WINDOW if learned.size else None


def outcome(losses: torch.Tensor, correct: torch.Tensor, samples: int) -> Outcome:
    """What a training came to, by the loss of every batch (epochs, batches) and the last epoch's correct answers.

    Raises Diverged if the last epoch's loss is not finite.
    """
    batches = torch.full((losses.shape[1],), BATCH, dtype=losses.dtype, device=losses.device)
    batches[-1] = samples - BATCH * (len(batches) - 1)
    means = (losses @ batches / samples).tolist()
    if not np.isfinite(means[-1]):
        raise Diverged(f"the training loss became {means[-1]}; a smaller lr helps")
    return Outcome(means, float(correct) / samples, steps_until_learned(losses.flatten().double().cpu().numpy()))


def train(network: nn.Module, x: torch.Tensor, y: torch.Tensor, how: Training, seed: int) -> Outcome:
    """Train `network` in place on inputs x (N, C, H, W) and class numbers y (N,), both on the device it shall run on.

    `seed` decides the order of the samples and what dropout leaves out. Raises Diverged if the last loss is not finite.
    """
    with torch.random.fork_rng(devices=[x.device] if x.device.type == "cuda" else []):
        torch.manual_seed(seed)
        return _train(network, x, y, how, seed)


def _step(weights, momenta, how, rate):
    """A step of SGD by the gradients of those weights that have one; momenta: of each weight, None before its first.

    By the function of torch.optim.SGD, whose class imports PyTorch's compiler at its first step, in every worker of every stage.
    """
    moved = [position for position, weight in enumerate(weights) if weight.grad is not None]
    buffers = [momenta[position] for position in moved]
    with torch.no_grad():
        sgd(
            [weights[position] for position in moved],
            [weights[position].grad for position in moved],
            buffers,
            foreach=True,
            weight_decay=how.weight_decay,
            momentum=how.momentum,
            lr=rate,
            dampening=0,
            nesterov=False,
            maximize=False,
        )
    for position, buffer in zip(moved, buffers):
        momenta[position] = buffer


def _train(network, x, y, how, seed):
    network.to(x.device, memory_format=torch.channels_last).train()
    order = torch.Generator().manual_seed(seed)
    batches = -(-len(x) // BATCH)
    rates = iter(SCHEDULES[how.schedule](how.epochs * batches, how.lr))
    parameters = list(network.parameters())
    momenta = [None] * len(parameters)
    # Losses stay on the device: reading them at every step would make the host wait for it.
    losses = torch.zeros(how.epochs, batches, device=x.device)
    for epoch in range(how.epochs):
        correct = torch.zeros((), device=x.device)
        for batch, rows in enumerate(torch.randperm(len(x), generator=order).to(x.device).split(BATCH)):
            with multiplying(x.device, how.precision):
                output = network(x[rows])
            target = y[rows]
            loss = F.cross_entropy(output.to(x.dtype), target)
            network.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, how.clip)
            _step(parameters, momenta, how, next(rates))
            losses[epoch, batch] = loss.detach()
            correct += (output.detach().argmax(1) == target).sum()
    return outcome(losses, correct, len(x))


@torch.no_grad()
def logits(network: nn.Module, x: torch.Tensor, batch: int = BATCH) -> torch.Tensor:
    """Outputs of `network` in eval mode on x (N, C, H, W): (N, outputs)."""
    network.to(x.device, memory_format=torch.channels_last).eval()
    return torch.cat([network(part) for part in x.split(batch)])


def accuracy(network: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    """Fraction of x (N, C, H, W) that `network` assigns to its class y (N,)."""
    return float((logits(network, x).argmax(1) == y).float().mean())
