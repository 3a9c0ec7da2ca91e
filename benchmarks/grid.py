"""Throughput of the grid engine against the usual training loop, interleaved in one call.

    python -m benchmarks.grid [--networks lenet mlp resnet18] [--rounds 3] [--loaded]

The usual loop, written after the habits of published training code: a DataLoader with two workers that stacks samples one by
one, the network as it is usually written in PyTorch's default layout, all cores for one network, SGD and clipping at each step,
`.item()` at each step for the running loss, and a test pass after each epoch. Ours: `pipeline.grid` with
`pipeline.training`, one process per core, a test at the end. Both train the same cells: same data, initial weights, order of
samples, schedule; their test accuracies are printed beside each other. `--loaded` keeps one core busy with another process
meanwhile.

A grid takes time to start and then a time per cell; grids of two sizes give both. Ratios are medians over rounds with their
range. The fraction of the peak is the floating-point operations of forward and backward passes per second, of what the cores
reach in products of 1024×1024 matrices.
"""

import argparse
import contextlib
import functools
import multiprocessing
import statistics
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.nads import UsualLeNet
from pipeline import architectures, datasets, grid, training
from pipeline.directions import fourier

CELLS = {
    "lenet": ({"network": "lenet"}, 5000, 2),
    "mlp": ({"network": "mlp", "hidden": [100, 20]}, 5000, 4),
    "resnet18": ({"network": "resnet18"}, 256, 1),
}
"""Name → architecture, samples of either split, epochs: smaller than the papers' cells, with the same batches of 128."""

RECIPE = functools.partial(training.Recipe, lr=0.1, momentum=0.9, weight_decay=0.0)
USUAL_CELLS = 2
"""Cells that the usual loop trains in each round."""


class Order(Sampler):
    """The order of samples that `training.train` takes, epoch by epoch."""

    def __init__(self, count, seed):
        self.count, self.generator = count, torch.Generator().manual_seed(seed)

    def __len__(self):
        return self.count

    def __iter__(self):
        return iter(torch.randperm(self.count, generator=self.generator).tolist())


def usual(specification, train_set, test_set, recipe, seed):
    """Train one network the usual way; returns its test accuracy after the last epoch."""
    network = architectures.build(specification, 1, 2, seed)
    if specification["network"] == "lenet":
        network.__class__ = UsualLeNet
    x, y = train_set
    loader = DataLoader(TensorDataset(x, y), training.BATCH, sampler=Order(len(x), seed), num_workers=2)
    test_loader = DataLoader(TensorDataset(*test_set), training.BATCH, num_workers=2)
    rates = training.triangular(recipe.epochs * len(loader), recipe.lr)
    optimiser = torch.optim.SGD(network.parameters(), recipe.lr, recipe.momentum, weight_decay=recipe.weight_decay)
    step = 0
    for _ in range(recipe.epochs):
        network.train()
        loss_sum = correct = 0
        for inputs, targets in loader:
            optimiser.param_groups[0]["lr"] = float(rates[step])
            outputs = network(inputs)
            loss = F.cross_entropy(outputs, targets)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), training.CLIP)
            optimiser.step()
            loss_sum += loss.item() * len(targets)
            correct += (outputs.max(1)[1] == targets).sum().item()
            step += 1
        network.eval()
        with torch.no_grad():
            found = sum((network(inputs).max(1)[1] == targets).sum().item() for inputs, targets in test_loader)
    return found / len(test_set[1])


def data(count):
    """Training and test set of one cell: D(v) at a frequency that all networks learn, (N, 1, 32, 32) and class numbers."""
    sets = []
    for split in ("train", "test"):
        rng = np.random.default_rng([0, split == "test"])
        y = datasets.labels(rng, count)
        x = datasets.linearly_separable(datasets.normal(rng, count), y, fourier(0, -2), 1.0, 1.0)
        sets.append((x, torch.as_tensor(y > 0).long()))
    return sets


def train_cell(sets, recipe):
    """One cell of our grid; runs in a worker."""
    (x, y), (test_x, test_y) = sets
    network = architectures.build(recipe["specification"], 1, 2, recipe["seed"])
    training.train(network, training.arranged(x, "cpu"), y, RECIPE(recipe["epochs"]), recipe["seed"])
    return training.accuracy(network, training.arranged(test_x, "cpu"), test_y)


def ours(name, cells):
    """Time of a grid of so many cells from its start to its end, and their test accuracies by seed."""
    specification, count, epochs = CELLS[name]
    recipes = [{"specification": specification, "epochs": epochs, "seed": seed} for seed in range(cells)]
    started = time.perf_counter()
    found = dict(grid.run(train_cell, recipes, functools.partial(data, count), torch.device("cpu")))
    for result in found.values():
        if isinstance(result, Exception):
            raise result
    return time.perf_counter() - started, found


def operations(name):
    """Floating-point operations of one cell's forward and backward passes in training."""
    specification, count, epochs = CELLS[name]
    network = architectures.build(specification, 1, 2, 0)
    with FlopCounterMode(display=False) as counter:
        F.cross_entropy(network(torch.randn(training.BATCH, 1, 32, 32)), torch.zeros(training.BATCH).long()).backward()
    return counter.get_total_flops() * epochs * count / training.BATCH


def peak():
    """Operations per second that one core reaches in products of matrices, and so all cores together at most."""
    torch.set_num_threads(1)
    one, other = torch.randn(1024, 1024), torch.randn(1024, 1024)
    times = []
    for _ in range(20):
        started = time.perf_counter()
        one @ other
        times.append(time.perf_counter() - started)
    torch.set_num_threads(grid.cores())
    return 2 * 1024**3 / statistics.median(times) * grid.cores()


def busy():
    """Keep one core busy for ever."""
    torch.set_num_threads(1)
    one = torch.randn(256, 256)
    while True:
        one @ one


@contextlib.contextmanager
def load(wanted):
    """Another process that keeps one core busy, if wanted."""
    process = multiprocessing.get_context("spawn").Process(target=busy, daemon=True)
    if wanted:
        process.start()
        time.sleep(4)
    yield
    if wanted:
        process.kill()


def one_network(name, rounds, top):
    """Print what the rounds give for one network."""
    specification, count, epochs = CELLS[name]
    sets = data(count)
    small, large = grid.cores(), 4 * grid.cores()
    ratios, wholes, starts, rates, mine, theirs = [], [], [], [], {}, {}
    for number in range(rounds):
        started = time.perf_counter()
        for seed in range(USUAL_CELLS):
            theirs[seed] = usual(specification, *sets, RECIPE(epochs), seed)
        each = (time.perf_counter() - started) / USUAL_CELLS
        short, _ = ours(name, small)
        long, mine = ours(name, large)
        cell = (long - short) / (large - small)
        ratios.append(each / cell)
        wholes.append(each / (long / large))
        starts.append(short - small * cell)
        rates.append(operations(name) / cell / top)
        print(f"{name}: round {number + 1} of {rounds} done", file=sys.stderr)
    print(f"{name}: {count:,} samples, {epochs} epochs, a usual cell against cells of a grid of {large}")
    for label, values in {
        "THROUGHPUT, ours ÷ usual, per further cell": ratios,
        f"throughput, ours ÷ usual, a grid of {large} with its start": wholes,
        "start of the grid, seconds": starts,
        "fraction of the peak of these cores": rates,
    }.items():
        print(f"  {label:62s}{statistics.median(values):8.3g}   ({min(values):.3g} to {max(values):.3g})")
    pairs = ", ".join(f"{mine[seed]:.4f} / {theirs[seed]:.4f}" for seed in theirs)
    print(f"  test accuracies of the same cells, ours / usual: {pairs}")


def main():
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="+", choices=CELLS, default=list(CELLS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--loaded", action="store_true")
    chosen = parser.parse_args()
    torch.set_num_threads(grid.cores())
    top = peak()
    print(f"{grid.cores()} cores, {top / 1e9:.0f} GFLOP/s in matrix products, torch {torch.__version__}, float32")
    with load(chosen.loaded):
        for name in chosen.networks:
            one_network(name, chosen.rounds, top)


if __name__ == "__main__":
    main()
