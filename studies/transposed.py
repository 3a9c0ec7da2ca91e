"""Does LeNet learn a frequency better than its transpose?

    python -m studies.transposed

Transposing all images has the same effect as transposing all kernels, and random
kernels have the same distribution when transposed. So accuracies along (0, k) and
(k, 0) have the same distribution. The published map has large differences at the
frequencies `K`. LeNet is trained along both, as for its kept map, with more seeds.

Writes results.csv, with a row per network, into reports/kept/fourier/lenet_transposed/.
"""

import argparse
import dataclasses
from pathlib import Path
from typing import Any

from pipeline import config, experiments
from pipeline.experiments.experiment import Cell
from pipeline.experiments.plan import Plan
from pipeline.project.errors import one_sentence
from studies import in_memory

FOLDER = Path("reports/kept/fourier/lenet_transposed")

K = (-14, -10, -6)
SEEDS = 6
EXPERIMENT = experiments.find("fourier")


def make_plan() -> Plan:
    """Make the plan of LeNet's kept map, with more seeds."""
    plan = config.plans(config.read())["overnight"].experiments["fourier"]
    return dataclasses.replace(
        plan, seeds=tuple(range(SEEDS)), members={"lenet": plan.members["lenet"]}
    )


def train_network(plan: Plan, cell: Cell) -> dict[str, Any]:
    """Train a cell's network and return its row; runs in a worker."""
    v = EXPERIMENT.direction(cell)
    outcome, accuracy = in_memory.learn_direction(EXPERIMENT, plan, cell, v)
    return {
        "k_row": cell["k_row"],
        "k_col": cell["k_col"],
        "seed": cell["seed"],
        "train_accuracy": outcome.accuracy,
        "accuracy": accuracy,
    }


def main() -> None:
    """Train all networks that the table lacks."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    plan = make_plan()
    chosen = {(0, k) for k in K} | {(k, 0) for k in K}
    jobs = {}
    for cell in EXPERIMENT.cells(plan):
        frequency = cell["k_row"], cell["k_col"]
        if frequency in chosen:
            jobs[*frequency, cell["seed"]] = cell
    in_memory.complete(FOLDER / "results.csv", train_network, jobs, plan)


if __name__ == "__main__":
    with one_sentence("results.csv keeps the networks"):
        main()
