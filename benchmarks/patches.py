"""The leading NADs of networks that cut their inputs into patches of p×p pixels.

    python -m benchmarks.patches > docs/data/patches.csv

With weights that are alike in law at every patch and at every place in it, an untrained network
hardly tells patches apart: its first p² NADs are the patterns that repeat in each patch, and its
response falls after them. `repeating` is the part of their span that lies in such patterns (by
chance p²/1024). `first`, `last` and `next` are singular values, √λ × 100, of NADs 0, p² − 1 and p².
"""

import csv
import sys

import numpy as np
from threadpoolctl import threadpool_limits

from pipeline import networks
from pipeline.cells.shapes import SIDE
from pipeline.nads import estimate

PATCHES = {"vit": (4, 32), "mixer": (4, 32), "convmixer": (4, 64), "convnext": (16, 64)}
"""Height of a patch (of ConvNeXt: the product of its strides), and number of untrained networks."""


def repeating(directions: np.ndarray, patch: int) -> float:
    """The part of the span of orthonormal directions (K, D) in patterns that repeat every patch."""
    tiles = directions.reshape(-1, SIDE // patch, patch, SIDE // patch, patch)
    mean = tiles.mean((1, 3))
    return float(np.square(mean).sum() * (SIDE // patch) ** 2 / len(directions))


def main() -> None:
    """Print a row for each network."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    row = "network weights patch networks error first last next ratio_0_1000 repeating"
    table.writerow(row.split())
    for name, (patch, count) in PATCHES.items():
        specification = networks.specification({"network": name})
        make = networks.constructor(specification["network"])
        shape = (1, SIDE, SIDE)
        nads = estimate(lambda make=make: make(1, 1), shape, networks=count, symmetry="square")
        values = 100 * np.sqrt(nads.eigenvalues)
        size = sum(weight.numel() for weight in make(1, 2).parameters())
        numbers = nads.error, *values[[0, patch**2 - 1, patch**2]], values[0] / values[1000]
        numbers += (repeating(nads.directions[: patch**2], patch),)
        table.writerow([name, size, patch, count, *(f"{number:.3g}" for number in numbers)])
        sys.stdout.flush()


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
