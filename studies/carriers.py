"""Does figure 7 show what a network prefers, or how much of the image carriers erase?

    python -m studies.carriers

In figure 7 of paper 1, the carrier of an image's class replaces the image's own
coefficient on a NAD. Photographs have large coefficients on the first NADs, so there a
carrier also erases much of the image, and in another place for each class. On clean
images, which have their own coefficients, the network may miss the gap rather than the
carrier. Two kinds of training images tell this apart:

- `replaced`: as in the paper, an image has the carrier of its class, and its own
  coefficients on the carriers of the other classes.
- `erased`: all images lose their coefficients on all classes' carriers, and then get
  the carrier of their class. So only the carriers differ between the classes.

Each network's accuracy is measured on `clean` images; on `carriers`, images of the kind
that it was trained on; on `erased` images without any carrier; and on `wrong` images,
erased ones with the carrier of the next class. `follows` is the fraction of `wrong`
images that get the class of their carrier. `distance` is the root mean square distance
of images with carriers from clean ones, of pixels in [0, 1].

LeNet, with its NADs in the package and paper 1's SGD. Reads data/images/. Adds a row
per network to results.csv in reports/kept/carriers/lenet/.
"""

import argparse
import dataclasses
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pipeline import config, experiments
from pipeline.experiments.experiment import Cell
from pipeline.experiments.plan import Plan
from pipeline.experiments.poison import CLEAN, FirstIndices, count_nads
from pipeline.nads import load
from pipeline.project import artifacts
from pipeline.project.errors import one_sentence
from pipeline.training import loop, pictures
from pipeline.training.shapes import INPUT
from studies import in_memory

FOLDER = Path("reports/kept/carriers/lenet")

NETWORK = "lenet"
INDICES = (0, 10, 30, 110)
KINDS = ("erased", "replaced")


def erase(x: torch.Tensor, nads: np.ndarray) -> torch.Tensor:
    """Set the coefficients of each channel of images on some NADs to zero.

    Args:
        x: Images, (N, C, H, W).
        nads: Orthonormal rows, (K, H·W).
    """
    rows = torch.as_tensor(nads, dtype=torch.float32)
    flat = x.flatten(2)
    return (flat - flat @ rows.T @ rows).reshape(x.shape)


def make_plan(train_samples: int, epochs: int, seeds: int) -> Plan:
    """Make a plan of `poison` with LeNet."""
    plan = config.plans(config.read())["overnight"].experiments["poison"]
    member = plan.members[NETWORK]
    training = dataclasses.replace(member.training, epochs=epochs)
    member = dataclasses.replace(
        member, grid=FirstIndices(INDICES), training=training, seeds=None
    )
    return dataclasses.replace(
        plan,
        members={NETWORK: member},
        seeds=tuple(range(seeds)),
        train_samples=train_samples,
    )


def make_test_sets(
    kind: str, x: torch.Tensor, y: torch.Tensor, nads: np.ndarray, cell: Cell
) -> Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
    """Yield each test set's name, images and the classes of their carriers.

    Args:
        kind: One of `KINDS`.
        x: Clean images, (N, 3, H, W), in [0, 1].
        y: Their class numbers, (N,).
        nads: The carriers' NADs, (K, D).
        cell: The network's cell.
    """
    size = cell["size"]
    erased = erase(x, nads)
    start = erased if kind == "erased" else x
    classes = int(y.max()) + 1
    wrong = (y + 1) % classes
    yield "clean", x, y
    yield "carriers", pictures.poison(start, y, nads, size), y
    yield "erased", erased, y
    yield "wrong", pictures.poison(erased, wrong, nads, size), wrong


def train_network(plan: Plan, job: tuple[str, Cell]) -> dict[str, Any]:
    """Train one network and return its row; runs in a worker.

    Args:
        plan: The plan of `make_plan`.
        job: One of `KINDS`, and the network's cell.
    """
    kind, cell = job
    experiment = experiments.find("poison")
    images = artifacts.read_images()
    classes = len(images["classes"])
    noise = experiment.draw_base_noise(plan, cell["seed"], images)
    first = cell["index"]
    nads = load(NETWORK).directions[first : first + count_nads(classes, INPUT)]
    x = pictures.in_unit_range(noise["train_pictures"])
    y = experiment.classes("train", noise)
    start = erase(x, nads) if kind == "erased" else x
    x = pictures.normalise(pictures.poison(start, y, nads, cell["size"]), noise)
    network, outcome, _ = in_memory.trained(experiment, plan, cell, x, y, classes)
    row = {"kind": kind, "index": first, "seed": cell["seed"]}
    row["train_accuracy"] = outcome.accuracy
    clean = pictures.in_unit_range(noise["test_pictures"])
    labels = experiment.classes("test", noise)
    for test_set, x, carried in make_test_sets(kind, clean, labels, nads, cell):
        inputs = loop.channels_last(pictures.normalise(x, noise), "cpu")
        predicted = loop.logits(network, inputs).argmax(1)
        row[test_set] = float((predicted == labels).float().mean())
        if test_set == "carriers":
            row["distance"] = float((x - clean).square().sum((1, 2, 3)).mean().sqrt())
        if test_set == "wrong":
            row["follows"] = float((predicted == carried).float().mean())
    return row


def main() -> None:
    """Train the networks that results.csv lacks."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--train-samples", type=int, default=20_000)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=2)
    asked = parser.parse_args()
    plan = make_plan(asked.train_samples, asked.epochs, asked.seeds)
    jobs = {}
    for kind in KINDS:
        for cell in experiments.find("poison").cells(plan):
            if cell["index"] != CLEAN:
                jobs[kind, cell["index"], cell["seed"]] = kind, cell
    FOLDER.mkdir(parents=True, exist_ok=True)
    make_context = functools.partial(dataclasses.replace, plan)
    in_memory.complete(FOLDER / "results.csv", train_network, jobs, make_context)


if __name__ == "__main__":
    with one_sentence("results.csv keeps the networks, and the same command resumes"):
        main()
