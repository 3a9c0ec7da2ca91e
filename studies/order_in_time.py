"""Does a network first use its first NADs, and later ones after more epochs?

    python -m studies.order_in_time

The authors' blog says that networks progressively pick more features. LeNet is trained
on images as in `flip` (paper 1, table 1), and on images with carriers along a NAD as in
`poison` (paper 1, fig. 7). After 1, 2, 4, … epochs it is tested on

- `first K NADs`: test images projected onto its first K NADs, in each colour channel;
- `first K components`: as a control, the same with the principal components of the
  training images, which keep nearly the most energy that K directions can;
- `clean`: test images;
- `carriers`: for training images with carriers, test images with the carriers of their
  classes.

Reads data/images/ and data/nads/. Writes results.csv and a figure into
reports/kept/order_in_time/lenet/.
"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import nn

from pipeline import config, experiments
from pipeline.experiments.experiment import Cell
from pipeline.experiments.flip import Maps
from pipeline.experiments.plan import Plan
from pipeline.experiments.poison import FirstIndices
from pipeline.project import artifacts
from pipeline.project.errors import one_sentence
from pipeline.report import style
from pipeline.report.run import average_percent, explain_unfitted
from pipeline.training import loop, maps
from studies import in_memory

FOLDER = Path("reports/kept/order_in_time/lenet")

NETWORK = "lenet"
SEEDS = 2
CARRIERS = (0, 30)  # first NAD indices of the carriers in training images
FIRST = (8, 32, 128, 512)  # numbers of directions that test images are projected onto


def make_plans() -> dict[str, Plan]:
    """Make the plans of `flip` and of `poison`, with one network and its epochs."""
    planned = config.plans(config.read())["overnight"].experiments
    grids = {"flip": Maps(("plain",)), "poison": FirstIndices(CARRIERS)}
    plans = {}
    for name, grid in grids.items():
        member = dataclasses.replace(planned[name].members[NETWORK], grid=grid)
        seeds = tuple(range(SEEDS))
        plans[name] = dataclasses.replace(
            planned[name], members={NETWORK: member}, seeds=seeds
        )
    return plans


def project(x: torch.Tensor, directions: np.ndarray) -> torch.Tensor:
    """Project each channel of images onto the span of some directions.

    Args:
        x: Images, (N, C, H, W).
        directions: Orthonormal rows, (K, H·W).
    """
    rows = torch.as_tensor(directions, dtype=torch.float32)
    flat = x.reshape(*x.shape[:2], -1)
    return (flat @ rows.T @ rows).reshape(x.shape)


def make_test_sets(
    name: str, cell: Cell, noise: dict[str, np.ndarray], nads: np.ndarray
) -> Iterator[tuple[str, torch.Tensor, torch.Tensor, float]]:
    """Yield every test set.

    Args:
        name: The cell's experiment.
        cell: The cell.
        noise: The pictures of the cell's seed.
        nads: LeNet's NADs, (D, D).

    Yields:
        The test set's name, inputs and class numbers, and the share of the images'
        energy that it keeps: the sum of squares of normalised inputs.
    """
    experiment = experiments.find(name)
    for test_set, x, y in experiment.test_sets(cell, noise, [nads]):
        yield "carriers" if test_set == "poisoned" else "clean", x, y, 1.0
    if name == "flip":
        images = experiment.normalised_pictures("test", noise)
        labels = experiment.classes("test", noise)
        components = maps.principal_components(
            experiment.normalised_pictures("train", noise)
        )
        for kind, directions in (("NADs", nads), ("components", components)):
            for count in FIRST:
                x = project(images, directions[:count])
                energy = float(x.square().sum() / images.square().sum())
                yield f"first {count} {kind}", x, labels, energy


def train_network(plans: dict[str, Plan], job: tuple[str, Cell]) -> list[dict]:
    """Train one network, and return a row per epoch and test set; runs in a worker."""
    name, cell = job
    experiment = experiments.find(name)
    plan = plans[name]
    nads = artifacts.read_nads(NETWORK)["directions"]
    images = artifacts.read_images()
    noise = experiment.draw_base_noise(plan, cell["seed"], images)
    x, y = experiment.dataset(cell, "train", noise, [nads])
    tests = []
    for test_set, inputs, *rest in make_test_sets(name, cell, noise, nads):
        tests.append((test_set, loop.channels_last(inputs, "cpu"), *rest))
    epochs = plan.members[NETWORK].training.epochs
    rows = []

    def measure(network: nn.Module, epoch: int) -> None:
        if epoch not in loop.snapshot_epochs(epochs):
            return
        for test_set, inputs, labels, energy in tests:
            row = {"epoch": epoch, "test_set": test_set, "energy": energy}
            row["accuracy"] = loop.accuracy(network, inputs, labels)
            rows.append(row)
        network.train()

    _, outcome, _ = in_memory.train(
        experiment, plan, cell, x, y, len(images["classes"]), callback=measure
    )
    about = {
        "carriers": str(cell.get("index", "none")),
        "seed": cell["seed"],
        "train_accuracy": outcome.accuracy,
    }
    return [about | row for row in rows]


def select_panels(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the title and the rows of each panel of the figure.

    Args:
        table: results.csv.
    """
    plain = table[table["carriers"] == "none"]
    for kind, words in (("NADs", "NADs"), ("components", "principal components")):
        other = plain["test_set"].str.startswith("first")
        shown = plain["test_set"].str.endswith(kind) | ~other
        yield f"trained on clean images:\n{words}", plain[shown]
    for index in CARRIERS:
        title = f"trained on images with\ncarriers from NAD {index} on"
        yield title, table[table["carriers"] == str(index)]


def draw(table: pd.DataFrame) -> None:
    """Draw accuracy by epoch, on projected images and on images with carriers."""
    panels = list(select_panels(table))
    figure, axes = style.new_figure(1, len(panels), 13, 4.4, sharey=True)
    for panel, (title, rows) in zip(axes[0], panels, strict=True):
        panel.axhline(10, color="0.6", linewidth=0.9)
        for (test_set, course), (colour, line) in zip(
            rows.groupby("test_set", sort=False), style.SPECTRA, strict=False
        ):
            cells = average_percent(course, ["epoch"])
            look = {"color": colour, "linestyle": line, "marker": "o", "markersize": 4}
            epochs = cells.index.astype(str)
            style.draw_curve(panel, epochs, cells, label=test_set, **look)
        panel.set(title=title, xlabel="epochs of training", ylim=(0, 102))
        panel.legend(frameon=False, title="test images")
    axes[0, 0].set_ylabel("test accuracy (%)")
    caption = (
        f"LeNet · {table['seed'].nunique()} seeds · ± standard deviation over seeds · "
        f"grey: chance · {explain_unfitted('hollow')}"
    )
    title = "Which part of the images LeNet uses in the course of training"
    style.save(style.finish(figure, title, caption), FOLDER, "order_in_time")


def main() -> None:
    """Train, test, and write the table and the figure."""
    plans = make_plans()
    jobs = []
    for name, plan in plans.items():
        for cell in experiments.find(name).cells(plan):
            if cell.get("data") != "images":  # clean images, which `flip` has
                jobs.append((name, cell))
    rows = in_memory.collect(train_network, jobs, plans)
    FOLDER.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame(rows).sort_values(["carriers", "seed"], kind="stable")
    table.round(5).to_csv(FOLDER / "results.csv", index=False)
    draw(table)


if __name__ == "__main__":
    with one_sentence():
        main()
