"""The evaluation of trained cells: rows of each cell, and the tables of all cells."""

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import safetensors.torch
import torch
from torch import nn
from tqdm import tqdm

from pipeline import networks
from pipeline.experiments.experiment import Cell, Experiment
from pipeline.grid import jobs
from pipeline.grid.data import Data
from pipeline.machine import workers
from pipeline.measures import boundaries, gradients
from pipeline.project import artifacts
from pipeline.project.errors import InputError, prefix_errors
from pipeline.project.progress import progress

Row = dict[str, Any]

Rows = dict[str, list[Row]]
"""Rows of each table, by its name: 'results', 'boundaries', 'course'."""


def evaluate_one(
    device: torch.device, data: Data, trained: tuple[Cell, networks.Specification, str]
) -> tuple[Rows, np.ndarray | None]:
    """Evaluate one cell.

    Args:
        device: Where networks run.
        data: The experiment's data sets.
        trained: The cell, its network's specification, and its file in models/.

    Returns:
        The cell's rows of every table, and the cross-section of its score in the plane
        of the decision boundary, if the experiment has one.
    """
    cell, specification, file = trained
    experiment = data.experiment
    tensors = safetensors.torch.load_file(file)
    snapshots = {}
    if experiment.needs_courses:
        snapshots = jobs.by_epoch(tensors)
        tensors = snapshots[max(snapshots)]
    if not experiment.needs_networks:  # the file holds outputs
        results = [
            _accuracies(name, tensors[name], y) for name, _, y in data.test_sets(cell)
        ]
        return {"results": results}, None

    def restore(weights: dict[str, torch.Tensor]) -> nn.Module:
        return jobs.restore(data, cell, specification, weights, device)

    network = restore(tensors)

    def find_outputs(x: torch.Tensor) -> torch.Tensor:
        return jobs.logits(network, x, device)

    rows: Rows = {
        "results": [
            _accuracies(name, find_outputs(x), y) for name, x, y in data.test_sets(cell)
        ]
    }
    # All that follows is measured on the first test set.
    _, x, y = next(data.test_sets(cell))
    section = None
    plane = experiment.boundary_plane(
        cell, data.base_noise(cell["seed"]), data.directions(cell)
    )
    if plane is not None:
        section, boundary = boundaries.boundary(
            lambda x: _score(find_outputs(x)), x, *plane
        )
        rows["boundaries"] = [boundary]
    if snapshots:
        rows["course"] = [
            {"epoch": epochs} | _course(data, cell, restore(weights), x, y, device)
            for epochs, weights in snapshots.items()
        ]
    return rows, section


def evaluate_cells(
    data: Data, work: list[tuple], device: torch.device
) -> dict[str, tuple[Rows, np.ndarray | None]]:
    """Evaluate cells in workers.

    Args:
        data: The experiment's data sets.
        work: The cell, the specification and the file of each network.
        device: Where networks run.

    Returns:
        What `evaluate_one` returns, by file.
    """
    function = functools.partial(evaluate_one, device)
    experiment = data.experiment
    make_data = data.recipe()
    if experiment.needs_networks:
        results = workers.run(function, work, make_data, device)
    else:
        # Outputs on the test sets are on disk: reading them takes less than starting a
        # process.
        results = workers.run_here(function, work, make_data)
    outcomes = {}
    title = f"evaluate {experiment.name}"
    with progress(title, len(work), lambda: len(outcomes)):
        for (*_, file), result in tqdm(results, title, len(work), disable=None):
            if isinstance(result, Exception):
                with prefix_errors(f"{Path(file).stem}: "):
                    raise result
            outcomes[file] = result
    return outcomes


def _accuracies(test_set: str, outputs: torch.Tensor, y: torch.Tensor) -> Row:
    """Return a row of the table 'results'."""
    row = {"test_set": test_set, "accuracy": _accuracy(outputs, y), "n": len(y)}
    if outputs.shape[1] == 2:
        best = boundaries.best_accuracy(_score(outputs), y.numpy())
        row["best_accuracy"] = round(best, 6)
    return row


def _course(
    data: Data,
    cell: Cell,
    network: nn.Module,
    x: torch.Tensor,
    y: torch.Tensor,
    device: torch.device,
) -> Row:
    """Return the measures of a network after some epochs, on inputs (N, C, H, W) of
    classes y, (N,)."""
    # Images are sorted by content, so take some from everywhere.
    some = x[:: -(-len(x) // gradients.SAMPLES)]
    response = gradients.covariance(network, some.to(device))
    eigenvalues = artifacts.read_nads(cell["architecture"])["eigenvalues"]
    measured = gradients.response_parts(
        cell, *data.directions(cell), eigenvalues, x, response
    )
    row = {key: round(value, 6) for key, value in measured.items()}
    return row | {"accuracy": _accuracy(jobs.logits(network, x, device), y)}


def _accuracy(outputs: torch.Tensor, y: torch.Tensor) -> float:
    """Return the fraction of correct predictions.

    Raises:
        InputError: Outputs are not finite, of which argmax makes predictions too.
    """
    if not torch.isfinite(outputs).all():
        raise InputError(
            "outputs on the test set are not finite; take a smaller lr",
            "not-finite",
        )
    return round(float((outputs.argmax(1) == y).float().mean()), 6)


def _score(outputs: torch.Tensor) -> np.ndarray:
    """Return the difference of two outputs, (N,)."""
    return outputs.diff()[:, 0].numpy()


def make_result_tables(
    cells: list[Cell],
    evaluated: list[Rows],
    trained: pd.DataFrame,
    experiment: Experiment,
) -> dict[str, pd.DataFrame]:
    """Make the tables of an experiment.

    Args:
        cells: All cells.
        evaluated: The rows of each cell.
        trained: The table models/{experiment}/training.csv.
        experiment: The experiment.

    Returns:
        By name, tables of rows with their cell's coordinates and its training.
    """
    keys = ["architecture", "seed", *experiment.coordinates]
    rows: Rows = {}
    for cell, rows_by_table in zip(cells, evaluated, strict=True):
        coordinates = {key: cell[key] for key in keys}
        for name, rows_of_cell in rows_by_table.items():
            rows.setdefault(name, []).extend(coordinates | row for row in rows_of_cell)
    trained = trained.astype({"steps": "Int64"}).round(6)
    trained = trained.rename(
        columns={"accuracy": "train_accuracy", "loss": "train_loss"}
    )
    return {
        name: pd.DataFrame(all_rows).merge(trained, on=keys, how="left")
        for name, all_rows in rows.items()
    }
