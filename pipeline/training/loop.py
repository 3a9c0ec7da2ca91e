"""The training of one network on given data, with given hyperparameters and a seed."""

import dataclasses
import math
import typing
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

BATCH = 128
"""Samples of a step, in both papers, and of a batch of test data."""

CLIP = 0.5
"""Norm to which the gradient of each step is clipped, as in the code of the papers'
group."""

PEAK = 2 / 5
"""The fraction of training after which the triangular schedule peaks (the group's
habit; paper 2 does not state it)."""

LEARNED = 0.01
"""Mean loss over a window at which a training set counts as learned (our choice)."""

WINDOW = 10
"""Number of consecutive batches in a window (our choice)."""

WARM_UP = 3
"""Steps of each batch size before one is recorded, as PyTorch advises."""

Schedule = typing.Literal["triangular", "linear", "cosine"]
Precision = typing.Literal["float32", "bfloat16"]
Optimiser = typing.Literal["sgd", "adamw"]

Labelled = tuple[torch.Tensor, torch.Tensor]
"""Inputs (N, C, H, W) and class numbers (N,)."""

Recorder = Callable[[Callable[[], None]], Callable[[], None] | None]
"""Records what a function does on a device, without doing it, and returns a function
that does it; or returns None if the function cannot be recorded."""


@dataclasses.dataclass(frozen=True)
class Training:
    """The hyperparameters of one training on the cross-entropy.

    Attributes:
        epochs: Number of passes through the training set.
        lr: Maximum of the learning rate.
        momentum: Momentum of SGD. AdamW has PyTorch's two betas instead.
        weight_decay: Weight decay, L2 with SGD and decoupled with AdamW.
        schedule: Name of the learning rate's schedule in `SCHEDULES`.
        precision: 'float32', or 'bfloat16' for the products of the forward and backward
            pass. Weights, sums over a batch and updates are float32 in either case.
        clip: Norm to which the gradient of each step is clipped.
        optimiser: 'sgd' or 'adamw'.
        batch_size: Samples of a step. The last step of an epoch may have fewer.
    """

    epochs: int
    lr: float
    momentum: float
    weight_decay: float
    schedule: Schedule = "triangular"
    precision: Precision = "float32"
    clip: float = CLIP
    optimiser: Optimiser = "sgd"
    batch_size: int = BATCH

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
        choices = {
            "schedule": Schedule,
            "precision": Precision,
            "optimiser": Optimiser,
        }
        for name, choice in choices.items():
            known = typing.get_args(choice)
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(known)}, "
                    f"not {getattr(self, name)!r}"
                )


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The course of one training.

    Attributes:
        losses: Mean loss over the samples of each epoch, in train mode.
        accuracy: Fraction of the last epoch's samples that were classified correctly,
            in train mode. For a network that draws random numbers in train mode, as
            dropout does, its accuracy afterwards in eval mode.
        steps: Number of steps until the training set was learned (see `LEARNED`), or
            None if it never was.
    """

    losses: list[float]
    accuracy: float
    steps: int | None


class Diverged(Exception):
    """The training loss of a network was not a finite number."""


def triangular(steps: int, peak_lr: float) -> np.ndarray:
    """Learning rates (steps,) from 0 to `peak_lr` at 2/5 of training, and back (paper
    2)."""
    return np.interp((np.arange(steps) + 0.5) / steps, [0, PEAK, 1], [0, peak_lr, 0])


def linear(steps: int, peak_lr: float) -> np.ndarray:
    """Learning rates (steps,) from `peak_lr` to 0, each taken mid-step (paper 1)."""
    return peak_lr * (1 - (np.arange(steps) + 0.5) / steps)


def cosine(steps: int, peak_lr: float) -> np.ndarray:
    """Learning rates (steps,) from `peak_lr` to 0 on half a cosine, taken mid-step."""
    return peak_lr * (1 + np.cos(np.pi * (np.arange(steps) + 0.5) / steps)) / 2


SCHEDULES = {"triangular": triangular, "linear": linear, "cosine": cosine}


def make_optimiser(
    parameters: Iterable[nn.Parameter],
    training: Training,
    lr: torch.Tensor | None = None,
) -> torch.optim.SGD | torch.optim.AdamW:
    """Make the optimiser of a training.

    Args:
        parameters: The network's parameters, on any device.
        training: The hyperparameters.
        lr: A number on the parameters' device that holds the learning rate of the next
            step. Recorded steps need it, since a Python number is recorded as it is.

    Returns:
        The optimiser. Without `lr`, the learning rate is set in its parameter group.
    """
    is_recorded = lr is not None
    if training.optimiser == "sgd":
        return torch.optim.SGD(
            parameters,
            lr=lr if is_recorded else training.lr,
            momentum=training.momentum,
            weight_decay=training.weight_decay,
            foreach=not is_recorded,
            fused=is_recorded,  # the only kernels that read a rate on the device
        )
    return torch.optim.AdamW(
        parameters,
        lr=lr if is_recorded else training.lr,
        weight_decay=training.weight_decay,
        foreach=not is_recorded,
        fused=is_recorded,
        capturable=is_recorded,
    )


def channels_last(x: torch.Tensor, device: torch.device | str) -> torch.Tensor:
    """x (N, C, H, W) on `device`, channels last: the layout in which convolutions are
    fastest."""
    return x.to(device).contiguous(memory_format=torch.channels_last)


def autocast(device: torch.device, precision: str) -> torch.autocast:
    """Context in which a network multiplies in `precision` (see `Training`) on
    `device`."""
    return torch.autocast(
        device.type,
        torch.bfloat16,
        enabled=precision == "bfloat16",
        cache_enabled=False,  # a recorded step must cast the weights each time
    )


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


def summarise(
    losses: torch.Tensor, correct: torch.Tensor, samples: int, batch_size: int
) -> Outcome:
    """Summarise a training.

    Args:
        losses: Mean loss of every batch, (epochs, batches).
        correct: Number of correct answers in the last epoch.
        samples: Number of samples of an epoch.
        batch_size: Number of samples of all batches but an epoch's last.

    Raises:
        Diverged: The loss of the last epoch is not finite.
    """
    losses = losses.cpu()  # Apple's accelerator has no float64
    sizes = torch.full((losses.shape[1],), batch_size, dtype=losses.dtype)
    sizes[-1] = samples - batch_size * (len(sizes) - 1)
    means = (losses @ sizes / samples).tolist()
    if not np.isfinite(means[-1]):
        raise Diverged(f"the training loss became {means[-1]}; a smaller lr helps")
    steps = steps_until_learned(losses.flatten().double().numpy())
    return Outcome(means, float(correct) / samples, steps)


def snapshot_epochs(epochs: int) -> set[int]:
    """The numbers of epochs after which weights are kept: 0, 1, 2, 4, … and all."""
    return {0, epochs, *(2**power for power in range(epochs.bit_length()))}


def initialise(make: Callable[[], nn.Module], seed: int) -> nn.Module:
    """The untrained network that `make` builds, its weights determined by `seed`, on
    the CPU."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()


class Trainer:
    """The training of one network, one step at a time.

    A GPU spends most of a small network's step on starting kernels. With a `record`
    function, a step is therefore recorded once and then replayed as a whole. The CPU
    runs the same step without recording it.

    A recorded step reads and writes the same memory whenever it is replayed. What
    changes from step to step lies in tensors that keep their place: the row numbers of
    the batch, the learning rate, the loss and the number of correct answers.

    The first steps are never recorded. They allocate what the optimiser and the
    libraries keep, and they are steps of the training like all others, so that nothing
    has to be restored after them.
    """

    def __init__(
        self,
        network: nn.Module,
        x: torch.Tensor,
        y: torch.Tensor,
        training: Training,
        seed: int,
        callback: Callable[[int], None] | None = None,
        record: Recorder | None = None,
    ) -> None:
        """Prepare the training; the network is trained in place, on the data's device.

        Args:
            network: The untrained network.
            x: Inputs, (N, C, H, W).
            y: Class numbers, (N,).
            training: The hyperparameters.
            seed: Decides the order of the samples, and what dropout leaves out.
            callback: Called with the number of finished epochs, before the first step
                and after each epoch.
            record: Records steps (see `Recorder`); None runs every step by itself.
        """
        self.network = network.to(x.device, memory_format=torch.channels_last).train()
        self.x = x
        self.y = y
        self.training = training
        self.seed = seed
        self.callback = callback
        self.record = record
        self.order = torch.Generator().manual_seed(seed)
        self.parameters = list(network.parameters())
        self.batches = math.ceil(len(x) / training.batch_size)
        self.steps = training.epochs * self.batches
        self.step = 0
        self.rates = SCHEDULES[training.schedule](self.steps, training.lr).tolist()
        self.lr = None if record is None else torch.zeros((), device=x.device)
        self.optimiser = make_optimiser(self.parameters, training, self.lr)
        self.loss = torch.zeros((), device=x.device, dtype=x.dtype)
        self.correct = torch.zeros((), device=x.device)
        # Losses stay on the device: reading one would make the host wait.
        self.losses = torch.zeros(training.epochs, self.batches, device=x.device)
        self.rows: dict[int, torch.Tensor] = {}
        self.replays: dict[int, Callable[[], None]] = {}
        self.unrecorded: Counter[int] = Counter()
        self.epoch_rows: tuple[torch.Tensor, ...] = ()
        self.is_random = False
        """Whether a step draws random numbers, as dropout does."""
        self.shareable = False
        """Whether the device can train other networks at the same time: steps are
        recorded, and draw no random numbers, the order of which would change."""

    @property
    def finished(self) -> bool:
        """Whether all steps were made."""
        return self.step == self.steps

    def advance(self) -> None:
        """Make one step, which a GPU may still be working on when this returns."""
        epoch, batch = divmod(self.step, self.batches)
        if self.step == 0:
            torch.manual_seed(self.seed)
            self._call_back(0)
        if batch == 0:
            self.correct.zero_()
            permutation = torch.randperm(len(self.x), generator=self.order)
            rows = permutation.to(self.x.device)
            self.epoch_rows = rows.split(self.training.batch_size)
        self._set_rate(self.rates[self.step])
        if self.step == 0:
            before = random_state(self.x.device)
            self._run(self.epoch_rows[batch])
            self.is_random = not torch.equal(before, random_state(self.x.device))
        else:
            self._run(self.epoch_rows[batch])
        self.losses[epoch, batch] = self.loss
        self.step += 1
        if batch == self.batches - 1:
            self._call_back(epoch + 1)

    def _call_back(self, epochs: int) -> None:
        if self.callback is not None:
            self.callback(epochs)

    def _set_rate(self, rate: float) -> None:
        if self.lr is None:
            self.optimiser.param_groups[0]["lr"] = rate
        else:
            self.lr.fill_(rate)

    def _run(self, rows: torch.Tensor) -> None:
        """Update the network on the samples of some rows."""
        replay = self._replay_of(len(rows))
        if replay is None:
            self._update(rows)
        else:
            self.rows[len(rows)].copy_(rows)
            replay()

    def _replay_of(self, size: int) -> Callable[[], None] | None:
        """Return the recorded step for batches of a size, or None without one."""
        if self.record is None:
            return None
        if self.unrecorded[size] < WARM_UP:
            self.unrecorded[size] += 1
            return None
        if size not in self.replays:
            rows = torch.zeros(size, dtype=torch.long, device=self.x.device)
            replay = self.record(lambda: self._update(rows))
            if replay is None:
                self.record = None
                self.shareable = False
                return None
            self.rows[size] = rows
            self.replays[size] = replay
            self.shareable = not self.is_random
        return self.replays[size]

    def _update(self, rows: torch.Tensor) -> None:
        """One step: forward, backward, clipping, and the update of the weights."""
        target = self.y[rows]
        with autocast(self.x.device, self.training.precision):
            output = self.network(self.x[rows])
        loss = F.cross_entropy(output.to(self.x.dtype), target)
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, self.training.clip)
        self.optimiser.step()
        self.loss.copy_(loss.detach())
        self.correct += (output.detach().argmax(1) == target).sum()

    def outcome(self) -> Outcome:
        """Return the course of the finished training.

        Raises:
            Diverged: The loss of the last epoch is not finite.
        """
        result = summarise(
            self.losses, self.correct, len(self.x), self.training.batch_size
        )
        if self.is_random:
            # Answers given while a part was left out are not what it has learned.
            eval_accuracy = accuracy(self.network, self.x, self.y)
            result = dataclasses.replace(result, accuracy=eval_accuracy)
        return result


def train(
    network: nn.Module,
    x: torch.Tensor,
    y: torch.Tensor,
    training: Training,
    seed: int,
    callback: Callable[[int], None] | None = None,
) -> Outcome:
    """Train a network in place, on the data's device.

    Args:
        network: The untrained network.
        x: Inputs, (N, C, H, W).
        y: Class numbers, (N,).
        training: The hyperparameters.
        seed: Decides the order of the samples, and what dropout leaves out. The random
            numbers of the caller are not touched.
        callback: Called with the number of finished epochs, before the first step and
            after each epoch.

    Returns:
        The course of the training.

    Raises:
        Diverged: The loss of the last epoch is not finite.
    """
    trainer = Trainer(network, x, y, training, seed, callback)
    with own_random_numbers(x.device):
        while not trainer.finished:
            trainer.advance()
    return trainer.outcome()


def random_state(device: torch.device) -> torch.Tensor:
    """Return the state of the random numbers of the CPU and of a device."""
    state = torch.get_rng_state()
    if device.type == "cpu":
        return state
    return torch.cat([state, torch.get_device_module(device).get_rng_state()])


def own_random_numbers(device: torch.device) -> AbstractContextManager[None]:
    """Context that restores the random numbers of the CPU and of a device."""
    devices = [] if device.type == "cpu" else [device]
    return torch.random.fork_rng(devices, device_type=device.type)


@torch.no_grad()
def logits(network: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Outputs of `network` in eval mode on x (N, C, H, W): (N, outputs)."""
    network.to(x.device, memory_format=torch.channels_last).eval()
    # On a CPU the size decides the last bits; small batches leave a GPU idle.
    size = BATCH if x.device.type == "cpu" else 8 * BATCH
    return torch.cat([network(part) for part in x.split(size)])


def accuracy(network: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    """Fraction of x (N, C, H, W) that `network` assigns to its class y (N,)."""
    return float((logits(network, x).argmax(1) == y).float().mean())
