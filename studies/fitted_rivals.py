"""Do networks that were not fitted along a direction for another network fail along it
when they are fitted?

    python -m studies.fitted_rivals [--networks lenet lenet_strided]

In `studies.controversial`, network B is near chance along many directions that it
should not learn, and mostly not fitted after 20 epochs of 10,000 samples. Here it is
trained along the same directions with fewer samples and more epochs, which fit it
sooner. A larger ε makes the problem as easy for the difference of the class means,
which classifies 99.9 % of new samples correctly (`pipeline.profile.plan`). As a
control, each network is trained along the directions that it should learn.

Written before the run: we expect that both LeNets are fitted, stay below 55 % along the
directions that they should not learn, and reach at least 95 % along all others.

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

SAMPLES = 3_200
EPOCHS = 40
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


def make_plan(names: list[str]) -> Plan:
    """The plan of `studies.controversial` with other numbers of samples and epochs."""
    plan = controversial.make_plan(names, "overnight")
    members = {
        name: dataclasses.replace(
            member, training=dataclasses.replace(member.training, epochs=EPOCHS)
        )
        for name, member in plan.members.items()
    }
    return dataclasses.replace(plan, members=members, train_samples=SAMPLES)


def train_network(plan: Plan, job: tuple[str, str, int, np.ndarray]) -> dict[str, Any]:
    """Train one network and return its row; runs in a worker.

    Args:
        plan: The plan.
        job: The network, the direction's name, the seed, and the direction (D,).
    """
    network, direction, seed, v = job
    eps = choose_amplitude(dimension(INPUT), SAMPLES)
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
        "samples": SAMPLES,
        "epochs": EPOCHS,
        "eps": eps,
    }


def main() -> None:
    """Train the networks that results.csv lacks."""
    results = pd.read_csv(TRAINED / "results.csv")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--networks",
        nargs="+",
        choices=sorted(results["network"].unique()),
        default=["lenet", "lenet_strided"],
    )
    names = parser.parse_args().networks
    with np.load(TRAINED / "directions.npz") as kept:
        vectors = dict(kept)
    jobs = {}
    for seed, network in itertools.product(SEEDS, names):
        for direction in find_cases(results, network):
            job = network, direction, seed, vectors[direction]
            jobs[network, direction, seed] = job
    in_memory.complete(FOLDER / "results.csv", train_network, jobs, make_plan(names))


if __name__ == "__main__":
    with one_sentence("results.csv keeps the networks"):
        main()
