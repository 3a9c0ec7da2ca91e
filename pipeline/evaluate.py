"""Stage `evaluate EXPERIMENT`: what each trained network relies on -> reports/{experiment}/.

results.csv: accuracy on every test set, for two classes also that at the best threshold of the logit, and beside it how training
went (models/{experiment}/training.csv); summary.csv: the same as mean and standard deviation over seeds, with how many of these
were fitted; metrics.json: the few numbers to compare. Where the experiment has a plane: boundaries.csv, tilt and margins of the
decision boundary, and cross_sections.npz, class-1 probability in the plane of the two directions. Where it alters its test
inputs: changes.csv, how often predictions change.
"""

import functools

import numpy as np
import pandas as pd
from tqdm import tqdm

from pipeline import experiments
from pipeline.grid.data import Data
from pipeline.grid.evaluation import Trained, evaluate_one
from pipeline.machine import workers
from pipeline.measures.fitted import fitted
from pipeline.project import artifacts, command
from pipeline.project.errors import InputError, one_sentence

TRAINING = {"accuracy": "train_accuracy", "loss": "train_loss"}
"""Columns of training.csv, and what they are called in every table."""


def main(name: str) -> None:
    """Evaluate every cell and write the tables."""
    experiment = experiments.find(name)
    coordinates = experiment.coordinates
    cells = artifacts.cells(name, coordinates)
    grid = artifacts.grid(name, {cell["architecture"] for cell in cells})
    Data(experiment).check(cells)
    trained = artifacts.trained(name, "training", coordinates, ["loss", "accuracy", "steps"], cells)
    losses = artifacts.trained(name, "losses", coordinates, ["epoch", "loss"], cells)
    device = workers.device_of(workers.Machine(**artifacts.planned("machine")).device)
    names = [artifacts.cell_name(cell, experiment.coordinates) for cell in cells]
    files = [artifacts.present(artifacts.MODELS / name / f"{n}.safetensors", f"train {name}") for n in names]
    work = [
        Trained(cell, grid["architectures"][cell["architecture"]], str(file), device.type)
        for cell, file in zip(cells, files)
    ]
    outcomes = [None] * len(cells)
    make_data = functools.partial(Data, experiment)
    if experiment.needs_networks:
        results = workers.run(evaluate_one, work, make_data, device)
    else:
        # What their networks made of the test sets was kept: that is counted before a process has started.
        results = workers.run_here(evaluate_one, work, make_data)
    for position, result in tqdm(results, f"evaluate {name}", len(work), unit="cell", disable=None):
        if isinstance(result, (InputError, PermissionError)):
            raise result
        if isinstance(result, Exception):
            said = " ".join(f"{type(result).__name__}: {result}".split())
            raise InputError(
                f"the network {files[position]} cannot be evaluated ({said}); `python -m pipeline.generate {name}` and "
                f"`python -m pipeline.train {name}` make it and its data again"
            )
        outcomes[position] = result

    rows, sections = {}, {}
    for cell, cell_name, (found, section) in zip(cells, names, outcomes):
        place = {key: cell[key] for key in ("architecture", "seed", *experiment.coordinates)}
        for kind, some in found.items():
            rows.setdefault(kind, []).extend(place | row for row in some)
        if section is not None:
            sections[cell_name] = section
    trained = trained.astype({"steps": "Int64"}).rename(columns=TRAINING)
    keys = ["architecture", "seed", *experiment.coordinates]
    tables = {kind: pd.DataFrame(some).merge(trained.round(6), on=keys, how="left") for kind, some in rows.items()}
    folder = artifacts.fresh(artifacts.REPORTS / name)
    for kind, frame in tables.items():
        frame.to_csv(folder / f"{kind}.csv", index=False)
    results = tables["results"].assign(fitted=fitted(tables["results"]))
    over_seeds = results.groupby(["architecture", *experiment.coordinates, "test_set"], sort=False)
    summary = over_seeds.agg(
        mean=("accuracy", "mean"),
        std=("accuracy", "std"),
        seeds=("accuracy", "count"),
        fitted=("fitted", "sum"),
        train_accuracy=("train_accuracy", "mean"),
        **(
            {"best_mean": ("best_accuracy", "mean"), "best_std": ("best_accuracy", "std")}
            if "best_accuracy" in results
            else {}
        ),
    )
    summary.round(6).reset_index().to_csv(folder / "summary.csv", index=False)
    if sections:
        np.savez_compressed(folder / "cross_sections.npz", **sections)
    tables["losses"] = losses
    sizes = {key: grid[key] for key in ("scale", "seeds", "precision")}
    pictures = artifacts.about_pictures(name)
    about = {"images": pictures["name"]} if pictures else {}
    metrics = experiment.metrics(tables, artifacts.directions(name))
    artifacts.write_json(folder / "metrics.json", sizes | about | metrics)


if __name__ == "__main__":
    with one_sentence():
        main(command.experiment(__doc__, "evaluate", experiments.names()))
