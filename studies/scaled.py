"""Does it help to scale the directions of images, beside putting them in order?

    python -m studies.scaled

The images' principal components, in decreasing variance s, stay where they are, or are
put, as `flip` does, onto LeNet's NADs in order (`nads`) or in reverse (`reversed`),
onto cosines from low to high frequency, or onto a random basis (`rotation`). There they
are scaled, in training and test alike:

- `none`: not at all.
- `white`: by s^(−1/2), so that all components have the same variance.
- `response`: by λ^(−1/4), λ the eigenvalue of C along the NAD onto which `nads` puts
  the component, so that the response of an untrained LeNet, √(λ s), falls less steeply.
  If images stay where they are, their components on the NADs are scaled.

A common factor keeps the sum of all variances. LeNet is trained as in `flip` (paper 1's
SGD), and so is an MLP, which does not know which pixels are neighbours. Reads
data/images/. Adds a row per network to results.csv in reports/kept/alignment/scaled/.
"""

import argparse
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pipeline import config, experiments, networks
from pipeline.experiments.experiment import Cell
from pipeline.experiments.plan import Plan
from pipeline.nads import NADs, load
from pipeline.project import artifacts
from pipeline.project.errors import one_sentence
from pipeline.training import maps, seeds
from pipeline.training.fourier import cosines
from studies import in_memory
from studies.checkerboard import make_plan

FOLDER = Path("reports/kept/alignment/scaled")

NETWORKS = ("lenet", "mlp_200_50")
TARGETS = ("images", "nads", "cosines", "reversed", "rotation")
SCALES = ("none", "response", "white")

TRAIN_SAMPLES = 20_000
EPOCHS = 10
SEEDS = 3


def scale_of(name: str, variances: np.ndarray, eigenvalues: np.ndarray) -> np.ndarray:
    """The factor of each principal component.

    Args:
        name: One of `SCALES`.
        variances: Of the components, (D,).
        eigenvalues: Of C along the NADs onto which they are put, (D,).

    Returns:
        Factors (D,), with which the sum of the variances stays as it is.
    """
    powers = {
        "none": np.ones(len(variances)),
        "response": eigenvalues**-0.25,
        "white": variances**-0.5,
    }
    factors = powers[name]
    return factors * np.sqrt(variances.sum() / (variances @ factors**2))


def plan_networks(names: list[str]) -> Plan:
    """Make a plan of `flip` with some networks, all trained like LeNet."""
    plan = make_plan(["lenet"], TRAIN_SAMPLES, EPOCHS, SEEDS)
    given = config.read()["architectures"]
    members = {
        name: dataclasses.replace(
            plan.members["lenet"], specification=networks.specification(given[name])
        )
        for name in names
    }
    return dataclasses.replace(plan, members=members)


def make_matrix(
    x: torch.Tensor, nads: NADs, target: str, scale: str, rng: np.random.Generator
) -> torch.Tensor:
    """Make the matrix (D, D) by which images are multiplied from the right.

    Args:
        x: Training images, (N, C, H, W), whose principal components are taken.
        nads: LeNet's NADs, all of them, with their eigenvalues.
        target: One of `TARGETS`.
        scale: One of `SCALES`.
        rng: Source of the components' signs and of the rotation.
    """
    components = maps.principal_components(x)
    signs = rng.choice([-1.0, 1.0], len(components))
    bases = {
        "nads": nads.directions,
        "reversed": nads.directions[::-1],
        "cosines": cosines(x.shape[2:]),
    }
    if target == "images":
        components = nads.directions if scale == "response" else components
        rows = components
    elif target == "rotation":
        rows, _ = np.linalg.qr(rng.standard_normal(nads.directions.shape))
    else:
        rows = signs[:, None] * bases[target]
    vectors = x.flatten(2).flatten(0, 1)
    along = vectors @ torch.as_tensor(components, dtype=torch.float32).T
    variances = along.var(0).double().numpy()
    factors = scale_of(scale, variances, nads.eigenvalues)
    matrix = components.T @ (factors[:, None] * rows)
    return torch.as_tensor(matrix, dtype=torch.float32)


def multiply(x: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """Multiply each channel of images (N, C, H, W) by a matrix (D, D)."""
    return (x.flatten(2) @ matrix).reshape(x.shape)


def train_network(plan: Plan, job: tuple[str, str, Cell]) -> dict[str, Any]:
    """Train one network and return its row; runs in a worker.

    Args:
        plan: The plan of `plan_networks`.
        job: The target, the scale, and the network's cell.
    """
    target, scale, cell = job
    experiment = experiments.find("flip")
    images = artifacts.read_images()
    noise = experiment.draw_base_noise(plan, cell["seed"], images)
    x = experiment.normalised_pictures("train", noise)
    rng = seeds.stream(cell["seed"], "scaled")
    matrix = make_matrix(x, load("lenet"), target, scale, rng)
    outcome, accuracy = in_memory.learn_images(
        experiment, plan, cell, images, lambda x: multiply(x, matrix)
    )
    return {
        "network": cell["architecture"],
        "target": target,
        "scale": scale,
        "seed": cell["seed"],
        "train_samples": plan.train_samples,
        "train_accuracy": outcome.accuracy,
        "accuracy": accuracy,
    }


def main() -> None:
    """Train the networks that results.csv lacks."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=NETWORKS)
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=TARGETS)
    asked = parser.parse_args()
    plan = plan_networks(asked.networks)
    jobs = {}
    for cell in experiments.find("flip").cells(plan):
        for target in asked.targets:
            for scale in SCALES:
                key = (cell["architecture"], target, scale, cell["seed"])
                jobs[key] = target, scale, cell
    in_memory.complete(FOLDER / "results.csv", train_network, jobs, plan)


if __name__ == "__main__":
    with one_sentence("results.csv keeps the networks"):
        main()
