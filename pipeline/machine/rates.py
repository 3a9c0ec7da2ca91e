"""How fast this machine trains networks of which no earlier run noted it: an estimate from their size."""

import time

import torch

PASSES = 3
"""Multiples of a forward pass's operations that a step of training takes: forward, and twice as many backward."""

EFFICIENCY = 0.3
"""Part of a matrix product's speed at which networks train: on a core LeNets reach 0.29 of it, ResNet-18 0.54 (docs/speed.md);
for a GPU the same is a choice, since none was measured."""

SIDES = {"cpu": 512, "cuda": 8192}
"""Side of the matrices whose product is timed, by kind of device."""


def speed(device: torch.device, precision: str) -> float:
    """Operations of a forward pass that one core, or the GPU, trains on in a second, by the time of a product of matrices.

    precision: of what is multiplied, 'float32' or 'bfloat16'.
    """
    threads, side = torch.get_num_threads(), SIDES[device.type]
    x = torch.ones(side, side, device=device, dtype=getattr(torch, precision))
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    torch.set_num_threads(1)
    try:
        x @ x
        wait()
        started = time.perf_counter()
        for _ in range(4):
            x @ x
        wait()
        return EFFICIENCY / PASSES * 4 * 2 * side**3 / (time.perf_counter() - started)
    finally:
        torch.set_num_threads(threads)
