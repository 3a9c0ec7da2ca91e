"""The reports of a run, read from a folder or from a git commit, and the papers' values
as one."""

import io
import json
import os
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pipeline import experiments
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.report import published
from pipeline.report.labels import papers_network, without_width
from pipeline.report.nads import PUBLISHED_ROWS, published_spectra
from pipeline.report.run import abouts
from pipeline.training.shapes import INPUT

PUBLISHED = {
    "fourier": (["k_row", "k_col"], "network", {"test_set": "all"}),
    "nad_sweep": (["index"], "network", {"estimand": "secant", "test_set": "all"}),
    "poison": (["index"], "network", {"test_set": "clean"}),
    "flip": (["network"], "images", {"test_set": "all"}),
    "linear_pairs": (["index_1", "index_2"], "test_set", {"network": "resnet18"}),
}
"""By experiment, the columns that its published table shares with our results, the
column of our results whose values are the other columns' names, and columns of one
value."""


@dataclass(frozen=True)
class Run:
    """The reports of one run: results and scales by experiment, NADs by architecture."""

    name: str
    results: dict[str, pd.DataFrame]
    scales: dict[str, str]
    images: str
    nads: dict[str, dict[str, Any]]


def identified(
    rows: pd.DataFrame, experiment: str, nads: Mapping[str, Any]
) -> pd.DataFrame:
    """Results with the columns experiment; coordinates, as text; and nads, the
    network's entry of nads.json where the directions are NADs (NaN, which equals no
    other, if it has none).
    """
    about = experiments.find(experiment)
    columns = [f"{name} " + rows[name].astype(str) for name in about.coordinates]
    coordinates = columns[0].str.cat(columns[1:], sep=", ")
    entries = {name: json.dumps(entry) for name, entry in nads.items()}
    nads = rows["architecture"].map(entries) if about.needs_nads else ""
    return rows.assign(experiment=experiment, coordinates=coordinates, nads=nads)


def table(plans: Mapping[Path, dict[str, Any]]) -> pd.DataFrame:
    """The results of one experiment, with the column network: the papers' name of an
    architecture, of any width.

    plans: of its runs, by their folders. An architecture's results are of the run that
    has most.
    """
    largest = {}
    for folder, plan in plans.items():
        results = pd.read_csv(folder / "results.csv")
        for name, rows in results.groupby("architecture", sort=False):
            if len(rows) > len(largest.get(name, [])):
                member = plan["members"][name]
                alike = (
                    tuple(member.get("input", INPUT)) == INPUT
                )  # not of three channels
                network = papers_network(without_width(member["specification"]))
                largest[name] = rows.assign(network=network if alike else None)
    return pd.concat(largest.values())


def of_folder(folder: Path, name: str | None = None) -> Run:
    """The run whose reports are in a folder, or in its reports/."""
    reports = folder / "reports" if (folder / "reports").is_dir() else folder
    plans = {name: {} for name in experiments.names()}
    for path, record in abouts(reports).items():
        if "plan" in record:
            plans[record["plan"]["experiment"]][path] = record["plan"]
    plans = {name: of_one for name, of_one in plans.items() if of_one}

    def read(path, stage):
        return json.loads(artifacts.require(reports / path, stage).read_bytes())

    about = read("images.json", "download")
    nads = read("nads.json", "estimate")
    results = {
        name: identified(table(of_one), name, nads) for name, of_one in plans.items()
    }
    scales = {
        name: next(iter(of_one.values()))["scale"] for name, of_one in plans.items()
    }
    images = f"{about['name']} ({about['digest'][:8]})"
    return Run(name or str(folder), results, scales, images, nads)


def named(name: str, folder: Path) -> Run:
    """The run in the folder `name`, or that of the commit `name`, whose reports are in
    `folder`."""
    return of_folder(Path(name)) if Path(name).is_dir() else of_commit(name, folder)


def of_commit(commit: str, folder: Path) -> Run:
    """The run that is committed where `folder` has its reports."""
    tree = f"{commit}:./{Path(os.path.relpath(folder)).as_posix()}"
    words = ["git", "archive", "--format=zip", tree]
    archive = subprocess.run(words, capture_output=True)
    if archive.returncode:
        raise InputError(
            f"{commit!r} is neither a folder nor a commit that holds {folder}"
        )
    digest = subprocess.check_output(
        ["git", "rev-parse", "--short", commit], text=True
    ).strip()
    with tempfile.TemporaryDirectory() as unpacked:
        with zipfile.ZipFile(io.BytesIO(archive.stdout)) as files:
            files.extractall(unpacked)
        return of_folder(Path(unpacked), f"{commit} ({digest})")


def of_papers(run: Run) -> Run:
    """The published values as a run, of the networks that `run` trained (`table` says
    which)."""
    names = [name for name in PUBLISHED if name in run.results]
    tables = {name: paper_results(name, run.results[name]) for name in names}
    # Both scales have the papers' samples and epochs.
    scales = {
        name: "overnight" if run.scales[name] == "overnight" else "paper"
        for name in names
    }
    images = run.images if run.images.startswith("CIFAR-10 (") else "CIFAR-10"
    about = {
        "relative_error": float(np.sqrt(2 / PUBLISHED_ROWS)),
        "networks": PUBLISHED_ROWS,
    }
    about |= {"estimand": "secant", "input": list(INPUT)}
    first = {
        network: float(values[0]) for network, values in published_spectra().items()
    }
    nads = {
        network: about | {"first_singular_value": value}
        for network, value in first.items()
    }
    results = {name: rows for name, rows in tables.items() if len(rows)}
    return Run("the published values of its networks", results, scales, images, nads)


def paper_results(experiment: str, ours: pd.DataFrame) -> pd.DataFrame:
    """A published table as results: of one seed, of the papers' 10,000 test samples.

    ours: our results, for whose networks it gives rows, under the names of our
    architectures.
    """
    columns, variable, constant = PUBLISHED[experiment]
    rows = published.table(experiment).melt(
        columns, var_name=variable, value_name="accuracy"
    )
    rows = rows.assign(**constant, seed=-1, n=10_000, accuracy=rows["accuracy"] / 100)
    if experiment == "fourier":
        # This row does not agree with its own transpose (README.md beside the table).
        rows = rows[rows["k_row"] != 0]
    names = ours[["architecture", "network"]].drop_duplicates()
    return identified(rows.merge(names), experiment, {})
