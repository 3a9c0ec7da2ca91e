"""Does ResNet-18 learn some frequencies and not others because of skip connections?

    python -m studies.skips

The network of the kept Fourier map `RUN` is trained without its skip connections, along
frequencies that are multiples of `STEP`. Frequencies are in three classes, by how many
of k_row/2 and k_col/2 are odd. Writes `FOLDER`/results.csv, which also has the map's
accuracies, with skip connections, along all frequencies.
"""

import dataclasses
import functools
import json
from pathlib import Path

import pandas as pd
import pydantic
import torch
from tqdm import tqdm

from pipeline import experiments
from pipeline.experiments.experiment import Cell
from pipeline.experiments.plan import Plan
from pipeline.machine import workers
from studies import in_memory

RUN = Path("reports/kept/fourier/resnet18_quarter")
NAME = "resnet18_quarter"
FOLDER = Path("reports/kept/skips/resnet18_quarter")

STEP = 6  # between frequencies that are trained: of these waves each class has some
EXPERIMENT = experiments.find("fourier")
COLUMNS = ["skip", "k_row", "k_col", "odd_halves", "accuracy", "train_accuracy"]


def read_plan() -> Plan:
    """Read the plan of the kept map."""
    plan = json.loads((RUN / "run.json").read_text(encoding="utf-8"))["plan"]
    of_fourier = pydantic.TypeAdapter(Plan[EXPERIMENT.Settings, EXPERIMENT.Grid])
    return of_fourier.validate_json(json.dumps(plan))


def count_odd_halves(waves: pd.DataFrame) -> pd.Series:
    """Count how many of k_row/2 and k_col/2 are odd, by row."""
    return (waves[["k_row", "k_col"]] // 2 % 2).sum(axis=1)


def train_cell(plan: Plan, cell: Cell) -> dict[str, float]:
    """Train a cell's network without skip connections; runs in a worker.

    Args:
        plan: The plan of the kept map.
        cell: A cell of it.

    Returns:
        The training and the test accuracy.
    """
    specification = plan.members[NAME].specification | {"skip": False}
    outcome, accuracy = in_memory.learn_direction(
        EXPERIMENT,
        plan,
        cell,
        EXPERIMENT.direction(cell),
        specification=specification,
    )
    return {"accuracy": accuracy, "train_accuracy": outcome.accuracy}


def combine(with_skips: pd.DataFrame, without_skips: pd.DataFrame) -> pd.DataFrame:
    """Combine the results with and without skip connections in one table."""
    tables = []
    for skip, table in ((True, with_skips), (False, without_skips)):
        tables.append(table.assign(skip=skip, odd_halves=count_odd_halves(table)))
    return pd.concat(tables)[COLUMNS]


def main() -> None:
    """Train without skip connections, and write the table."""
    plan = read_plan()
    cells = []
    for cell in EXPERIMENT.cells(plan):
        if cell["k_row"] % STEP == 0 and cell["k_col"] % STEP == 0:
            cells.append(cell)
    rows = []
    make_plan = functools.partial(dataclasses.replace, plan)
    work = workers.run(train_cell, cells, make_plan, torch.device("cpu"))
    for cell, result in tqdm(work, "waves", len(cells), disable=None):
        if isinstance(result, Exception):
            raise result
        rows.append({"k_row": cell["k_row"], "k_col": cell["k_col"]} | result)
    FOLDER.mkdir(parents=True, exist_ok=True)
    without_skips = pd.DataFrame(rows).sort_values(["k_row", "k_col"])
    table = combine(pd.read_csv(RUN / "results.csv"), without_skips)
    table.to_csv(FOLDER / "results.csv", index=False, float_format="%.5g")


if __name__ == "__main__":
    main()
