"""Why does LeNet fail along its NAD 1000: because its signs alternate, or because the
pattern is at the border?

    python -m studies.border

Nearly all of NAD 1000 is in the outermost two pixels, which few windows of an unpadded
convolution cover. So LeNet is trained on D(v) along four directions:

- NAD 1000;
- `no alternation`: its absolute values, in the same pixels;
- `frame`: the outermost two pixels, all alike;
- `in the middle`: NAD 1000 moved by half the image in both directions.

`response` is √(vᵀCv) relative to NAD 0, and `border` the fraction of the energy of v in
the outermost two pixels. Paper 1's SGD, as in `studies.anatomy`, ε = σ = 1. Adds a row
per network to results.csv in reports/kept/border/lenet/.
"""

from pathlib import Path
from typing import Any

import numpy as np

from pipeline import experiments
from pipeline.experiments.plan import Plan
from pipeline.nads import NADs, load
from pipeline.project.errors import one_sentence
from pipeline.training.shapes import SIDE
from studies import in_memory
from studies.anatomy import Variant, planned, response

FOLDER = Path("reports/kept/border/lenet")

NETWORK = Variant("lenet", ())
INDEX = 1000
FRAME = 2
"""Width of the border in pixels."""


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
        "in the middle": moved.ravel(),
    }


def train_network(plan: Plan, job: tuple[str, np.ndarray, int, NADs]) -> dict[str, Any]:
    """Train one network and return its row; runs in a worker.

    Args:
        plan: The plan of `nad_sweep`.
        job: The direction's name, the direction (D,), the seed, and LeNet's NADs.
    """
    name, v, seed, nads = job
    experiment = experiments.find("nad_sweep")
    (cell,) = (
        cell
        for cell in experiment.cells(plan)
        if (cell["seed"], cell["index"]) == (seed, INDEX)
    )
    outcome, accuracy = in_memory.learn_direction(
        experiment, plan, cell, v, specification=NETWORK.specification
    )
    return {
        "direction": name,
        "seed": seed,
        "border": float((v.reshape(SIDE, SIDE)[in_frame()] ** 2).sum()),
        "response": (response(nads, v) / nads.eigenvalues[0]) ** 0.5,
        "train_accuracy": outcome.accuracy,
        "accuracy": accuracy,
    }


def main() -> None:
    """Train the networks that results.csv lacks."""
    nads = load(NETWORK.architecture)
    plan = planned([NETWORK.architecture], [INDEX])
    v = nads.directions[INDEX].astype(np.float32)
    jobs = {}
    for name, direction in make_directions(v).items():
        for seed in plan.seeds:
            jobs[name, seed] = name, direction, seed, nads
    in_memory.complete(FOLDER / "results.csv", train_network, jobs, plan)


if __name__ == "__main__":
    with one_sentence("results.csv keeps the networks, and the same command resumes"):
        main()
