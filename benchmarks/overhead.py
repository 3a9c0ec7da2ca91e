"""What the pipeline costs around the training: a `dvc repro` with nothing to do, and the look-up of
1,000 stored cells.

    python -m benchmarks.overhead

Run it in a repository whose last `dvc repro` is finished. Processor seconds are user and system
time of the command and its children, medians of three runs with their range.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch

from pipeline import networks
from pipeline.machine import store

CELLS = 1000


def processor_seconds(command: list[str]) -> tuple[float, str]:
    """Processor time of a command that must succeed, and its output."""
    before = os.times()
    done = subprocess.run(command, check=True, text=True, capture_output=True)
    after = os.times()
    spent = (
        after.children_user - before.children_user + after.children_system - before.children_system
    )
    return spent, done.stdout


def main() -> None:
    """Print both costs."""
    runs = [processor_seconds([sys.executable, "-m", "dvc", "repro"]) for _ in range(3)]
    if any("up to date" not in output for _, output in runs):
        sys.exit("error: dvc repro had something to do; run it to its end first")
    seconds = [spent for spent, _ in runs]
    print(
        f"no-op dvc repro: {statistics.median(seconds):.2f} s of processor time "
        f"({min(seconds):.2f} to {max(seconds):.2f})"
    )

    state = networks.build(networks.specification({"network": "lenet"}), 2, 2, 0).state_dict()
    outcome = {"losses": torch.rand(50).tolist(), "accuracy": 1.0}
    with tempfile.TemporaryDirectory() as folder:
        cells = store.Store(folder)
        keys = [store.digest(number) for number in range(CELLS)]
        for key in keys:
            cells.put(key, state, outcome)
        times = []
        for _ in range(3):
            started = time.perf_counter()
            assert all(cells.get(key) == outcome for key in keys)
            times.append(time.perf_counter() - started)
    print(
        f"look-up of {CELLS} stored LeNets: {statistics.median(times):.2f} s "
        f"({min(times):.2f} to {max(times):.2f})"
    )


if __name__ == "__main__":
    main()
