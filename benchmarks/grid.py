"""Throughput of the grid engine against the usual training loop, interleaved in one call.

    python -m benchmarks.grid [--networks lenet mlp resnet18] [--rounds 3] [--device auto] [--loaded]

The usual loop, written after the habits of published training code: a DataLoader with two workers that stacks samples one by
one, the network as it is usually written in PyTorch's default layout, all cores for one network, SGD and clipping at each step,
`.item()` at each step for the running loss, and a test pass after each epoch. Ours: `pipeline.machine.workers` with
`pipeline.training`, one process per core, a test at the end; on a GPU `pipeline.training.ensembles`. Both train the same cells on
the same device: same data, initial weights, order of samples, schedule; their test accuracies are printed beside each other.
`--loaded` keeps one core busy with another process meanwhile.

A grid takes time to start and then a time per cell: grids of several sizes give both, and the cost of a cell against the size.
Ratios are medians over rounds with their range. The fraction of the peak is the floating-point operations of forward and
backward passes per second, of what the device reaches in products of matrices in float32.
"""

import argparse
import contextlib
import dataclasses
import functools
import itertools
import multiprocessing
import statistics
import sys
import time
from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.nads import UsualLeNet
from pipeline import networks as table
from pipeline import training
from pipeline.datasets import separable
from pipeline.datasets.fourier import fourier
from pipeline.machine import workers
from pipeline.networks.lenet import LeNet
from pipeline.training import Training, ensembles
from pipeline.training.single import BATCH, CLIP

NETWORKS = {
    "lenet": (table.specification({"network": "lenet"}), 5000, 2, (1, 4, 16)),
    "mlp": (table.specification({"network": "mlp", "hidden": [100, 20]}), 5000, 4, (1, 4, 16)),
    "resnet18": (table.specification({"network": "resnet18"}), 256, 1, (1, 4)),
}
"""Name → specification, samples of either split, epochs, and sizes of grids in units of the cells that run at once: smaller than
the papers' cells, with the same batches of 128."""

HOW = functools.partial(Training, lr=0.1, momentum=0.9, weight_decay=0.0)
USUAL_CELLS = 2
"""Cells that the usual loop trains in each round, others each time."""

Sets = list[tuple[torch.Tensor, torch.Tensor]]
"""A training and a test set, each inputs and class numbers."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """One training: its network, how it is trained, and the seed of its weights and order of samples."""

    specification: table.Specification
    how: Training
    seed: int


class Order(Sampler):
    """The order of samples that `training.train` takes, epoch by epoch."""

    def __init__(self, count: int, seed: int) -> None:
        self.count, self.generator = count, torch.Generator().manual_seed(seed)

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[int]:
        return iter(torch.randperm(self.count, generator=self.generator).tolist())


def usual(cell: Cell, sets: Sets, device: torch.device) -> float:
    """Train one network the usual way; returns its test accuracy after the last epoch."""
    how, (x, y) = cell.how, sets[0]
    network = table.build(cell.specification, 1, 2, cell.seed).to(device)
    if isinstance(network, LeNet):
        network.__class__ = UsualLeNet
    loader = DataLoader(TensorDataset(x, y), BATCH, sampler=Order(len(x), cell.seed), num_workers=2)
    test_loader = DataLoader(TensorDataset(*sets[1]), BATCH, num_workers=2)
    rates = training.SCHEDULES[how.schedule](how.epochs * len(loader), how.lr)
    optimiser = torch.optim.SGD(network.parameters(), how.lr, how.momentum, weight_decay=how.weight_decay)
    step = 0
    for _ in range(how.epochs):
        network.train()
        loss_sum = correct = 0
        for inputs, targets in loader:
            optimiser.param_groups[0]["lr"] = float(rates[step])
            inputs, targets = inputs.to(device), targets.to(device)
            outputs = network(inputs)
            loss = F.cross_entropy(outputs, targets)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), CLIP)
            optimiser.step()
            loss_sum += loss.item() * len(targets)
            correct += (outputs.max(1)[1] == targets).sum().item()
            step += 1
        network.eval()
        with torch.no_grad():
            found = 0
            for inputs, targets in test_loader:
                inputs, targets = inputs.to(device), targets.to(device)
                found += (network(inputs).max(1)[1] == targets).sum().item()
    return found / len(sets[1][1])


def data(count: int) -> Sets:
    """Training and test set of one cell: D(v) at a frequency that all networks learn, (N, 1, 32, 32) and class numbers."""
    sets = []
    for split in ("train", "test"):
        rng = np.random.default_rng([0, split == "test"])
        y = separable.labels(rng, count)
        x = separable.linearly_separable(separable.normal(rng, count), y, fourier(0, -2), 1.0, 1.0)
        sets.append((x, torch.as_tensor(y > 0).long()))
    return sets


def train_cell(sets: Sets, cell: Cell) -> float:
    """Test accuracy of one cell of our grid on a CPU; runs in a worker."""
    (x, y), (test_x, test_y) = sets
    network = table.build(cell.specification, 1, 2, cell.seed)
    training.train(network, training.arranged(x, "cpu"), y, cell.how, cell.seed)
    return training.accuracy(network, training.arranged(test_x, "cpu"), test_y)


def train_together(device: torch.device, sets: Sets, cells: list[Cell]) -> list[float | Exception]:
    """Test accuracies of cells of our grid on a GPU, as many as go at once."""
    train_set, (test_x, test_y) = sets
    orders = [cell.seed for cell in cells]
    networks = [table.build(cell.specification, 1, 2, cell.seed) for cell in cells]
    way = table.together(cells[0].specification)
    results = ensembles.train(networks, itertools.repeat(train_set, len(cells)), cells[0].how, orders, device, way)
    test_x, test_y = training.arranged(test_x, device), test_y.to(device)
    return [
        result if isinstance(result, Exception) else training.accuracy(network, test_x, test_y)
        for network, result in zip(networks, results)
    ]


def at_once(specification: table.Specification, device: torch.device) -> int:
    """Cells that run at once."""
    if device.type == "cpu":
        return workers.cores()
    return ensembles.at_once(table.build(specification, 1, 2, 0), table.together(specification))


def ours(name: str, count: int, device: torch.device) -> tuple[float, dict[int, float]]:
    """Time of a grid of `count` cells from its start to its end, and their test accuracies by seed."""
    specification, samples, epochs, _ = NETWORKS[name]
    cells = [Cell(specification, HOW(epochs), seed) for seed in range(count)]
    started, make_data = time.perf_counter(), functools.partial(data, samples)
    if device.type == "cpu":
        found = dict(workers.run(train_cell, cells, make_data, device))
    else:
        numbered, size = list(enumerate(cells)), at_once(specification, device)
        groups = [numbered[start : start + size] for start in range(0, count, size)]
        found = dict(workers.run_together(functools.partial(train_together, device), groups, make_data))
    for result in found.values():
        if isinstance(result, Exception):
            raise result
    return time.perf_counter() - started, found


def operations(name: str) -> float:
    """Floating-point operations of one cell's forward and backward passes in training."""
    specification, samples, epochs, _ = NETWORKS[name]
    network = table.build(specification, 1, 2, 0)
    with FlopCounterMode(display=False) as counter:
        F.cross_entropy(network(torch.randn(BATCH, 1, 32, 32)), torch.zeros(BATCH).long()).backward()
    return counter.get_total_flops() * epochs * samples / BATCH


def peak(device: torch.device) -> float:
    """Operations per second in products of matrices: of the GPU, or of one core times their number."""
    torch.set_num_threads(1)
    side = 1024 if device.type == "cpu" else 8192
    one, other = torch.randn(2, side, side, device=device)
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    times = []
    for _ in range(20):
        wait()
        started = time.perf_counter()
        one @ other
        wait()
        times.append(time.perf_counter() - started)
    torch.set_num_threads(workers.cores())
    return 2 * side**3 / statistics.median(times) * (workers.cores() if device.type == "cpu" else 1)


def busy() -> None:
    """Keep one core busy for ever."""
    torch.set_num_threads(1)
    one = torch.randn(256, 256)
    while True:
        one @ one


@contextlib.contextmanager
def load(wanted: bool) -> Iterator[None]:
    """Another process that keeps one core busy, if wanted."""
    process = multiprocessing.get_context("spawn").Process(target=busy, daemon=True)
    if wanted:
        process.start()
        time.sleep(4)
    yield
    if wanted:
        process.kill()


def one_network(name: str, rounds: int, top: float, device: torch.device) -> None:
    """Print what the rounds give for one network."""
    specification, samples, epochs, multiples = NETWORKS[name]
    sets = data(samples)
    sizes = [multiple * at_once(specification, device) for multiple in multiples]
    figures, per_cell, mine, theirs = {}, {size: [] for size in sizes}, {}, {}
    for number in range(rounds):
        started = time.perf_counter()
        for seed in range(number * USUAL_CELLS, (number + 1) * USUAL_CELLS):
            theirs[seed] = usual(Cell(specification, HOW(epochs), seed), sets, device)
        each = (time.perf_counter() - started) / USUAL_CELLS
        times = {}
        for size in sizes:
            times[size], mine = ours(name, size, device)
            per_cell[size].append(times[size] / size)
        cell = (times[sizes[-1]] - times[sizes[0]]) / (sizes[-1] - sizes[0])
        for label, value in {
            "THROUGHPUT, ours ÷ usual, per further cell": each / cell,
            **{
                f"throughput, ours ÷ usual, a grid of {size} with its start": each * size / times[size]
                for size in sizes
            },
            "start of the grid, seconds": times[sizes[0]] - sizes[0] * cell,
            "fraction of the device's peak": operations(name) / cell / top,
        }.items():
            figures.setdefault(label, []).append(value)
        print(f"{name}: round {number + 1} of {rounds} done", file=sys.stderr)
    print(f"{name}: {samples:,} samples, {epochs} epochs, a usual cell against cells of our grids")
    for label, values in figures.items():
        print(f"  {label:62s}{statistics.median(values):8.3g}   ({min(values):.3g} to {max(values):.3g})")
    cost = ", ".join(f"{statistics.median(values):.3g} ({size})" for size, values in per_cell.items())
    print(f"  seconds per cell, its share of the start included, against the size of the grid: {cost}")
    both = [(100 * mine[seed], 100 * theirs[seed]) for seed in theirs if seed in mine]
    apart = [one - other for one, other in both]
    print(f"  test accuracies of the same cells, ours / usual: {', '.join(f'{a:.1f} / {b:.1f}' for a, b in both)}")
    print(f"  mean difference {statistics.mean(apart):+.2f} points, largest {max(map(abs, apart)):.2f}")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--loaded", action="store_true")
    chosen = parser.parse_args()
    device = workers.device_of(chosen.device)
    torch.set_num_threads(workers.cores())
    top = peak(device)
    what = f"{workers.cores()} cores" if device.type == "cpu" else torch.cuda.get_device_name()
    print(f"{what}, {top / 1e9:.0f} GFLOP/s in matrix products, torch {torch.__version__}, float32")
    with load(chosen.loaded):
        for name in chosen.networks:
            one_network(name, chosen.rounds, top, device)


if __name__ == "__main__":
    main()
