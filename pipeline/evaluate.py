"""Stage `evaluate EXPERIMENT`: evaluate every trained network on its test sets.

Writes to reports/{experiment}/: results.csv, the accuracy on every test set, for two
classes also at the best threshold of the logit, with the row of
models/{experiment}/training.csv; summary.csv, the mean and standard deviation over
seeds; run.json, the images and the plan. An experiment with a plane also has
boundaries.csv, the tilt and margins of the decision boundary, and cross_sections.npz,
the probability of class 1 in the plane. An experiment that evaluates networks during
training also has course.csv.
"""

import dataclasses

import numpy as np

from pipeline import experiments
from pipeline.experiments.plan import Plan
from pipeline.grid import evaluation
from pipeline.grid.data import Data
from pipeline.machine import workers
from pipeline.measures.fitted import summary
from pipeline.project import artifacts, command
from pipeline.project.errors import one_sentence


def main(name: str) -> None:
    """Evaluate every cell and write the tables."""
    experiment = experiments.find(name)
    models = artifacts.MODELS / name
    device = workers.find_device(artifacts.read_plan("machine", dict)["device"])
    plan = Plan.read(experiment)
    data = Data(experiment)
    cells = data.cells(plan)
    artifacts.check_plan(name, models, f"train {name}")
    names = [artifacts.cell_name(cell, experiment.coordinates) for cell in cells]
    specifications = [
        plan.members[cell["architecture"]].specification for cell in cells
    ]
    files = [str(models / f"{cell_name}.safetensors") for cell_name in names]
    work = list(zip(cells, specifications, files, strict=True))
    outcomes = evaluation.evaluate_cells(data, work, device)
    rows, sections = zip(*(outcomes[file] for file in files), strict=True)
    tables = evaluation.make_result_tables(
        cells, rows, artifacts.read_training(name, "training.csv"), experiment
    )
    with artifacts.output(artifacts.REPORTS / name) as folder:
        for table, frame in tables.items():
            frame.to_csv(folder / f"{table}.csv", index=False)
        columns = ["architecture", *experiment.coordinates, "test_set"]
        summary(tables["results"], columns).to_csv(folder / "summary.csv", index=False)
        sections_by_name = {
            cell_name: section
            for cell_name, section in zip(names, sections, strict=True)
            if section is not None
        }
        if sections_by_name:
            np.savez_compressed(folder / "cross_sections.npz", **sections_by_name)
        pictures = artifacts.read_about_pictures(name)
        about = {
            "images": pictures and pictures["name"],
            "plan": dataclasses.asdict(plan),
        }
        artifacts.write_json(folder / "run.json", about)


if __name__ == "__main__":
    with one_sentence():
        main(command.read_experiment(__doc__, "evaluate", experiments.names()))
