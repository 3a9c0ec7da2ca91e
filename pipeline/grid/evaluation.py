"""The evaluation of a grid's cells: what a worker is given, and what it finds of one trained network."""

import dataclasses

import numpy as np
import torch

from pipeline import networks as table
from pipeline import training
from pipeline.grid import jobs
from pipeline.grid.data import Data
from pipeline.grid.experiment import Cell
from pipeline.machine import store
from pipeline.measures import reliance
from pipeline.project.errors import InputError


@dataclasses.dataclass(frozen=True)
class Trained:
    """One trained cell: its network's specification and the file of what is kept of it."""

    cell: Cell
    specification: table.Specification
    file: str
    device: str


def evaluate_one(data: Data, trained: Trained) -> tuple[dict[str, list[dict]], np.ndarray | None]:
    """Rows of every table, and the cross-section if there is one, of one trained cell; runs in a worker.

    Raises InputError where the file is damaged, or holds what a network made of other test sets.
    """
    cell, device, experiment = trained.cell, torch.device(trained.device), data.experiment
    kept = store.tensors(trained.file, f"train {experiment.name}")
    network = jobs.restored(data, trained.specification, kept, device) if experiment.needs_networks else None
    tables, section = {"results": []}, None
    for position, (test_set, x, y) in enumerate(data.test_sets(cell)):
        outputs = kept.get(test_set) if network is None else jobs.logits(network, x, device)
        if outputs is None or outputs.shape != (len(y), data.outputs):
            raise InputError(
                f"{trained.file} does not hold what its network makes of the test set '{test_set}'; "
                f"`python -m pipeline.train {experiment.name}` makes it again"
            )
        row = {"test_set": test_set, "accuracy": round(float((outputs.argmax(1) == y).float().mean()), 6), "n": len(y)}
        if data.outputs == 2:
            score = outputs.diff(dim=1)[:, 0].double().numpy()
            row["best_accuracy"] = round(reliance.best_accuracy(score, y.numpy()), 6)
        tables["results"].append(row)
        if position or network is None:
            continue
        if plane := data.plane(cell):
            difference = lambda inputs: training.logits(network, training.arranged(inputs, device)).diff(dim=1)[:, 0]
            section, row = reliance.boundary(difference, training.arranged(x, device), *plane)
            tables["boundaries"] = [row]
        altered = experiment.alterations(cell, data.directions(cell), x)
        if rows := reliance.changes(lambda inputs: jobs.logits(network, inputs, device).argmax(1), x, y, altered):
            tables["changes"] = rows
    return tables, section
