"""Do ResNet-18's skip connections make its preference among waves?

    python -m studies.skips

The network of the kept Fourier map `RUN`, with its skip connections and without: its response
before training, √(vᵀCv), along every wave v of the map, and its accuracy, without skip connections
along the waves at multiples of `STEP` alone. A wave is of one of three classes, by how many of
k_row/2 and k_col/2 are odd. Writes two tables and a figure into the folder `FOLDER`.
"""

import dataclasses
import functools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pydantic
import torch
from tqdm import tqdm

from pipeline import experiments
from pipeline.cells import training
from pipeline.experiments.experiment import Cell
from pipeline.experiments.plan import Plan
from pipeline.machine import workers
from pipeline.report import style
from studies import in_memory
from studies.definitions import of_waves

RUN, NAME = Path("reports/kept/fourier/resnet18_quarter"), "resnet18_quarter"
FOLDER = Path("reports/kept/skips/resnet18_quarter")

STEP = 6  # between frequencies that are trained: of these waves each class has some
NETWORKS = 40  # untrained, of each covariance
EXPERIMENT = experiments.find("fourier")


def planned() -> Plan:
    """The plan of the kept map."""
    plan = json.loads((RUN / "run.json").read_text(encoding="utf-8"))["plan"]
    of_fourier = pydantic.TypeAdapter(Plan[EXPERIMENT.Settings, EXPERIMENT.Grid])
    return of_fourier.validate_json(json.dumps(plan))


def odd_halves(waves: pd.DataFrame) -> pd.Series:
    """How many of k_row/2 and k_col/2 are odd; waves: with columns k_row and k_col."""
    return (waves[["k_row", "k_col"]] // 2 % 2).sum(axis=1)


def trained(plan: Plan, cell: Cell) -> dict[str, float]:
    """Training and test accuracy of a network without skip connections; runs in a worker."""
    draw, v = EXPERIMENT.draw(plan, cell["seed"], None), [EXPERIMENT.direction(cell)]
    x, y = EXPERIMENT.dataset(cell, "train", draw, v)
    specification = plan.members[NAME].specification | {"skip": False}
    network, outcome, _ = in_memory.trained(
        EXPERIMENT, plan, cell, x, y, EXPERIMENT.outputs, specification=specification
    )
    ((_, x, y),) = EXPERIMENT.test_sets(cell, draw, v)
    accuracy = training.accuracy(network, training.channels_last(x, "cpu"), y)
    return {"accuracy": accuracy, "train_accuracy": outcome.accuracy}


def draw(table: pd.DataFrame) -> None:
    """Draw accuracy over response, with and without skip connections, by class of the waves."""
    figure, (panels,) = style.new(1, 2, 8.6, 4.2, sharex=True, sharey=True)
    for panel, (skip, rows) in zip(panels, table.groupby("skip", sort=False)):
        rows = rows.assign(response=rows["response"] / rows["response"].median())
        for odd, look in zip(range(3), style.CURVES):
            of_class = rows[(rows["odd_halves"] == odd) & rows["accuracy"].notna()]
            label = ("neither half odd", "one half odd", "both halves odd")[odd]
            look = look | {"linestyle": "none", "label": label}
            panel.plot(of_class["response"], 100 * of_class["accuracy"], **look)
        panel.axhline(50, color="0.6", linewidth=0.8)
        panel.set(xscale="log", ylim=(45, 102), xlabel="response before training")
        panel.set_title("with skip connections" if skip else "without skip connections")
    panels[0].set_ylabel("test accuracy (%)")
    panels[1].legend(frameon=False, loc="center right")
    caption = "ResNet-18, width ×0.25 · D(v), v waves; k/2 of rows and columns odd or even · "
    caption += "one network a wave, all fitted, σ = 3, 20 epochs, bfloat16 · "
    caption += "response: √(vᵀCv) over its median along 73 waves · grey: guessing"
    title = "Accuracy along waves over the response before training"
    style.save(style.finish(figure, title, caption), FOLDER, "skips")


def write(table: pd.DataFrame) -> None:
    """Write the responses along all waves, and the accuracies of the networks that were trained."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    columns = {"responses": ["response"], "results": ["accuracy", "train_accuracy"]}
    for name in columns:
        rows = table[["skip", "k_row", "k_col", "odd_halves", *columns[name]]].dropna()
        rows.to_csv(FOLDER / f"{name}.csv", index=False, float_format="%.5g")
    draw(table)


def main() -> None:
    """Estimate, train, and write the tables and the figure."""
    plan = planned()
    specification = plan.members[NAME].specification
    waves = pd.read_csv(RUN / "results.csv")[["k_row", "k_col", "accuracy", "train_accuracy"]]
    cells = [c for c in EXPERIMENT.cells(plan) if not (c["k_row"] % STEP or c["k_col"] % STEP)]
    make = functools.partial(dataclasses.replace, plan)
    rows = []
    work = workers.run(trained, cells, make, torch.device("cpu"))
    for cell, result in tqdm(work, "waves", len(cells), disable=None):
        if isinstance(result, Exception):
            raise result
        rows.append({"k_row": cell["k_row"], "k_col": cell["k_col"]} | result)
    without = waves[["k_row", "k_col"]].merge(pd.DataFrame(rows), how="left")
    tables = []
    for skip, table in ((True, waves), (False, without)):
        _, variance = of_waves(
            specification | {"skip": skip},
            table[["k_row", "k_col"]].to_numpy(),
            NETWORKS,
            symmetry="transposition",  # with skip connections and without
        )
        response = np.sqrt(variance)
        tables.append(table.assign(skip=skip, odd_halves=odd_halves(table), response=response))
    write(pd.concat(tables))


if __name__ == "__main__":
    main()
