"""Training steps with memory in huge pages that are kept, which the grid's workers do, against the
C library's habits, interleaved in one call.

    python -m benchmarks.allocation [--rounds 5]

In each round one process per core trains for some steps, with one environment after the other.
Ratios are those of the times per step to that of single pages, their medians over rounds with their
ranges; page faults and the system's share of the time are those of all steps.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time

import torch

from pipeline import networks as table
from pipeline.cells import training
from pipeline.cells.training import BATCH
from pipeline.machine import workers

NETWORKS = {
    "resnet18_narrow": ({"network": "resnet18", "width": 0.125}, 20),
    "lenet": ({"network": "lenet"}, 200),
    "lenet_unpooled": ({"network": "lenet", "downsampling": "none"}, 50),
}
"""Name → entry of params.yaml's `architectures`, and the steps that are timed."""

HOW = training.Training(1, 0.1, 0.9, 0.0)
THREAD = {"OMP_NUM_THREADS": "1"}
SIDES = {
    "single pages": THREAD,
    "huge pages": THREAD | {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"},
    "huge pages, kept": workers.ENVIRONMENT,
}


def one_process(name: str) -> None:
    """Train in this process; prints seconds per step, page faults per step, and the system's share
    of the time."""
    torch.set_num_threads(1)
    entry, steps = NETWORKS[name]
    network = table.build(table.specification(entry), 1, 2, 0)
    x = training.channels_last(torch.randn(BATCH * steps, 1, 32, 32), "cpu")
    y = torch.arange(len(x)) % 2
    training.train(network, x[: 4 * BATCH], y[: 4 * BATCH], HOW, 0)
    before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    training.train(network, x, y, HOW, 0)
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF)
    faults, system = after.ru_minflt - before.ru_minflt, after.ru_stime - before.ru_stime
    print(seconds / steps, faults / steps, system / seconds)


def measured(name: str, environment: dict[str, str]) -> list[float]:
    """The means of what `one_process` prints over one process per core."""
    command = [sys.executable, "-m", "benchmarks.allocation", "--process", name]
    usual = {
        key: value for key, value in os.environ.items() if key not in ("GLIBC_TUNABLES", *THREAD)
    }
    processes = [
        subprocess.Popen(command, env=usual | environment, stdout=subprocess.PIPE, text=True)
        for _ in range(workers.cores())
    ]
    outputs = [process.communicate()[0] for process in processes]
    return [
        statistics.mean(column)
        for column in zip(*(map(float, output.split()) for output in outputs))
    ]


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--process", choices=NETWORKS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.process:
        one_process(chosen.process)
        return
    print(f"{workers.cores()} cores, torch {torch.__version__}, float32, one process per core")
    for name in NETWORKS:
        rounds = [
            {side: measured(name, environment) for side, environment in SIDES.items()}
            for _ in range(chosen.rounds)
        ]
        for side in SIDES:
            seconds, faults, system = (
                statistics.median(column) for column in zip(*(times[side] for times in rounds))
            )
            ratios = [times["single pages"][0] / times[side][0] for times in rounds]
            print(
                f"{name:16s} {side:17s} THROUGHPUT {statistics.median(ratios):.2f} "
                f"({min(ratios):.2f} to {max(ratios):.2f}), {1e3 * seconds:6.1f} ms a step, "
                f"{faults:7.0f} page faults, {system:.1%} of the time in the system"
            )


if __name__ == "__main__":
    main()
