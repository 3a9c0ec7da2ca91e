"""Does a network fit late pairs of NADs, if the training varies that paper 2 leaves
open?

    python -m studies.fitting [--seeds 3] [--network lenet] [--ways stated …]
    [--pairs 1000,1000 ...] [--scale paper]

Networks are trained on D(v₁) ⊕ D(v₂) as in `linear_pairs`, with the samples and epochs
of a scale of params.yaml, along NADs of data/nads. Each network is trained in all of
the `WAYS`. The way `stated` has, for LeNet, a maximum learning rate of 0.2, momentum
0.9, clipping at norm 0.5, and one triangle that peaks at 2/5 of training. Each other
way changes one of these settings.

Prints CSV with one row per network: training loss and accuracy of the last epoch, and
test accuracies with both channels, with only the first and with only the second.
"""

import argparse
import dataclasses
import functools
import math
import sys
from collections.abc import Callable

import pandas as pd
import torch
from tqdm import tqdm

from pipeline import config
from pipeline.experiments.experiment import Cell
from pipeline.experiments.plan import Indices
from pipeline.machine import workers
from pipeline.project import artifacts
from pipeline.training import loop
from studies.in_memory import LinearPairs

TEST_SAMPLES = 4000
PAIRS = ((1000, 1000), (512, 800), (800, 256))
STATED = {"clip": loop.CLIP}
"""The recipe of paper 2 and the group's code, where params.yaml differs for LeNet."""

WAYS = {
    "stated": STATED,
    "clip 0.1": STATED | {"clip": 0.1},
    "clip 0.3": STATED | {"clip": 0.3},
    "no clip": STATED | {"clip": math.inf},
    "rate 0.1": STATED | {"lr": 0.1},
    "rate 0.05": STATED | {"lr": 0.05},
}
"""The settings that each way replaces in the plan of params.yaml."""


def make_plan(
    scale: str, name: str, pairs: tuple[tuple[int, int], ...], seeds: int
) -> Callable[[], LinearPairs]:
    """Plan one network at these pairs of indices, with the sizes of a scale.

    Returns:
        A function that makes their cells and data.
    """
    plan = config.plans(config.read())[scale].experiments["linear_pairs"]
    indices = Indices(tuple(sorted({index for pair in pairs for index in pair})))
    members = {name: dataclasses.replace(plan.members[name], grid=indices, seeds=seeds)}
    tests = min(TEST_SAMPLES, plan.test_samples)
    return functools.partial(
        LinearPairs,
        dataclasses.replace(
            plan, members=members, seeds=tuple(range(seeds)), test_samples=tests
        ),
    )


def train_cell(linear_pairs: LinearPairs, job: tuple[Cell, str]) -> dict[str, float]:
    """How the training of a cell in one way went, and its test accuracies; runs in a
    worker."""
    cell, way = job
    # The seeds are those of the stage `train`, so that the stated way is what it
    # trains.
    outcome, accuracies, _ = linear_pairs.train(cell, "linear_pairs", **WAYS[way])
    result = {
        "train_loss": outcome.losses[-1],
        "train_accuracy": outcome.accuracy,
    } | accuracies
    return {name: round(value, 5) for name, value in result.items()}


def main() -> None:
    """Train every cell in every way and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", default="lenet")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument(
        "--pairs", nargs="+", default=[f"{first},{second}" for first, second in PAIRS]
    )
    parser.add_argument("--scale", choices=config.read()["scales"], default="paper")
    asked = parser.parse_args()
    artifacts.require(artifacts.NADS, "estimate")
    pairs = tuple(tuple(map(int, pair.split(","))) for pair in asked.pairs)
    make = make_plan(asked.scale, asked.network, pairs, asked.seeds)
    cells = [
        cell for cell in make().cells if (cell["index_1"], cell["index_2"]) in pairs
    ]
    jobs = [(cell, way) for way in asked.ways for cell in cells]
    rows = []
    work = workers.run(train_cell, jobs, make, torch.device("cpu"))
    for (cell, way), result in tqdm(work, "cells in each way", len(jobs), disable=None):
        place = {
            name: cell[name] for name in ("architecture", "seed", "index_1", "index_2")
        }
        if isinstance(result, loop.Diverged):
            result = {"train_loss": float("inf")}
        elif isinstance(result, Exception):
            raise result
        rows.append({"way": way} | place | result)
    table = pd.DataFrame(rows)
    table["way"] = pd.Categorical(table["way"], list(WAYS))  # sorted in this order
    table = table.sort_values(["way", "index_1", "index_2", "seed"])
    table.to_csv(sys.stdout, index=False)


if __name__ == "__main__":
    main()
