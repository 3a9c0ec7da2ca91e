"""The papers as a run to compare with: their published tables as results."""

import numpy as np
import pandas as pd

from pipeline.report import published
from pipeline.report.nads import PUBLISHED_ROWS, published_spectra
from pipeline.verify.runs import Run, placed

PUBLISHED = {
    "fourier": (["k_row", "k_col"], "network", {"test_set": "all"}),
    "nad_sweep": (["index"], "network", {"estimand": "secant", "test_set": "all"}),
    "poison": (["index"], "network", {"data": "images", "test_set": "clean"}),
    "flip": (["network"], "images", {"test_set": "all"}),
    "linear_pairs": (["index_1", "index_2"], "test_set", {"network": "resnet18"}),
}
"""By experiment, the columns that its published table shares with our results, the column of our
results whose values are the other columns' names, and columns of one value."""


def beside(run: Run) -> Run:
    """The published values as a run, of the networks that `run` trained, however wide."""
    tables = {name: results(name, run.results[name]) for name in PUBLISHED if name in run.results}
    nads = {
        network: {
            "first_singular_value": float(values[0]),
            "relative_error": float(np.sqrt(2 / PUBLISHED_ROWS)),
            "networks": PUBLISHED_ROWS,
        }
        for network, values in published_spectra().items()
    }
    return Run(
        name="the published values of its networks",
        results={name: rows for name, rows in tables.items() if len(rows)},
        # Both scales have the papers' samples and epochs.
        scales={
            name: "overnight" if run.scales[name] == "overnight" else "paper" for name in tables
        },
        images=run.images if run.images.startswith("CIFAR-10 (") else "CIFAR-10",
        nads=nads,
    )


def results(experiment: str, ours: pd.DataFrame) -> pd.DataFrame:
    """A published table as results: of one seed, of the papers' 10,000 test samples.

    ours: our results, for whose networks it gives rows, under the names of our architectures.
    """
    columns, variable, constant = PUBLISHED[experiment]
    rows = published.table(experiment).melt(columns, var_name=variable, value_name="accuracy")
    rows = rows.assign(**constant, seed=-1, n=10_000, accuracy=rows["accuracy"] / 100)
    if experiment == "fourier":
        # This row does not agree with its own transpose (README.md beside the table).
        rows = rows[rows["k_row"] != 0]
    names = ours[["architecture", "network"]].drop_duplicates()
    return placed(rows.merge(names), experiment, {})
