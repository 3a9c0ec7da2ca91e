"""LeNet's training steps with two columns of its first maps made at once, as it trains on a CPU, against one after the other.

    python -m benchmarks.columns [--rounds 60]

One process per core, each with both ways in turn: a step with the one, a step with the other. The ratio is that of the median times of
a step, its mean over the processes.
"""

import argparse
import multiprocessing
import os
import statistics
import time

import torch
import torch.nn.functional as F

from pipeline import networks as table
from pipeline import training
from pipeline.machine import forkserver, workers
from pipeline.networks import lenet
from pipeline.training.single import BATCH

NETWORKS = {
    "LeNet": ({"network": "lenet"}, 1),
    "LeNet, two channels": ({"network": "lenet"}, 2),
    "LeNet, three channels": ({"network": "lenet"}, 3),
    "LeNet, four channels": ({"network": "lenet"}, 4),
    "LeNet without pooling": ({"network": "lenet", "downsampling": "none"}, 1),
}
"""Name → entry of params.yaml's `architectures`, and the channels of its inputs."""

WAYS = {"one": F.conv2d, "two": lenet.by_two_columns}
HOW = training.Training(1, 0.1, 0.9, 0.0)


def medians(rounds: int) -> dict[str, dict[str, float]]:
    """Seconds of a training step of every network in either way, in this process."""
    torch.set_num_threads(1)
    found = {}
    for name, (entry, channels) in NETWORKS.items():
        networks = {way: table.build(table.specification(entry), channels, 2, 0) for way in WAYS}
        x, y = training.arranged(torch.randn(BATCH, channels, 32, 32), "cpu"), torch.arange(BATCH) % 2
        seconds = {way: [] for way in WAYS}
        for _ in range(rounds):
            for way, network in networks.items():
                lenet.by_two_columns = WAYS[way]
                started = time.perf_counter()
                training.train(network, x, y, HOW, 0)
                seconds[way].append(time.perf_counter() - started)
        found[name] = {way: statistics.median(taken) for way, taken in seconds.items()}
    return found


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=60)
    rounds = parser.parse_args().rounds
    os.environ.update(forkserver.WORKER)
    with multiprocessing.get_context("spawn").Pool(workers.cores()) as pool:
        processes = pool.map(medians, [rounds] * workers.cores(), chunksize=1)
    capability = torch.backends.cpu.get_cpu_capability()
    print(f"{workers.cores()} cores with {capability}, torch {torch.__version__}, float32, one process per core")
    for name in NETWORKS:
        one, two = (statistics.mean(found[name][way] for found in processes) for way in WAYS)
        print(
            f"{name:22s} THROUGHPUT, two ÷ one column: {one / two:.2f}   ({1e3 * one:.1f}, {1e3 * two:.1f} ms a step)"
        )


if __name__ == "__main__":
    main()
