"""Does training in bfloat16 change what is learned, and how much faster is it?

    python -m studies.precision [--networks lenet resnet18_narrow] [--seeds 3]

Each cell of `linear_pairs` at laptop scale (5,000 training samples) is trained in
float32 and in bfloat16, from the same weights on the same data in the same order. It is
tested in float32, with both channels and with each channel by itself. Rounding errors
grow during training, so single cells differ. The question is whether they differ on
average.

Prints for each network:

- the mean difference bfloat16 − float32 over cells, seeds and test sets, with its 95 %
  interval (bootstrap over the trainings);
- for comparison, the standard deviation between the seeds of a cell in float32;
- how many times as fast bfloat16 is (median and range over the trainings; both
  trainings of a cell run side by side on two cores).
"""

import argparse
import dataclasses
import functools
import sys

import numpy as np
import pandas as pd
import torch
from tqdm import tqdm

from pipeline import config
from pipeline.experiments.experiment import Cell
from pipeline.machine import workers
from pipeline.project import artifacts
from studies.in_memory import LinearPairs

SAMPLES = 5000
RESAMPLED = 10_000


def train_cell(
    linear_pairs: LinearPairs, job: tuple[Cell, str]
) -> tuple[dict[str, float], float]:
    """Train one cell in one precision; runs in a worker.

    Returns:
        Test accuracies by test set, and the seconds of the training.
    """
    cell, precision = job
    return linear_pairs.train(cell, "precision", precision=precision)[1:]


def compare(table: pd.DataFrame, seconds: pd.DataFrame) -> list[dict]:
    """Compare both precisions, in a row per network.

    Args:
        table: Accuracies in float32 and bfloat16 by architecture, seed, cell and
            test_set.
        seconds: Seconds of a training in float32 and bfloat16 by architecture, seed and
            cell.
    """
    rows = []
    rng = np.random.default_rng(0)
    for name, part in table.groupby("architecture", sort=False):
        difference = part["bfloat16"] - part["float32"]
        trainings = difference.groupby([part["cell"], part["seed"]]).mean().to_numpy()
        means = rng.choice(trainings, (RESAMPLED, len(trainings))).mean(1)
        low, high = np.quantile(means, [0.025, 0.975])
        faster = seconds.loc[[name], "float32"] / seconds.loc[[name], "bfloat16"]
        rows.append(
            {
                "network": name,
                "cells": part["cell"].nunique(),
                "seeds": part["seed"].nunique(),
                "float32": 100 * part["float32"].mean(),
                "bfloat16": 100 * part["bfloat16"].mean(),
                "difference": 100 * trainings.mean(),
                "from": 100 * low,
                "to": 100 * high,
                "largest": 100 * difference.abs().max(),
                "between seeds": 100
                * float(
                    part.groupby(["cell", "test_set"])["float32"].var().mean() ** 0.5
                ),
                "times as fast": faster.median(),
                "at least": faster.min(),
                "at most": faster.max(),
            }
        )
    return rows


def main() -> None:
    """Train the cells in both precisions and print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--networks", nargs="+", default=["lenet", "mlp_100_20", "resnet18_narrow"]
    )
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    artifacts.require(artifacts.NADS, "estimate")
    plan = config.plans(config.read())["laptop"].experiments["linear_pairs"]
    members = {name: plan.members[name] for name in asked.networks}
    seeds = range(asked.seeds)
    changes = {"members": members, "seeds": tuple(seeds), "train_samples": SAMPLES}
    make = functools.partial(LinearPairs, dataclasses.replace(plan, **changes))
    linear_pairs = make()
    jobs = [
        (cell, precision)
        for cell in linear_pairs.cells
        for precision in ("float32", "bfloat16")
    ]
    tested = {}
    times = {}
    work = workers.run(train_cell, jobs, make, torch.device("cpu"))
    for (cell, precision), result in tqdm(
        work, "cells in both precisions", len(jobs), disable=None
    ):
        if isinstance(result, Exception):
            raise result
        place = (
            cell["architecture"],
            cell["seed"],
            artifacts.cell_name(
                cell | {"seed": 0}, linear_pairs.experiment.coordinates
            ),
        )
        accuracies, duration = result
        times.setdefault(place, {})[precision] = duration
        for test_set, accuracy in accuracies.items():
            tested.setdefault((*place, test_set), {})[precision] = accuracy
    table = (
        pd.Series(tested)
        .apply(pd.Series)
        .rename_axis(["architecture", "seed", "cell", "test_set"])
        .reset_index()
    )
    seconds = pd.Series(times).apply(pd.Series)
    print(f"{SAMPLES:,} training samples, torch {torch.__version__}; percentages")
    pd.DataFrame(compare(table, seconds)).to_csv(
        sys.stdout, index=False, float_format="%.2f"
    )


if __name__ == "__main__":
    main()
