"""The evaluation of trained cells: rows of results for each cell, and the tables of all
cells."""

import numpy as np
import pandas as pd
import safetensors.torch
import torch

from pipeline import networks
from pipeline.experiments.experiment import Cell, Experiment
from pipeline.grid import jobs
from pipeline.grid.data import Data
from pipeline.measures import boundaries, gradients
from pipeline.project import artifacts

Rows = dict[
    str, list[dict]
]  # of each table, by its name: 'results', 'boundaries', 'course'


def evaluate_one(
    device: torch.device, data: Data, trained: tuple[Cell, networks.Specification, str]
) -> tuple[Rows, np.ndarray | None]:
    """One cell's rows of every table, and the cross-section of its score where it has a
    plane.

    trained: the cell, its network's specification, and its file in models/.
    """
    experiment = data.experiment
    (cell, specification, file) = trained
    tensors = safetensors.torch.load_file(file)
    states = {}
    if experiment.needs_courses:
        states = jobs.course(tensors)
        *_, tensors = states.values()

    def restored(weights):
        return jobs.restored(data, cell, specification, weights, device)

    network = restored(tensors) if experiment.needs_networks else None
    rows = {"results": []}
    section = None
    for position, (test_set, x, y) in enumerate(data.test_sets(cell)):
        outputs = (
            tensors[test_set] if network is None else jobs.logits(network, x, device)
        )
        row = {"test_set": test_set, "accuracy": _accuracy(outputs, y), "n": len(y)}
        if data.outputs == 2:
            row["best_accuracy"] = round(
                boundaries.best_accuracy(_score(outputs), y.numpy()), 6
            )
        rows["results"].append(row)
        if position or network is None:
            continue
        if plane := experiment.boundary_plane(
            cell, data.draw(cell["seed"]), data.directions(cell)
        ):

            def score(x):
                return _score(jobs.logits(network, x, device))

            section, row = boundaries.boundary(score, x, *plane)
            rows["boundaries"] = [row]
        for epochs, weights in states.items():
            then = restored(weights)
            some = x[:: -(-len(x) // gradients.SAMPLES)]  # images are sorted by content
            response = gradients.covariance(then, some.to(device))
            eigenvalues = artifacts.read_nads(cell["architecture"])["eigenvalues"]
            measured = gradients.course(
                cell, *data.directions(cell), eigenvalues, x, response
            )
            row = {"epoch": epochs} | {
                key: round(value, 6) for key, value in measured.items()
            }
            row["accuracy"] = _accuracy(jobs.logits(then, x, device), y)
            rows.setdefault("course", []).append(row)
    return rows, section


def _accuracy(outputs: torch.Tensor, y: torch.Tensor) -> float:
    return round(float((outputs.argmax(1) == y).float().mean()), 6)


def _score(outputs: torch.Tensor) -> np.ndarray:
    return outputs.diff()[:, 0].numpy()


def tables(
    cells: list[Cell],
    evaluated: list[Rows],
    trained: pd.DataFrame,
    experiment: Experiment,
) -> dict[str, pd.DataFrame]:
    """The tables of an experiment, each row with its cell's coordinates and its
    training.

    evaluated: the rows of each cell; trained: models/{experiment}/training.csv.
    """
    keys = ["architecture", "seed", *experiment.coordinates]
    rows = {}
    for cell, by_table in zip(cells, evaluated, strict=True):
        coordinates = {key: cell[key] for key in keys}
        for name, rows_of_cell in by_table.items():
            rows.setdefault(name, []).extend(coordinates | row for row in rows_of_cell)
    trained = trained.astype({"steps": "Int64"}).round(6)
    trained = trained.rename(
        columns={"accuracy": "train_accuracy", "loss": "train_loss"}
    )
    return {
        name: pd.DataFrame(all_rows).merge(trained, on=keys, how="left")
        for name, all_rows in rows.items()
    }
