"""How fast this machine trains: what earlier runs took, and for networks that it has not trained yet, an estimate from their size."""

import json
import time
from pathlib import Path

import torch

from pipeline.machine.store import atomically

PASSES = 3
"""Multiples of a forward pass's operations that a step of training takes: forward, and twice as many backward."""

EFFICIENCY = 0.3
"""Part of a matrix product's speed at which networks train: LeNets reach 0.29 of it, ResNet-18 0.54 (docs/speed.md)."""

SIDE = 512
"""Side of the matrices whose product is timed."""


class Rates:
    """Seconds of one core, or of the GPU, that a sample takes in training, by network: kept in one small file beside the store."""

    def __init__(self, folder: Path | str) -> None:
        self.path = Path(folder) / "rates.json"
        try:
            self.seconds = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self.seconds = {}

    def get(self, key: str) -> float | None:
        """Seconds a sample, or None where no such network was trained here."""
        return self.seconds.get(key)

    def note(self, key: str, seconds: float) -> None:
        """Keep what a run took, in place of what an earlier one did."""
        self.seconds[key] = seconds
        atomically(self.path, lambda path: Path(path).write_text(json.dumps(self.seconds), encoding="utf-8"))


def speed() -> float:
    """Operations of a forward pass that one thread of this machine trains on in a second, by the time of a product of matrices."""
    threads, x = torch.get_num_threads(), torch.ones(SIDE, SIDE)
    torch.set_num_threads(1)
    try:
        x @ x
        started = time.perf_counter()
        for _ in range(4):
            x @ x
        return EFFICIENCY / PASSES * 4 * 2 * SIDE**3 / (time.perf_counter() - started)
    finally:
        torch.set_num_threads(threads)
