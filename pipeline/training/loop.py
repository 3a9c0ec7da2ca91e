"""The training of one network, a plain function of (network, data, hyperparameters,
seed)."""

import dataclasses
import typing
from collections.abc import Callable, Iterable

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

BATCH = 128  # samples of a step, in both papers
CLIP = 0.5  # norm to which each step's gradient is clipped, in both papers
PEAK = 2 / 5
"""The fraction of training after which the triangular schedule peaks (the group's
habit; paper 2 does not state it)."""

LEARNED = (
    0.01  # mean loss over a window at which a training set counts as learned (choice)
)
WINDOW = 10  # batches in a row of a window (choice)

DROPOUTS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)
DROPOUTS += (nn.AlphaDropout, nn.FeatureAlphaDropout)
"""The layers that leave out a part of a network in train mode."""

Labelled = tuple[torch.Tensor, torch.Tensor]
"""Inputs (N, C, H, W) and class numbers (N,)."""


@dataclasses.dataclass(frozen=True)
class Training:
    """The hyperparameters of one training on the cross-entropy; by default the
    optimiser is SGD.

    lr: the schedule's maximum; momentum: of SGD, in whose place AdamW has PyTorch's two
    betas; schedule: one of `SCHEDULES`; precision: 'float32', or 'bfloat16' for the
    products of forward and backward pass, where weights, sums over a batch and updates
    stay float32; clip: norm to which each step's gradient is clipped.
    """

    epochs: int
    lr: float
    momentum: float
    weight_decay: float
    schedule: typing.Literal["triangular", "linear", "cosine"] = "triangular"
    precision: str = "float32"
    clip: float = CLIP
    optimiser: typing.Literal["sgd", "adamw"] = "sgd"
    batch_size: int = 128

    def __post_init__(self) -> None:
        for name in ("epochs", "lr", "clip", "batch_size"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")
        if not 0 <= self.momentum < 1:
            raise ValueError(f"momentum must lie in [0, 1), not {self.momentum}")
        if not self.weight_decay >= 0:
            raise ValueError(
                f"weight_decay must not be negative, not {self.weight_decay}"
            )


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The course of one training.

    losses: mean loss of every epoch's samples; accuracy: fraction of the last epoch's
    samples that were classified right, both in train mode, but the accuracy of a
    network with dropout afterwards in eval mode; steps: number of steps until the
    training set was learned (see `LEARNED`), None if it never was.
    """

    losses: list[float]
    accuracy: float
    steps: int | None


class Diverged(Exception):
    """The training loss of a network was not a finite number."""


def triangular(steps: int, peak_lr: float) -> np.ndarray:
    """Learning rates (steps,) from 0 to `peak_lr` at 2/5 of training and back to 0
    (paper 2)."""
    return np.interp((np.arange(steps) + 0.5) / steps, [0, PEAK, 1], [0, peak_lr, 0])


def linear(steps: int, peak_lr: float) -> np.ndarray:
    """Learning rates (steps,) from `peak_lr` down to 0, each taken mid-step (paper 1)."""
    return peak_lr * (1 - (np.arange(steps) + 0.5) / steps)


def cosine(steps: int, peak_lr: float) -> np.ndarray:
    """Learning rates (steps,) from `peak_lr` down to 0 along half a cosine, each taken
    mid-step."""
    return peak_lr * (1 + np.cos(np.pi * (np.arange(steps) + 0.5) / steps)) / 2


SCHEDULES = {"triangular": triangular, "linear": linear, "cosine": cosine}


def optimiser_of(
    parameters: Iterable[nn.Parameter], training: Training
) -> torch.optim.SGD | torch.optim.AdamW:
    """The optimiser of a training, for parameters on any device."""
    common = {"lr": training.lr, "weight_decay": training.weight_decay, "foreach": True}
    if training.optimiser == "adamw":
        return torch.optim.AdamW(parameters, **common)
    return torch.optim.SGD(parameters, momentum=training.momentum, **common)


def channels_last(x: torch.Tensor, device: torch.device | str) -> torch.Tensor:
    """x (N, C, H, W) on `device`, channels last: the layout in which convolutions are
    fastest."""
    return x.to(device).contiguous(memory_format=torch.channels_last)


def autocast(device: torch.device, precision: str) -> torch.autocast:
    """Context in which a network multiplies in `precision` (see `Training`) on
    `device`."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16")


def steps_until_learned(losses: np.ndarray) -> int | None:
    """The first step by which the mean of the last `WINDOW` losses is at most
    `LEARNED`, or None.

    losses: (steps,), of every batch.
    """
    if len(losses) < WINDOW:
        return None
    means = np.lib.stride_tricks.sliding_window_view(losses, WINDOW).mean(1)
    learned = np.flatnonzero(means <= LEARNED)
    return int(learned[0]) + WINDOW if learned.size else None


def outcome(losses: torch.Tensor, correct: torch.Tensor, samples: int) -> Outcome:
    """The outcome of a training with a loss of every batch (epochs, batches).

    correct: the last epoch's correct answers. Raises Diverged if the last loss is not
    finite.
    """
    losses = losses.cpu()  # Apple's accelerator has no float64
    batches = torch.full((losses.shape[1],), BATCH, dtype=losses.dtype)
    batches[-1] = samples - BATCH * (len(batches) - 1)
    means = (losses @ batches / samples).tolist()
    if not np.isfinite(means[-1]):
        raise Diverged(f"the training loss became {means[-1]}; a smaller lr helps")
    steps = steps_until_learned(losses.flatten().double().numpy())
    return Outcome(means, float(correct) / samples, steps)


def initialised(make: Callable[[], nn.Module], seed: int) -> nn.Module:
    """The untrained network that `make` builds, its weights determined by `seed`, on
    the CPU."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()


def train(
    network: nn.Module,
    x: torch.Tensor,
    y: torch.Tensor,
    training: Training,
    seed: int,
    note: Callable[[int], None] = lambda epochs: None,
) -> Outcome:
    """Train `network` in place on inputs x (N, C, H, W) and class numbers y (N,), on
    their device.

    seed: of the order of the samples and of dropout; note: called with the number of
    finished epochs before training and after each epoch. Raises Diverged if the last
    epoch's loss is not finite.
    """
    network.to(x.device, memory_format=torch.channels_last).train()
    parameters = list(network.parameters())
    optimiser = optimiser_of(parameters, training)
    order = torch.Generator().manual_seed(seed)
    batches = -(-len(x) // BATCH)
    rates = iter(SCHEDULES[training.schedule](training.epochs * batches, training.lr))
    # Losses stay on the device: reading them at every step would make the host wait for
    # it.
    losses = torch.zeros(training.epochs, batches, device=x.device)
    accelerators = [] if x.device.type == "cpu" else [x.device]
    with torch.random.fork_rng(accelerators, device_type=x.device.type):
        torch.manual_seed(seed)
        note(0)
        for epoch in range(training.epochs):
            correct = torch.zeros((), device=x.device)
            shuffled = torch.randperm(len(x), generator=order).to(x.device)
            for batch, rows in enumerate(shuffled.split(BATCH)):
                with autocast(x.device, training.precision):
                    output = network(x[rows])
                target = y[rows]
                loss = F.cross_entropy(output.to(x.dtype), target)
                optimiser.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(parameters, training.clip)
                optimiser.param_groups[0]["lr"] = next(rates)
                optimiser.step()
                losses[epoch, batch] = loss.detach()
                correct += (output.detach().argmax(1) == target).sum()
            note(epoch + 1)
    result = outcome(losses, correct, len(x))
    if any(isinstance(module, DROPOUTS) for module in network.modules()):
        # What it answered while a part of it was left out is not what it has learned.
        result = dataclasses.replace(result, accuracy=accuracy(network, x, y))
    return result


@torch.no_grad()
def logits(network: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Outputs of `network` in eval mode on x (N, C, H, W): (N, outputs)."""
    network.to(x.device, memory_format=torch.channels_last).eval()
    return torch.cat([network(part) for part in x.split(BATCH)])


def accuracy(network: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    """Fraction of x (N, C, H, W) that `network` assigns to its class y (N,)."""
    return float((logits(network, x).argmax(1) == y).float().mean())
