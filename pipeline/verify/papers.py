"""The papers as a run to compare with: their published tables as results."""

import numpy as np
import pandas as pd

from pipeline.report import published
from pipeline.report.nads import PUBLISHED_ROWS, published_spectra
from pipeline.verify.runs import placed

PUBLISHED = {
    "fourier": (["k_row", "k_col"], "architecture", {"test_set": "all"}),
    "nad_sweep": (["index"], "architecture", {"estimand": "secant", "test_set": "all"}),
    "poison": (["index"], "architecture", {"data": "images", "test_set": "clean"}),
    "flip": (["architecture"], "images", {"test_set": "all"}),
    "linear_pairs": (["index_1", "index_2"], "test_set", {"architecture": "resnet18"}),
}
"""By experiment, the columns that its published table shares with our results, the column of our
results whose values are the other columns' names, and columns of one value."""


def results(experiment: str) -> pd.DataFrame:
    """A published table as results: of one seed, of the papers' 10,000 test samples."""
    columns, variable, constant = PUBLISHED[experiment]
    table = published.table(experiment).rename(columns={"network": "architecture"})
    rows = table.melt(columns, var_name=variable, value_name="accuracy")
    rows = rows.assign(**constant, seed=-1, n=10_000, accuracy=rows["accuracy"] / 100)
    if experiment == "fourier":
        # This row does not agree with its own transpose (README.md beside the table).
        rows = rows[rows["k_row"] != 0]
    return placed(rows, experiment)


def beside(table: pd.DataFrame, name: str, network: str) -> pd.DataFrame:
    """A published table's rows of a network, under the name of our architecture, however wide."""
    return table[table["architecture"] == network].assign(architecture=name)


def too_small(metrics: dict) -> str | None:
    """Why an experiment's results cannot be compared with the published ones, or None."""
    if (images := metrics.get("images", "CIFAR-10")) != "CIFAR-10":
        return f"the images are {images}"
    if (scale := metrics["scale"]) not in ("paper", "overnight"):
        return f"scale {scale} is smaller than the paper's"
    return None


def first_singular_values() -> dict[str, dict]:
    """The published first singular values as entries of reports/nads.json, of n normal rows."""
    return {
        network: {
            "first_singular_value": float(values[0]),
            "relative_error": float(np.sqrt(2 / PUBLISHED_ROWS)),
            "networks": PUBLISHED_ROWS,
        }
        for network, values in published_spectra().items()
    }
