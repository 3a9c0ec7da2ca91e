"""Does figure 7 show what a network prefers, or how much of the image carriers erase?

    python -m studies.carriers
    python -m studies.carriers --kinds erased --sizes 0.2 0.5 --indices 0 30 300
    python -m studies.carriers --network resnet18_narrow --indices 0 --seeds 1

In figure 7 of paper 1, the carrier of an image's class replaces the image's own
coefficient on a NAD. Photographs have large coefficients on the first NADs, so there a
carrier also erases much of the image, and in another place for each class. On clean
images, which have their own coefficients, the network may miss the gap rather than the
carrier. Two kinds of training images tell this apart:

- `replaced`: as in the paper, an image has the carrier of its class, and its own
  coefficients on the carriers of the other classes.
- `erased`: all images lose their coefficients on all classes' carriers, and then get
  the carrier of their class. So only the carriers differ between the classes.

Each network's accuracy is measured on `clean` images; on images with the `gap` of their
class, whose coefficient on the carrier is 0; on `carriers`, images of the kind
that it was trained on; on `erased` images without any carrier; and on `wrong` images,
erased ones with the carrier of the next class. `follows` is the fraction of `wrong`
images that get the class of their carrier. `distance` is the root mean square distance
of images with carriers from clean ones, of pixels in [0, 1].

The NADs are those in the package (for a narrow network, of full width), and the
training is paper 1's SGD. Reads data/images/. Adds a row per network to results.csv in
reports/kept/carriers/photographs/.
"""

import argparse
import dataclasses
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pipeline import config, experiments
from pipeline.experiments.experiment import NO_NAD, Cell
from pipeline.experiments.plan import Plan
from pipeline.experiments.poison import FirstIndices, count_carrier_nads
from pipeline.nads import load
from pipeline.project import artifacts
from pipeline.project.errors import one_sentence
from pipeline.training import loop, pictures
from pipeline.training.shapes import INPUT
from studies import in_memory

FOLDER = Path("reports/kept/carriers/photographs")

NADS = {"lenet": "lenet", "resnet18_narrow": "resnet18"}
"""The name of each architecture's NADs in the package."""

KINDS = ("erased", "replaced")

TRAIN_SAMPLES = 20_000
EPOCHS = 20


def erase(x: torch.Tensor, nads: np.ndarray) -> torch.Tensor:
    """Set the coefficients of each channel of images on some NADs to zero.

    Args:
        x: Images, (N, C, H, W).
        nads: Orthonormal rows, (K, H·W).
    """
    rows = torch.as_tensor(nads, dtype=torch.float32)
    flat = x.flatten(2)
    return (flat - flat @ rows.T @ rows).reshape(x.shape)


def make_plan(name: str, indices: list[int], seeds: int) -> Plan:
    """Make a plan of `poison` with one architecture."""
    document = config.read()
    networks = document["scales"]["overnight"]["poison"]["networks"]
    networks.setdefault(name, {"indices": [0]})
    document["scales"]["overnight"]["nads"].setdefault(name, 2)
    plan = config.plans(document)["overnight"].experiments["poison"]
    member = plan.members[name]
    training = dataclasses.replace(member.training, epochs=EPOCHS)
    member = dataclasses.replace(
        member, grid=FirstIndices(tuple(indices)), training=training, seeds=None
    )
    return dataclasses.replace(
        plan,
        members={name: member},
        seeds=tuple(range(seeds)),
        train_samples=TRAIN_SAMPLES,
    )


def make_test_sets(
    kind: str, x: torch.Tensor, y: torch.Tensor, nads: np.ndarray, size: float
) -> Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
    """Yield each test set's name, images and the classes of their carriers.

    Args:
        kind: One of `KINDS`.
        x: Clean images, (N, 3, H, W), in [0, 1].
        y: Their class numbers, (N,).
        nads: The carriers' NADs, (K, D).
        size: Magnitude of the coefficient on the carrier.
    """
    erased = erase(x, nads)
    start = erased if kind == "erased" else x
    classes = int(y.max()) + 1
    wrong = (y + 1) % classes
    yield "clean", x, y
    yield "gap", pictures.poison(x, y, nads, 0.0), y
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
    name, first, size = cell["architecture"], cell["index"], cell["size"]
    nads = load(NADS[name]).directions[
        first : first + count_carrier_nads(classes, INPUT)
    ]
    x = pictures.in_unit_range(noise["train_pictures"])
    y = experiment.classes("train", noise)
    start = erase(x, nads) if kind == "erased" else x
    x = pictures.normalise(pictures.poison(start, y, nads, size), noise)
    network, outcome, _ = in_memory.train(experiment, plan, cell, x, y, classes)
    row = {"network": name, "kind": kind, "size": size, "index": first}
    row |= {"seed": cell["seed"], "train_accuracy": outcome.accuracy}
    clean = pictures.in_unit_range(noise["test_pictures"])
    labels = experiment.classes("test", noise)
    for test_set, x, carried in make_test_sets(kind, clean, labels, nads, size):
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
    parser.add_argument("--network", choices=NADS, default="lenet")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--sizes", nargs="+", type=float, default=[0.05])
    parser.add_argument("--indices", nargs="+", type=int, default=[0, 10, 30, 110])
    parser.add_argument("--seeds", type=int, default=2)
    asked = parser.parse_args()
    plan = make_plan(asked.network, asked.indices, asked.seeds)
    jobs = {}
    cells = [c for c in experiments.find("poison").cells(plan) if c["index"] != NO_NAD]
    for kind, size, cell in itertools.product(asked.kinds, asked.sizes, cells):
        key = asked.network, kind, size, cell["index"], cell["seed"]
        jobs[key] = kind, cell | {"size": size}
    in_memory.complete(FOLDER / "results.csv", train_network, jobs, plan)


if __name__ == "__main__":
    with one_sentence("results.csv keeps the networks"):
        main()
