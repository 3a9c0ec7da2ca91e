"""The evaluation of a grid's cells: one trained network's rows in every table, and the tables."""

import dataclasses

import numpy as np
import pandas as pd
import safetensors.torch
import torch

from pipeline import networks as table
from pipeline.cells import training
from pipeline.experiments.experiment import Cell, Experiment
from pipeline.grid import jobs
from pipeline.grid.data import Data
from pipeline.measures import reliance
from pipeline.measures.fitted import fitted


@dataclasses.dataclass(frozen=True)
class Trained:
    """One trained cell: its network's specification and its file in models/."""

    cell: Cell
    specification: table.Specification
    file: str
    device: str


Rows = dict[str, list[dict]]
"""Rows of each table, by its name: 'results', 'boundaries', 'changes'."""


def evaluate_one(data: Data, trained: Trained) -> tuple[Rows, np.ndarray | None]:
    """One cell's rows in every table, and the cross-section of its score if it has a plane.

    Runs in a worker.
    """
    cell, device, experiment = trained.cell, torch.device(trained.device), data.experiment
    arrays, network = safetensors.torch.load_file(trained.file), None
    if experiment.needs_networks:
        network = jobs.restored(data, trained.specification, arrays, device)
    rows, section = {"results": []}, None
    for position, (test_set, x, y) in enumerate(data.test_sets(cell)):
        outputs = arrays[test_set] if network is None else jobs.logits(network, x, device)
        accuracy = round(float((outputs.argmax(1) == y).float().mean()), 6)
        row = {"test_set": test_set, "accuracy": accuracy, "n": len(y)}
        if data.outputs == 2:
            score = outputs.diff(dim=1)[:, 0].double().numpy()
            row["best_accuracy"] = round(reliance.best_accuracy(score, y.numpy()), 6)
        rows["results"].append(row)
        if position or network is None:
            continue
        if plane := data.plane(cell):
            score = lambda some: training.logits(network, training.arranged(some, device)).diff(  # noqa: B023
                dim=1
            )[:, 0]
            section, row = reliance.boundary(score, training.arranged(x, device), *plane)
            rows["boundaries"] = [row]
        altered = experiment.alterations(cell, data.directions(cell), x)
        predict = lambda some: jobs.logits(network, some, device).argmax(1)  # noqa: B023
        if changes := reliance.changes(predict, x, y, altered):
            rows["changes"] = changes
    return rows, section


def tables(
    cells: list[Cell], outcomes: list[Rows], trained: pd.DataFrame, experiment: Experiment
) -> dict[str, pd.DataFrame]:
    """The tables of an experiment, each row with its cell's place in the grid and its training.

    outcomes: the rows of each of the cells; trained: models/{experiment}/training.csv.
    """
    keys, rows = ["architecture", "seed", *experiment.coordinates], {}
    for cell, outcome in zip(cells, outcomes):
        for kind, some in outcome.items():
            place = {key: cell[key] for key in keys}
            rows.setdefault(kind, []).extend(place | row for row in some)
    trained = trained.astype({"steps": "Int64"}).round(6)
    trained = trained.rename(columns={"accuracy": "train_accuracy", "loss": "train_loss"})
    return {
        kind: pd.DataFrame(some).merge(trained, on=keys, how="left") for kind, some in rows.items()
    }


def summary(results: pd.DataFrame, coordinates: tuple[str, ...]) -> pd.DataFrame:
    """The results as mean and standard deviation over seeds, with how many of these were fitted."""
    values = {
        "mean": ("accuracy", "mean"),
        "std": ("accuracy", "std"),
        "seeds": ("accuracy", "count"),
        "fitted": ("fitted", "sum"),
        "train_accuracy": ("train_accuracy", "mean"),
    }
    if "best_accuracy" in results:
        values |= {"best_mean": ("best_accuracy", "mean"), "best_std": ("best_accuracy", "std")}
    places = ["architecture", *coordinates, "test_set"]
    over_seeds = results.assign(fitted=fitted(results)).groupby(places, sort=False)
    return over_seeds.agg(**values).round(6).reset_index()
