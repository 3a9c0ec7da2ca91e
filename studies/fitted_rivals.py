"""Do networks that were not fitted along a direction for another network fail along it
when they are fitted?

    python -m studies.fitted_rivals [--networks lenet lenet_strided convnext]

In `studies.controversial`, network B is near chance along many directions that it
should not learn, and mostly not fitted after 20 epochs of 10,000 samples. Here it is
trained along the same directions with fewer samples and more epochs, which fit it
sooner. A larger ε makes the problem as easy for the difference of the class means,
which classifies 99.9 % of new samples correctly (`pipeline.profile.plan`). As a
control, each network is trained along the directions that it should learn.

Written before the run: we expect that both LeNets are fitted, stay below 55 % along the
directions that they should not learn, and reach at least 95 % along all others.

Written after the LeNets and before the run of ConvNeXt, whose default layer scale lets
SGD see hardly more than the mean of its 16 patches, 256 values: we expect that it is
fitted, and reaches at most 65 % along the direction for ConvMixer, at most 60 % along
the four other directions that it should not learn, and at least 95 % along all others.
A linear classifier of the mean can reach 63 % along the direction for ConvMixer, and
58, 54, 52 and 52 % along the others.

Writes results.csv, with a row per network, into reports/kept/controversial/fitted/.
"""

import argparse
import dataclasses
import itertools
from typing import Any

import numpy as np
import pandas as pd

from pipeline.experiments.plan import Plan
from pipeline.measures.fitted import fitted
from pipeline.profile.plan import choose_amplitude
from pipeline.project.errors import one_sentence
from pipeline.training.shapes import INPUT, dimension
from studies import controversial, in_memory
from studies.tables.numbers import CHANCE

TRAINED = controversial.KEPT / "six_networks"
FOLDER = controversial.KEPT / "fitted"

RECIPES = {
    "lenet": (3_200, 40),
    "lenet_strided": (3_200, 40),
    "convnext": (400, 250),
}
"""Numbers of samples and of epochs, by network: 1,000 steps each."""

SEEDS = (0, 1)


def find_cases(results: pd.DataFrame, network: str) -> list[str]:
    """Find the directions along which a network is trained.

    Args:
        results: results.csv of `studies.controversial`.
        network: The network.

    Returns:
        Directions that it should not learn, and along which it is near chance and not
        fitted with all seeds. Then directions that it should learn.
    """
    rows = results[results["network"] == network]
    rows = rows.assign(fitted=fitted(rows))
    means = rows.groupby("direction")[["accuracy", "fitted"]].mean()
    other = means.index.str.endswith(f"_not_{network}")
    undecided = other & (100 * means["accuracy"] < CHANCE) & (means["fitted"] < 1)
    own = means.index.str.startswith(f"{network}_not_")
    return [*means.index[undecided], *means.index[own]]


def make_plan(network: str) -> Plan:
    """The plan of `studies.controversial` for one network, with its own numbers of
    samples and epochs."""
    samples, epochs = RECIPES[network]
    plan = controversial.make_plan([network], "overnight")
    member = plan.members[network]
    training = dataclasses.replace(member.training, epochs=epochs)
    members = {network: dataclasses.replace(member, training=training)}
    return dataclasses.replace(plan, members=members, train_samples=samples)


def train_network(plan: Plan, job: tuple[str, str, int, np.ndarray]) -> dict[str, Any]:
    """Train one network and return its row; runs in a worker.

    Args:
        plan: The plan.
        job: The network, the direction's name, the seed, and the direction (D,).
    """
    network, direction, seed, v = job
    samples, epochs = RECIPES[network]
    eps = choose_amplitude(dimension(INPUT), samples)
    cell = controversial.cell_of(network, direction, seed) | {"eps": eps}
    outcome, accuracy = in_memory.learn_direction(
        controversial.EXPERIMENT, plan, cell, v, name="fitted_rivals"
    )
    return {
        "network": network,
        "direction": direction,
        "seed": seed,
        "train_accuracy": outcome.accuracy,
        "accuracy": accuracy,
        "steps": outcome.steps,
        "samples": samples,
        "epochs": epochs,
        "eps": eps,
    }


def main() -> None:
    """Train the networks that results.csv lacks."""
    results = pd.read_csv(TRAINED / "results.csv")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--networks",
        nargs="+",
        choices=sorted(RECIPES),
        default=list(RECIPES),
    )
    names = parser.parse_args().networks
    with np.load(TRAINED / "directions.npz") as kept:
        vectors = dict(kept)
    for network in names:
        cases = find_cases(results, network)
        jobs = {}
        for seed, direction in itertools.product(SEEDS, cases):
            job = network, direction, seed, vectors[direction]
            jobs[network, direction, seed] = job
        file = FOLDER / "results.csv"
        in_memory.complete(file, train_network, jobs, make_plan(network))


if __name__ == "__main__":
    with one_sentence("results.csv keeps the networks"):
        main()
