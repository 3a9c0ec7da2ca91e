"""How much faster training steps are with a worker's memory settings than with one
thread alone.

    python -m benchmarks.allocation [--rounds 5]

A worker (`pipeline.machine.worker.ENVIRONMENT`) allocates in huge pages and keeps freed
memory. Each round trains every network in two processes, one after the other, with and
without these settings. Ratios are of processor times, as other programs disturb these
less: median over the rounds, with the range.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

import torch

from pipeline import networks
from pipeline.machine import worker
from pipeline.training import loop
from pipeline.training.loop import BATCH

STEPS = {"lenet": 150, "resnet18": 8}
"""The number of training steps that are timed, by network."""

WIDTHS = {"lenet": {}, "resnet18": {"width": 0.125}}


def seconds_per_step(name: str) -> float:
    """Train a network in this process, and measure the processor time of a step."""
    how = loop.Training(1, 0.1, 0.9, 0.0)
    specification = networks.specification({"network": name} | WIDTHS[name])
    network = networks.build(specification, 1, 2, 0)
    x = loop.channels_last(torch.randn(BATCH * STEPS[name], 1, 32, 32), "cpu")
    y = torch.arange(len(x)) % 2
    loop.train(network, x[: 4 * BATCH], y[: 4 * BATCH], how, 0)  # warm up
    started = time.process_time()
    loop.train(network, x, y, how, 0)
    return (time.process_time() - started) / STEPS[name]


def measure(name: str, environment: dict[str, str]) -> float:
    """Run `seconds_per_step` in a process with these environment variables."""
    command = [sys.executable, "-m", "benchmarks.allocation", "--process", name]
    done = subprocess.run(
        command,
        env=os.environ | environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--process", choices=STEPS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.process:
        print(seconds_per_step(chosen.process))
        return
    plain = worker.ENVIRONMENT | {"GLIBC_TUNABLES": ""}
    for name in STEPS:
        ratios = []
        for _ in range(chosen.rounds):
            ratios.append(measure(name, plain) / measure(name, worker.ENVIRONMENT))
        print(
            f"{name} THROUGHPUT {statistics.median(ratios):.2f} "
            f"({min(ratios):.2f} to {max(ratios):.2f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
