"""The evaluation of trained cells: rows of results for each cell, and the tables of all cells."""

import numpy as np
import pandas as pd
import safetensors.torch
import torch

from pipeline import networks as table
from pipeline.cells import training
from pipeline.experiments.experiment import Cell, Experiment
from pipeline.grid import jobs
from pipeline.grid.data import Data
from pipeline.measures import boundaries, gradients
from pipeline.measures.fitted import fitted

Rows = dict[str, list[dict]]  # of each table, by its name: 'results', 'boundaries', 'course'


def evaluate_one(
    device: torch.device, data: Data, trained: tuple[Cell, table.Specification, str]
) -> tuple[Rows, np.ndarray | None]:
    """One cell's rows of every table, and the cross-section of its score where it has a plane.

    trained: the cell, its network's specification, and its file in models/.
    """
    experiment, (cell, specification, file) = data.experiment, trained
    arrays, network, states = safetensors.torch.load_file(file), None, {}
    if experiment.needs_courses:
        states = jobs.course(arrays)
        *_, arrays = states.values()
    if experiment.needs_networks:
        network = jobs.restored(data, cell, specification, arrays, device)
    rows, section = {"results": []}, None
    for position, (test_set, x, y) in enumerate(data.test_sets(cell)):
        outputs = arrays[test_set] if network is None else jobs.logits(network, x, device)
        accuracy = round(float((outputs.argmax(1) == y).float().mean()), 6)
        row = {"test_set": test_set, "accuracy": accuracy, "n": len(y)}
        if data.outputs == 2:
            score = outputs.diff(dim=1)[:, 0].double().numpy()
            row["best_accuracy"] = round(boundaries.best_accuracy(score, y.numpy()), 6)
        rows["results"].append(row)
        if position or network is None:
            continue
        if plane := experiment.plane(cell, data.draw(cell["seed"]), data.directions(cell)):
            score = lambda x: training.logits(network, training.channels_last(x, device)).diff()[
                :, 0
            ]
            section, row = boundaries.boundary(score, training.channels_last(x, device), *plane)
            rows["boundaries"] = [row]
        for epochs, weights in states.items():
            then = jobs.restored(data, cell, specification, weights, device)
            some = x[:: -(-len(x) // gradients.SAMPLES)]  # images are sorted by content
            response = gradients.covariance(then, some.to(device))
            of_cell = cell, *data.directions(cell), x, response
            measured = gradients.course(*of_cell, data.untrained(cell["architecture"]))
            measured["accuracy"] = training.accuracy(then, x.to(device), y.to(device))
            row = {key: round(float(value), 6) for key, value in measured.items()}
            rows.setdefault("course", []).append({"epoch": epochs} | row)
    return rows, section


def tables(
    cells: list[Cell], evaluated: list[Rows], trained: pd.DataFrame, experiment: Experiment
) -> dict[str, pd.DataFrame]:
    """The tables of an experiment, each row with its cell's place in the grid and its training.

    evaluated: the rows of each cell; trained: models/{experiment}/training.csv.
    """
    keys, rows = ["architecture", "seed", *experiment.coordinates], {}
    for cell, by_table in zip(cells, evaluated):
        place = {key: cell[key] for key in keys}
        for name, rows_of_cell in by_table.items():
            rows.setdefault(name, []).extend(place | row for row in rows_of_cell)
    trained = trained.astype({"steps": "Int64"}).round(6)
    trained = trained.rename(columns={"accuracy": "train_accuracy", "loss": "train_loss"})
    return {
        name: pd.DataFrame(all_rows).merge(trained, on=keys, how="left")
        for name, all_rows in rows.items()
    }


def summary(results: pd.DataFrame, places: list[str]) -> pd.DataFrame:
    """Mean and standard deviation of accuracies over seeds, and the number of fitted seeds.

    places: the columns of everything but the seed.
    """
    values = {
        "mean": ("accuracy", "mean"),
        "std": ("accuracy", "std"),
        "seeds": ("accuracy", "count"),
        "fitted": ("fitted", "sum"),
        "train_accuracy": ("train_accuracy", "mean"),
    }
    if "best_accuracy" in results:
        values |= {"best_mean": ("best_accuracy", "mean"), "best_std": ("best_accuracy", "std")}
    over_seeds = results.assign(fitted=fitted(results)).groupby(places, sort=False)
    return over_seeds.agg(**values).round(6).reset_index()
