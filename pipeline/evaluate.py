"""Stage `evaluate EXPERIMENT`: what each trained network relies on -> reports/{experiment}/.

results.csv: accuracy with all channels and with each alone; summary.csv: the same as mean and standard deviation over
seeds; boundaries.csv: tilt and margins of the decision boundary;
cross_sections.npz: class-1 probability in the plane of the two directions; metrics.json: the few numbers to compare.
"""

import functools
import sys

import numpy as np
import pandas as pd
import safetensors.torch
import torch
from tqdm import tqdm

from pipeline import architectures, artifacts, boundaries, datasets, experiments, grid, params, training
from pipeline.errors import one_sentence

MARGIN_SAMPLES = 64
"""Test samples whose margins are measured."""


def evaluate_cell(data, recipe):
    """Accuracies, cross-section and margins of one trained cell; runs in a worker."""
    cell, device, module = recipe["cell"], torch.device(recipe["device"]), data.module
    network = architectures.build(recipe["specification"], module.CHANNELS, 2, 0)
    network.load_state_dict(safetensors.torch.load_file(recipe["weights"]))
    network.to(device)

    def score(inputs):
        output = training.logits(network, training.arranged(inputs, device))
        return output[:, 1] - output[:, 0]

    x, y = data.dataset(cell, "test")
    x, y = training.arranged(x, device), y.to(device)
    accuracies = {"all": training.accuracy(network, x, y)}
    for name, channels in module.TEST_SETS.items():
        accuracies[name] = training.accuracy(network, datasets.only(x, channels), y)
    first, second = data.plane(cell)
    scores = boundaries.cross_section(score, first, second)
    some = x[:MARGIN_SAMPLES]
    margins = [np.median(boundaries.margins(score, some, direction)) for direction in (first, second)]
    return {"accuracies": accuracies, "n": len(y), "scores": scores, "margins": [float(m) for m in margins]}


def main(name):
    """Evaluate every cell and write the tables."""
    module = experiments.find(name)
    chosen = params.load(experiment=module)
    device = grid.device_of(chosen.device)
    cells = artifacts.cells(name)
    names = [artifacts.cell_name(cell, module.COORDINATES) for cell in cells]
    recipes = [
        {
            "cell": cell,
            "specification": chosen.architectures[cell["architecture"]],
            "device": device.type,
            "weights": str(artifacts.present(artifacts.MODELS / name / f"{n}.safetensors", f"train {name}")),
        }
        for cell, n in zip(cells, names)
    ]
    outcomes = [None] * len(cells)
    work = grid.run(evaluate_cell, recipes, functools.partial(artifacts.Data, name), device)
    for position, result in tqdm(work, f"evaluate {name}", len(recipes), unit="cell", disable=None):
        if isinstance(result, Exception):
            raise result
        outcomes[position] = result

    results, planes, sections = [], [], {}
    for cell, cell_name, outcome in zip(cells, names, outcomes):
        place = {"architecture": cell["architecture"], "seed": cell["seed"], **{c: cell[c] for c in module.COORDINATES}}
        for test_set, value in outcome["accuracies"].items():
            results.append({**place, "test_set": test_set, "accuracy": round(value, 6), "n": outcome["n"]})
        planes.append(
            {
                **place,
                "tilt": round(boundaries.tilt(outcome["scores"]), 3),
                "margin_1": round(outcome["margins"][0], 4),
                "margin_2": round(outcome["margins"][1], 4),
            }
        )
        # Probabilities to three digits are all that a picture shows, and files of this size can live in git.
        sections[cell_name] = (1 / (1 + np.exp(-outcome["scores"].astype(np.float64)))).astype(np.float16)
    results, planes = pd.DataFrame(results), pd.DataFrame(planes)
    folder = artifacts.fresh(artifacts.REPORTS / name)
    results.to_csv(folder / "results.csv", index=False)
    over_seeds = results.groupby(["architecture", *module.COORDINATES, "test_set"], sort=False)["accuracy"]
    over_seeds.agg(mean="mean", std="std", seeds="count").round(6).reset_index().to_csv(
        folder / "summary.csv", index=False
    )
    planes.to_csv(folder / "boundaries.csv", index=False)
    np.savez_compressed(folder / "cross_sections.npz", **sections)
    images = artifacts.about_images()["name"] if module.NEEDS_IMAGES else None
    artifacts.write_json(
        folder / "metrics.json",
        {
            "scale": chosen.scale,
            "seeds": chosen.grid.seeds,
            **({"images": images} if images else {}),
            **module.metrics(results, planes),
        },
    )


if __name__ == "__main__":
    with one_sentence():
        main(experiments.asked_for(sys.argv[1:]))
