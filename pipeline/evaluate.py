"""Stage `evaluate EXPERIMENT`: what each trained network relies on -> reports/{experiment}/.

results.csv: accuracy on every test set; summary.csv: the same as mean and standard deviation over seeds; metrics.json: the few
numbers to compare. Where the experiment has a plane: boundaries.csv, tilt and margins of the decision boundary, and
cross_sections.npz, class-1 probability in the plane of the two directions. Where it alters its test inputs: changes.csv, how
often predictions change.
"""

import functools
import sys

import numpy as np
import pandas as pd
import safetensors.torch
import torch
from tqdm import tqdm

from pipeline import artifacts, experiments, networks, params, training
from pipeline.machine import workers
from pipeline.measures import boundaries
from pipeline.project.errors import one_sentence

MARGIN_SAMPLES = 64
"""Test samples whose margins are measured."""


def boundary(score, x, first, second):
    """Cross-section of a network's score in the plane of two directions, and a row of boundaries.csv."""
    scores = boundaries.cross_section(score, first, second)
    some = x[:MARGIN_SAMPLES]
    margins = [float(np.median(boundaries.margins(score, some, direction))) for direction in (first, second)]
    row = {
        "tilt": round(boundaries.tilt(scores), 3),
        "margin_1": round(margins[0], 4),
        "margin_2": round(margins[1], 4),
    }
    # Probabilities to three digits are all that a picture shows, and files of this size can live in git.
    return (1 / (1 + np.exp(-scores.astype(np.float64)))).astype(np.float16), row


def changes(predict, x, y, alterations):
    """Rows of changes.csv: how often predictions change when inputs are altered, and how much the inputs did.

    predict: from inputs to class numbers; alterations: pairs of (columns, altered inputs). `relative_change` is the mean of
    ‖x′ − x‖/‖x‖ over the inputs as the network takes them.
    """
    before, size, rows = predict(x), x.flatten(1).norm(dim=1), []
    for place, altered in alterations:
        after = predict(altered)
        rows.append(
            place
            | {
                "changed": round(float((after != before).float().mean()), 6),
                "relative_change": round(float(((altered - x).flatten(1).norm(dim=1) / size).mean()), 6),
                "accuracy": round(float((after == y).float().mean()), 6),
                "n": len(y),
            }
        )
    return rows


def evaluate_cell(data, recipe):
    """Rows of every table, and the cross-section if there is one, of one trained cell; runs in a worker."""
    cell, device, module = recipe["cell"], torch.device(recipe["device"]), data.module
    network = networks.build(recipe["specification"], module.CHANNELS, data.outputs, 0)
    network.load_state_dict(safetensors.torch.load_file(recipe["weights"]))
    network.to(device)

    def logits(inputs):
        return training.logits(network, training.arranged(inputs, device))

    tables, section = {"results": []}, None
    for position, (test_set, x, y) in enumerate(data.test_sets(cell)):
        accuracy = training.accuracy(network, training.arranged(x, device), y.to(device))
        tables["results"].append({"test_set": test_set, "accuracy": round(accuracy, 6), "n": len(y)})
        if position == 0 and hasattr(module, "plane"):
            difference = lambda inputs: logits(inputs).diff(dim=1)[:, 0]
            section, row = boundary(difference, training.arranged(x, device), *data.plane(cell))
            tables["boundaries"] = [row]
        if position == 0 and hasattr(module, "alterations"):
            altered = module.alterations(cell, data.directions(cell), x)
            tables["changes"] = changes(lambda inputs: logits(inputs).argmax(1).cpu(), x, y, altered)
    return tables, section


def main(name):
    """Evaluate every cell and write the tables."""
    module = experiments.find(name)
    trained = artifacts.grid(name)
    device = workers.device_of(params.load().device)
    cells = artifacts.cells(name)
    names = [artifacts.cell_name(cell, module.COORDINATES) for cell in cells]
    recipes = [
        {
            "cell": cell,
            "specification": trained["architectures"][cell["architecture"]],
            "device": device.type,
            "weights": str(artifacts.present(artifacts.MODELS / name / f"{n}.safetensors", f"train {name}")),
        }
        for cell, n in zip(cells, names)
    ]
    outcomes = [None] * len(cells)
    work = workers.run(evaluate_cell, recipes, functools.partial(artifacts.Data, name), device)
    for position, result in tqdm(work, f"evaluate {name}", len(recipes), unit="cell", disable=None):
        if isinstance(result, Exception):
            raise result
        outcomes[position] = result

    rows, sections = {}, {}
    for cell, cell_name, (tables, section) in zip(cells, names, outcomes):
        place = {"architecture": cell["architecture"], "seed": cell["seed"]} | {c: cell[c] for c in module.COORDINATES}
        for table, found in tables.items():
            rows.setdefault(table, []).extend(place | row for row in found)
        if section is not None:
            sections[cell_name] = section
    tables = {table: pd.DataFrame(found) for table, found in rows.items()}
    folder = artifacts.fresh(artifacts.REPORTS / name)
    for table, frame in tables.items():
        frame.to_csv(folder / f"{table}.csv", index=False)
    over_seeds = tables["results"].groupby(["architecture", *module.COORDINATES, "test_set"], sort=False)["accuracy"]
    over_seeds.agg(mean="mean", std="std", seeds="count").round(6).reset_index().to_csv(
        folder / "summary.csv", index=False
    )
    if sections:
        np.savez_compressed(folder / "cross_sections.npz", **sections)
    tables["losses"] = pd.read_csv(artifacts.MODELS / name / "losses.csv")
    images = artifacts.about_images()["name"] if module.NEEDS_IMAGES else None
    artifacts.write_json(
        folder / "metrics.json",
        {
            **{key: trained[key] for key in ("scale", "seeds", "precision")},
            **({"images": images} if images else {}),
            **module.metrics(tables, artifacts.Data(name).vectors),
        },
    )


if __name__ == "__main__":
    with one_sentence():
        main(experiments.asked_for(sys.argv[1:]))
