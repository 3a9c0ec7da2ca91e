"""Does misalignment cost accuracy if every value of an image stays at its pixel?

    python -m studies.checkerboard
    python -m studies.checkerboard --networks vgg11_quarter --images checkered
        --train-samples 50000 --epochs 30 --seeds 1

Table 1 of paper 1 reverses the order of the images' coefficients on the NADs, and
accuracy drops. This puts low frequencies in place of high ones, and also spreads what
was near together over the whole image. Here each normalised image is multiplied by a
checkerboard of +1 and −1. This too exchanges low and high frequencies, but every value
keeps its pixel and its magnitude. If misalignment with the NADs were what costs
accuracy, the checkerboard would cost it too.

The networks are those of `flip` (paper 1's SGD), plain and checkered from the same
initial weights and in the same order. `alignment` is ρ of `studies.alignment`, with the
NADs that come with the package, of full width, and `plain_alignment` that of the images
before they are multiplied. Only if these differ, the checkerboard is a test.

Reads data/images/. Adds a row per network to results.csv in
reports/kept/checkerboard/photographs/.
"""

import argparse
import dataclasses
from pathlib import Path
from typing import Any

import torch

from pipeline import config, experiments
from pipeline.experiments.experiment import Cell
from pipeline.experiments.flip import Maps
from pipeline.experiments.plan import Plan
from pipeline.nads import load
from pipeline.project import artifacts
from pipeline.project.errors import one_sentence
from studies import in_memory
from studies.alignment import measure_alignment

FOLDER = Path("reports/kept/checkerboard/photographs")

NADS = {"lenet": "lenet", "vgg11_quarter": "vgg11", "resnet18_quarter": "resnet18"}
"""The name of each architecture's NADs in the package."""


def multiply_by_checkerboard(x: torch.Tensor) -> torch.Tensor:
    """Multiply images (N, C, H, W) by (−1)^(row + column)."""
    rows, columns = (torch.arange(side) for side in x.shape[2:])
    return x * (1 - 2 * ((rows[:, None] + columns) % 2)).to(x.dtype)


IMAGES = {"plain": lambda x: x, "checkered": multiply_by_checkerboard}
"""What is done to the images, in training and test alike."""


def make_plan(names: list[str], train_samples: int, epochs: int, seeds: int) -> Plan:
    """Make a plan of `flip` with some networks on plain images."""
    plan = config.plans(config.read())["overnight"].experiments["flip"]
    members = {}
    for name in names:
        member = plan.members[name]
        training = dataclasses.replace(member.training, epochs=epochs)
        members[name] = dataclasses.replace(
            member, grid=Maps(("plain",)), training=training, seeds=None
        )
    return dataclasses.replace(
        plan,
        members=members,
        seeds=tuple(range(seeds)),
        train_samples=train_samples,
    )


def train_network(plan: Plan, job: tuple[str, Cell]) -> dict[str, Any]:
    """Train one network and return its row; runs in a worker.

    Args:
        plan: The plan of `make_plan`.
        job: The name of what is done to the images, and the network's cell.
    """
    name, cell = job
    experiment = experiments.find("flip")
    images = artifacts.read_images()
    change = IMAGES[name]
    outcome, accuracy = in_memory.learn_images(experiment, plan, cell, images, change)
    noise = experiment.draw_base_noise(plan, cell["seed"], images)
    x = experiment.normalised_pictures("test", noise)
    nads = load(NADS[cell["architecture"]])
    training = plan.members[cell["architecture"]].training
    return {
        "network": cell["architecture"],
        "images": name,
        "seed": cell["seed"],
        "train_samples": plan.train_samples,
        "epochs": training.epochs,
        "plain_alignment": measure_alignment(x, nads),
        "alignment": measure_alignment(change(x), nads),
        "train_accuracy": outcome.accuracy,
        "accuracy": accuracy,
    }


def main() -> None:
    """Train the networks that results.csv lacks."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--networks", nargs="+", choices=NADS, default=["lenet"])
    parser.add_argument("--images", nargs="+", choices=IMAGES, default=[*IMAGES])
    parser.add_argument("--train-samples", type=int, default=20_000)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    sizes = asked.train_samples, asked.epochs
    plan = make_plan(asked.networks, *sizes, asked.seeds)
    jobs = {}
    for name in asked.images:
        for cell in experiments.find("flip").cells(plan):
            jobs[cell["architecture"], name, cell["seed"], *sizes] = name, cell
    in_memory.complete(FOLDER / "results.csv", train_network, jobs, plan)


if __name__ == "__main__":
    with one_sentence("results.csv keeps the networks"):
        main()
