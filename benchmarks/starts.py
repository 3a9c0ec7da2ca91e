"""What a process takes before its first job and after its last: as the stages do it, and as Python and PyTorch would by themselves.

    python -m benchmarks.starts [--rounds 5]

Three pairs, the two sides in turns, each in a process of its own that is timed from its start to its end: a stage that is only asked
for its help; a stage of one job for each core, its workers spawned, or copies of a process that imports PyTorch while the stage does;
a network's first step, by the class torch.optim.SGD or by its function. For each the ratio of the two sides and the seconds between
them, median and range of the rounds.
"""

import argparse
import multiprocessing
import statistics
import subprocess
import sys
import time

from pipeline.machine import forkserver

SIDES = ("usual", "ours")
STEP = """
import torch
from pipeline import training
network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(1, 2))
x, y = torch.ones(4, 1, 1, 1), torch.tensor([0, 1, 0, 1])
"""
BY_CLASS = """
optimiser = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9, foreach=True)
torch.nn.functional.cross_entropy(network(x), y).backward()
optimiser.step()
"""
BY_FUNCTION = "training.train(network, x, y, training.Training(epochs=1, lr=0.1, momentum=0.9, weight_decay=0.0), 0)"


def job(*_: object) -> None:
    """What a worker of a stage imports before its first network."""
    import pipeline.train  # noqa: F401


def stage(side: str) -> None:
    """What a stage does until each of its workers has done a job."""
    if side == "ours":
        forkserver.start()
    else:
        forkserver.METHOD = "spawn"
    import torch

    import pipeline.train  # noqa: F401
    from pipeline.machine import processes, workers

    processes.CONTEXT = multiprocessing.get_context(forkserver.METHOD)
    for _ in workers.run(job, range(workers.cores()), dict, torch.device("cpu")):
        pass


def seconds(command: list[str]) -> float:
    """How long a command takes that must succeed."""
    started = time.perf_counter()
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    """Time the three pairs and print them."""
    parser = argparse.ArgumentParser("python -m benchmarks.starts", description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--stage", choices=SIDES, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.stage:
        return stage(given.stage)
    pairs = {
        "a stage's imports and its end": (["-c", "import pipeline.generate"], ["-m", "pipeline.generate", "--help"]),
        "a stage until each worker's first job": tuple(["-m", "benchmarks.starts", "--stage", side] for side in SIDES),
        "a process with one step of SGD": (["-c", STEP + BY_CLASS], ["-c", STEP + BY_FUNCTION]),
    }
    for name, commands in pairs.items():
        for command in commands:
            seconds(command)  # the first one also compiles and reads from disk
        times = [[seconds(command) for command in commands] for _ in range(given.rounds)]
        ratios, saved = zip(*((usual / ours, usual - ours) for usual, ours in times))
        print(
            f"{name}: {statistics.median(ratios):.2f} times as fast ({min(ratios):.2f} to {max(ratios):.2f}), "
            f"{statistics.median(saved):.1f} s less ({min(saved):.1f} to {max(saved):.1f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
