"""The papers as a run to compare with: their published tables as results, and which of our networks were run at their full size."""

import numpy as np
import pandas as pd

from pipeline import experiments
from pipeline.networks import NETWORKS
from pipeline.report import published
from pipeline.report.nads import PUBLISHED_ROWS, published_spectra
from pipeline.report.runs import Metrics, Run, placed

PUBLISHED = {
    "fourier": (["k_row", "k_col"], "architecture", {"test_set": "all"}),
    "nad_sweep": (["index"], "architecture", {"estimand": "secant", "test_set": "all"}),
    "poison": (["index"], "architecture", {"data": "images", "test_set": "clean"}),
    "flip": (["architecture"], "images", {"test_set": "all"}),
    "linear_pairs": (["index_1", "index_2"], "test_set", {"architecture": "resnet18"}),
}
"""How a published table (`pipeline.report.published`) is one of results: columns that stay, what the others are, what is constant."""

FULL_SIZE = {
    "fourier": (10_000, 20),
    "nad_sweep": (10_000, 20),
    "poison": (50_000, 50),
    "flip": (50_000, 30),
    "linear_pairs": (10_000, 30),
}
"""The papers' training samples and epochs of the networks in those tables."""

FULL_SCALES = ("paper", "overnight")
"""Scales that have them, for runs whose plan is not at hand."""


def results(experiment: str) -> pd.DataFrame:
    """A published table as results: of one seed, of the papers' 10,000 test samples."""
    kept, variable, constant = PUBLISHED[experiment]
    table = published.table(experiment).rename(columns={"network": "architecture"})
    rows = table.melt(kept, var_name=variable, value_name="accuracy").assign(**constant, seed=-1, n=10_000)
    if experiment == "fourier":
        # Its row k_row = 0 does not agree with its own transpose, of the same network's law (README.md beside the table).
        rows = rows[rows["k_row"] != 0]
    rows["accuracy"] /= 100
    return placed(rows, experiment, experiments.find(experiment).coordinates)


def too_small(experiment: str, network: str, run: Run) -> str | None:
    """Why an experiment's network, which a run has, is not compared with the published one; None where it is the paper's own."""
    about, plan = run.json(f"{experiment}/metrics.json", Metrics), run.plan(experiment)
    if about.get("images", "CIFAR-10") != "CIFAR-10":
        return f"the images are {about['images']}"
    if plan is None:
        return None if about["scale"] in FULL_SCALES else f"scale {about['scale']} is smaller than the paper's"
    if (member := plan["members"].get(network)) is None:
        return f"{network} is not in its plan"
    if member["specification"] != {"network": NETWORKS[network]}:
        return f"{network} is not as the paper has it"
    samples, epochs = FULL_SIZE[experiment]
    mine = plan["train_samples"], member["training"]["epochs"]
    if mine[0] < samples or mine[1] < epochs:
        return f"{network} has {mine[0]:,} samples and {mine[1]} epochs, the paper {samples:,} and {epochs}"
    return None


def first_singular_values() -> dict[str, dict]:
    """The published first singular values as reports/nads.json has ours.

    relative_error: twice the relative standard error of the singular value, as that of an eigenvalue of n Gaussian vectors.
    """
    return {
        network: {
            "first_singular_value": float(values[0]),
            "relative_error": float(np.sqrt(2 / PUBLISHED_ROWS[network])),
            "networks": PUBLISHED_ROWS[network],
        }
        for network, values in published_spectra().items()
    }
