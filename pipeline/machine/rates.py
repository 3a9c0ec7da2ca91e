"""How fast this machine trains networks of which no earlier run noted it: an estimate from their size."""

import time

import torch

PASSES = 3
"""Multiples of a forward pass's operations that a step of training takes: forward, and twice as many backward."""

EFFICIENCY = 0.3
"""Part of a matrix product's speed at which networks train: LeNets reach 0.29 of it, ResNet-18 0.54 (docs/speed.md)."""

SIDE = 512
"""Side of the matrices whose product is timed."""


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
