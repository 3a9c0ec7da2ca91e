"""Throughput of the grid engine against the usual training loop, interleaved in one
call.

    python -m benchmarks.grid [--networks lenet mlp] [--rounds 3] [--device auto]

The usual loop, written after the habits of published training code: a DataLoader with
two workers that stacks samples one by one, the network in PyTorch's default layout, all
cores for one network, SGD and clipping at each step, `.item()` at each step for the
running loss, and a test pass after each epoch. Ours: `pipeline.machine.workers` with
`pipeline.training.loop`, one process per core, a test at the end; on a GPU
`pipeline.machine.lanes` with recorded steps. Both train the same cells on the same
device: same data, initial weights, order of samples, schedule; their test accuracies
are printed beside each other.

A grid takes time to start and then a time per cell: two sizes of grids give both.
Ratios are medians over rounds with their range. Printed at the end is one block, to be
pasted as it is.
"""

import argparse
import dataclasses
import functools
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset

from pipeline import networks as table
from pipeline.machine import lanes, workers
from pipeline.training import loop, separable
from pipeline.training.fourier import fourier
from pipeline.training.loop import BATCH, CLIP, Labelled, Training

NETWORKS = {
    "lenet": (table.specification({"network": "lenet"}), 5000, 2, (1, 16)),
    "mlp": (
        table.specification({"network": "mlp", "hidden": [100, 20]}),
        5000,
        4,
        (1, 16),
    ),
    "resnet18": (table.specification({"network": "resnet18"}), 256, 1, (1, 4)),
}
"""Name → specification, samples of either split, epochs, and the sizes of two grids in
units of the cells that run at once: smaller than the papers' cells, with the same
batches of 128."""

TRAINING = functools.partial(Training, lr=0.1, momentum=0.9, weight_decay=0.0)
USUAL_CELLS = 2
"""Cells that the usual loop trains in each round, others each time."""

Sets = list[Labelled]
"""A training and a test set, each inputs and class numbers."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """One training: its network, its hyperparameters, the seed of its weights and of
    its order."""

    specification: table.Specification
    training: Training
    seed: int


class Order(Sampler):
    """The order of samples that `loop.train` takes, epoch by epoch."""

    def __init__(self, count: int, seed: int) -> None:
        self.count = count
        self.generator = torch.Generator().manual_seed(seed)

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[int]:
        return iter(torch.randperm(self.count, generator=self.generator).tolist())


def usual(cell: Cell, sets: Sets, device: torch.device) -> float:
    """Train one network the usual way; returns its test accuracy after the last
    epoch."""
    how = cell.training
    x, y = sets[0]
    network = table.build(cell.specification, 1, 2, cell.seed).to(device)
    loader = DataLoader(
        TensorDataset(x, y), BATCH, sampler=Order(len(x), cell.seed), num_workers=2
    )
    test_loader = DataLoader(TensorDataset(*sets[1]), BATCH, num_workers=2)
    rates = iter(loop.SCHEDULES[how.schedule](how.epochs * len(loader), how.lr))
    optimiser = torch.optim.SGD(
        network.parameters(), how.lr, how.momentum, weight_decay=how.weight_decay
    )
    for _ in range(how.epochs):
        network.train()
        loss_sum = correct = 0
        for inputs, targets in loader:
            optimiser.param_groups[0]["lr"] = float(next(rates))
            inputs = inputs.to(device)
            targets = targets.to(device)
            outputs = network(inputs)
            loss = F.cross_entropy(outputs, targets)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), CLIP)
            optimiser.step()
            loss_sum += loss.item() * len(targets)
            correct += (outputs.max(1)[1] == targets).sum().item()
        network.eval()
        with torch.no_grad():
            right = 0
            for inputs, targets in test_loader:
                inputs = inputs.to(device)
                targets = targets.to(device)
                right += (network(inputs).max(1)[1] == targets).sum().item()
    return right / len(sets[1][1])


def data(count: int) -> Sets:
    """Training and test set of one cell: D(v) at a frequency that all networks
    learn."""
    sets = []
    for split in ("train", "test"):
        rng = np.random.default_rng([0, split == "test"])
        y = separable.labels(rng, count)
        x = separable.linearly_separable(
            separable.normal(rng, count), y, fourier(0, -2), 1.0, 1.0
        )
        sets.append((x, torch.as_tensor(y > 0).long()))
    return sets


class Run(loop.Trainer):
    """The training of one cell of our grid, whose result is its test accuracy."""

    def __init__(
        self, device: torch.device, sets: Sets, cell: Cell, training_set: Labelled
    ) -> None:
        self.test_set = sets[1]
        x, y = training_set
        super().__init__(
            table.build(cell.specification, 1, 2, cell.seed),
            loop.channels_last(x, device),
            y.to(device),
            cell.training,
            cell.seed,
            record=lanes.Recorder() if lanes.can_record(device) else None,
        )

    def result(self, seconds: float) -> float:
        """The test accuracy, however long the training took."""
        x, y = self.test_set
        x = loop.channels_last(x, self.x.device)
        return loop.accuracy(self.network, x, y.to(self.x.device))


def train_cell(device: torch.device, sets: Sets, cell: Cell) -> float:
    """Train one cell of our grid, in a worker; returns its test accuracy."""
    run = Run(device, sets, cell, sets[0])
    while not run.finished:
        run.advance()
    return run.result(0.0)


def ours(name: str, count: int, device: torch.device) -> tuple[float, list[float]]:
    """Time of a grid of `count` cells from start to end, and their test accuracies."""
    specification, samples, epochs, _ = NETWORKS[name]
    cells = [Cell(specification, TRAINING(epochs), seed) for seed in range(count)]
    started = time.perf_counter()
    make_data = functools.partial(data, samples)
    if device.type == "cpu":
        train = functools.partial(train_cell, device)
        results = workers.run(train, cells, make_data, device)
    else:
        start = functools.partial(Run, device)
        results = lanes.run(
            start,
            lambda sets, cell: sets[0],
            cells,
            make_data,
            lambda cell: name,
            device,
        )
    accuracies = {}
    for cell, result in results:
        if isinstance(result, Exception):
            raise result
        accuracies[cell.seed] = result
    return time.perf_counter() - started, [accuracies[seed] for seed in range(count)]


def one_network(name: str, rounds: int, device: torch.device) -> Iterator[str]:
    """The lines of the block that the rounds give for one network."""
    specification, samples, epochs, multiples = NETWORKS[name]
    at_once = workers.cores() if device.type == "cpu" else lanes.AT_MOST
    small = multiples[0] * at_once
    large = multiples[1] * at_once
    sets = data(samples)
    ratios = {}
    both = []
    for number in range(rounds):
        started = time.perf_counter()
        theirs = {}
        for seed in range(number * USUAL_CELLS, (number + 1) * USUAL_CELLS):
            theirs[seed] = usual(
                Cell(specification, TRAINING(epochs), seed), sets, device
            )
        usual_time = (time.perf_counter() - started) / USUAL_CELLS
        few, _ = ours(name, small, device)
        many, accuracies = ours(name, large, device)
        both += [
            (accuracies[seed], accuracy)
            for seed, accuracy in theirs.items()
            if seed < large
        ]
        for label, ratio in {
            "per further cell": usual_time / ((many - few) / (large - small)),
            f"a grid of {small} with its start": usual_time * small / few,
            f"a grid of {large} with its start": usual_time * large / many,
        }.items():
            ratios.setdefault(label, []).append(ratio)
        print(f"{name}: round {number + 1} of {rounds} done", file=sys.stderr)
    yield f"{name}: {samples:,} samples, {epochs} epochs; throughput, ours ÷ usual"
    for label, values in ratios.items():
        median = statistics.median(values)
        low = min(values)
        high = max(values)
        yield f"  {label:40s}{median:8.3g}   ({low:.3g} to {high:.3g})"
    pairs = ", ".join(
        f"{100 * accuracy:.1f} / {100 * usual_accuracy:.1f}"
        for accuracy, usual_accuracy in both
    )
    yield f"  test accuracies of the same cells, ours / usual: {pairs}"


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS)
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="auto", help="as in params.yaml")
    chosen = parser.parse_args()
    device = workers.find_device(chosen.device)
    torch.set_num_threads(workers.cores())
    commit = subprocess.check_output(
        ["git", "rev-parse", "--short", "HEAD"], text=True
    ).strip()
    place = f"{workers.device_name(device)}, {platform.machine()}"
    where = f"{place}, torch {torch.__version__}, float32"
    lines = [f"benchmarks.grid at {commit}, {chosen.rounds} rounds: {where}"]
    for name in chosen.networks:
        lines += one_network(name, chosen.rounds, device)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
