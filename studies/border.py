"""Why does LeNet fail along its NAD 1000: because its signs alternate, because the
pattern is at the border, or because of max pooling?

    python -m studies.border

Nearly all of NAD 1000 is in the outermost two pixels, which few windows of an unpadded
convolution cover. So LeNet is trained on D(v) along four directions:

- NAD 1000;
- `no alternation`: its absolute values, in the same pixels;
- `frame`: the outermost two pixels, all alike;
- `in the middle`: NAD 1000 moved by half the image in both directions.

Along the last one, three other LeNets are trained: with strides in place of pooling,
which has as many weights; without either; and with average pooling. Where signs
alternate from pixel to pixel, the largest value of a window is nearly the same for +v
and −v, so max pooling can lose the class, and strides cannot. The mean of a window,
before or after a ReLU, is nearly the same too. Written before the runs with average
pooling: we expect that this LeNet, too, is near chance (below 60 %). To see that it
learns anything with this recipe, it is also trained along LeNet's NAD 0; we expect that
it does.

`response` is √(vᵀCv) relative to the network's NAD 0, and `border` the fraction of the
energy of v in the outermost two pixels. Paper 1's SGD, as in `studies.anatomy`,
ε = σ = 1. Adds a row per network to results.csv in reports/kept/border/lenet/.
"""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from pipeline import experiments
from pipeline.experiments.plan import Plan
from pipeline.nads import NADs, load
from pipeline.networks.lenet import LeNet
from pipeline.project.errors import one_sentence
from pipeline.training.shapes import SIDE
from studies import in_memory
from studies.anatomy import (
    RESPONSE_NETWORKS,
    Variant,
    make_plan,
    untrained_nads,
)
from studies.untrained import energy

FOLDER = Path("reports/kept/border/lenet")

NETWORK = "lenet"
INDEX = 1000
MOVED = "in the middle"
FIRST = "NAD 0"
DOWNSAMPLING = ("pool", "stride", "none", "average")
"""The variants of LeNet. All directions are for the first one."""

FRAME = 2
"""Width of the border in pixels."""


class AveragePooledLeNet(LeNet):
    """LeNet with average pooling after the ReLU of each convolution, not max pooling.

    Args:
        channels: Number of input channels.
        outputs: Number of outputs.
    """

    def __init__(self, channels, outputs):
        super().__init__(channels, outputs)
        # LeNet applies its ReLU after pooling; a mean needs one before, too.
        self.pool = nn.Sequential(nn.ReLU(), nn.AvgPool2d(2))


def in_frame() -> np.ndarray:
    """Which pixels are in the border, (SIDE, SIDE)."""
    frame = np.ones((SIDE, SIDE), bool)
    frame[FRAME:-FRAME, FRAME:-FRAME] = False
    return frame


def make_directions(v: np.ndarray) -> dict[str, np.ndarray]:
    """Make the directions from NAD 1000, (D,), as unit vectors (D,) by name."""
    frame = in_frame().astype(v.dtype)
    moved = np.roll(v.reshape(SIDE, SIDE), (SIDE // 2, SIDE // 2), (0, 1))
    return {
        f"NAD {INDEX}": v,
        "no alternation": np.abs(v),
        "frame": frame.ravel() / np.linalg.norm(frame),
        MOVED: moved.ravel(),
    }


def variant(downsampling: str) -> Variant:
    """The LeNet that downsamples in this way."""
    if downsampling == "average":
        return Variant(NETWORK, (("network", "studies.border:AveragePooledLeNet"),))
    return Variant(NETWORK, (("downsampling", downsampling),))


def train_network(
    plan: Plan, job: tuple[str, str, np.ndarray, int, NADs]
) -> dict[str, Any]:
    """Train one network and return its row; runs in a worker.

    Args:
        plan: The plan of `nad_sweep`.
        job: How LeNet downsamples, the direction's name, the direction (D,), the seed,
            and the network's NADs.
    """
    downsampling, name, v, seed, nads = job
    experiment = experiments.find("nad_sweep")
    (cell,) = (
        cell
        for cell in experiment.cells(plan)
        if (cell["seed"], cell["index"]) == (seed, INDEX)
    )
    outcome, accuracy = in_memory.learn_direction(
        experiment, plan, cell, v, specification=variant(downsampling).specification
    )
    return {
        "downsampling": downsampling,
        "direction": name,
        "seed": seed,
        "border": float((v.reshape(SIDE, SIDE)[in_frame()] ** 2).sum()),
        "response": (energy(nads, v) / nads.eigenvalues[0]) ** 0.5,
        "train_accuracy": outcome.accuracy,
        "accuracy": accuracy,
    }


def main() -> None:
    """Train the networks that results.csv lacks."""
    plan = make_plan([NETWORK], [INDEX])
    pooled = load(NETWORK)
    first, v = pooled.directions[[0, INDEX]].astype(np.float32)
    directions = make_directions(v)
    names = {"pool": [*directions], "average": [FIRST, MOVED]}
    directions[FIRST] = first
    jobs = {}
    for downsampling in DOWNSAMPLING:
        nads = pooled
        if downsampling != "pool":
            nads = untrained_nads(variant(downsampling), RESPONSE_NETWORKS)
        along = names.get(downsampling, [MOVED])
        for name, seed in itertools.product(along, plan.seeds):
            job = downsampling, name, directions[name], seed, nads
            jobs[downsampling, name, seed] = job
    in_memory.complete(FOLDER / "results.csv", train_network, jobs, plan)


if __name__ == "__main__":
    with one_sentence("results.csv keeps the networks"):
        main()
