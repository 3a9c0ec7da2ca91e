"""The reports of a run, read from a folder or a git commit, and the published values
in the form of a run."""

import dataclasses
import io
import json
import os
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline import experiments
from pipeline.project import artifacts
from pipeline.project.errors import InputError, notice
from pipeline.report import published
from pipeline.report.labels import full_width, papers_network
from pipeline.report.nads import PUBLISHED_ROWS, read_published_spectra
from pipeline.report.run import read_descriptions
from pipeline.training.loop import Training
from pipeline.training.shapes import INPUT

PUBLISHED = {
    "fourier": (["k_row", "k_col"], "network", {"test_set": "all"}),
    "nad_sweep": (["index"], "network", {"estimand": "secant", "test_set": "all"}),
    "poison": (["index"], "network", {"data": "carriers", "test_set": "clean"}),
    "flip": (["network"], "images", {"test_set": "all"}),
    "linear_pairs": (["index_1", "index_2"], "test_set", {"network": "resnet18"}),
}
"""How a published table becomes results, by experiment.

The columns that it shares with our results; the column of our results whose values are
the names of its other columns; and columns of our results that have one value.
"""


@dataclasses.dataclass(frozen=True)
class Run:
    """The reports of one run.

    Attributes:
        name: Name of the run in the output.
        results: Results by experiment.
        scales: Scale by experiment.
        images: Name and digest of the images.
        nads: The contents of nads.json, by architecture.
    """

    name: str
    results: dict[str, pd.DataFrame]
    scales: dict[str, str]
    images: str
    nads: dict[str, dict[str, Any]]


def add_coordinates(
    rows: pd.DataFrame, experiment: str, nads: Mapping[str, Any]
) -> pd.DataFrame:
    """Add the columns by which cells of two runs are compared.

    Args:
        rows: Results of one experiment.
        experiment: Its name.
        nads: The contents of nads.json, by architecture.

    Returns:
        The rows with the columns experiment; coordinates, as text; and nads, the
        network's entry of nads.json if the directions are NADs (NaN, which equals
        nothing, if it has no entry).
    """
    about = experiments.find(experiment)
    columns = [f"{name} " + rows[name].astype(str) for name in about.coordinates]
    coordinates = columns[0].str.cat(columns[1:], sep=", ")
    entries = {name: json.dumps(entry) for name, entry in nads.items()}
    entry = rows["architecture"].map(entries) if about.needs_nads else ""
    return rows.assign(experiment=experiment, coordinates=coordinates, nads=entry)


def collect_results(plans: Mapping[Path, dict[str, Any]]) -> pd.DataFrame:
    """Collect the results of all runs of one experiment.

    Args:
        plans: The plans of its runs, by their folders.

    Returns:
        The results of each architecture from its run with the largest training set, and
        of several such from the one with most results. The column network is its name
        in the papers, for any width, if it has the papers' input. The column settings
        has what `find_settings` returns, as JSON.
    """
    largest = {}
    sizes = {}
    for folder, plan in plans.items():
        results = pd.read_csv(folder / "results.csv")
        for name, rows in results.groupby("architecture", sort=False):
            size = (plan["train_samples"], len(rows))
            if name in sizes and size <= sizes[name]:
                continue
            sizes[name] = size
            member = plan["members"][name]
            network = None
            if tuple(member.get("input", INPUT)) == INPUT:
                network = papers_network(full_width(member["specification"]))
            settings = json.dumps(find_settings(plan, name))
            largest[name] = rows.assign(network=network, settings=settings)
    return pd.concat(largest.values())


def find_settings(plan: Mapping[str, Any], architecture: str) -> dict[str, Any]:
    """Find what decides the problem, the network and the training of an architecture.

    Precisions are left out, since `verify` shows whether they matter.

    Args:
        plan: The plan of an experiment, as run.json has it.
        architecture: The architecture.

    Returns:
        'settings' and 'network', each with values by their names in params.yaml.
    """
    member = plan["members"][architecture]
    settings = {
        key: value[architecture] if isinstance(value, dict) else value
        for key, value in plan["settings"].items()
    }
    # Older runs lack fields that have defaults.
    training = {
        field.name: field.default
        for field in dataclasses.fields(Training)
        if field.default is not dataclasses.MISSING
    }
    training |= member["training"]
    del training["precision"]
    settings |= training | {"train_samples": plan["train_samples"]}
    network = member["specification"] | {"input": member.get("input", list(INPUT))}
    return {"settings": settings, "network": network}


def read_folder(folder: Path, name: str | None = None) -> Run:
    """Read the run whose reports are in a folder, or in its folder reports/.

    Args:
        folder: The folder.
        name: Name of the run; the folder by default.
    """
    reports = folder / "reports" if (folder / "reports").is_dir() else folder
    plans: dict[str, dict[Path, Any]] = {}
    for path, description in read_descriptions(reports).items():
        if "plan" in description:
            plan = description["plan"]
            plans.setdefault(plan["experiment"], {})[path] = plan
    images = _read_json(reports / "images.json", "download")
    nads = _read_json(reports / "nads.json", "estimate")
    results = {}
    scales = {}
    for experiment in sorted(plans):
        if experiment not in experiments.names():
            notice(
                f"{experiment} of {name or folder} is not compared: there is no such "
                "experiment here"
            )
            continue
        plan, *_ = plans[experiment].values()
        rows = collect_results(plans[experiment])
        missing = set(experiments.find(experiment).coordinates) - set(rows)
        if missing:
            notice(
                f"{experiment} of {name or folder} is not compared: its tables lack "
                f"the column {', '.join(sorted(missing))}; an older version wrote them"
            )
            continue
        results[experiment] = add_coordinates(rows, experiment, nads)
        scales[experiment] = plan["scale"]
    digest = f"{images['name']} ({images['digest'][:8]})"
    return Run(name or str(folder), results, scales, digest, nads)


def _read_json(path: Path, stage: str) -> dict[str, Any]:
    return json.loads(artifacts.require(path, stage).read_bytes())


def read_run(name: str, folder: Path) -> Run:
    """Read a run.

    Args:
        name: Its folder or its commit.
        folder: Where a commit has its reports.
    """
    if Path(name).is_dir():
        return read_folder(Path(name))
    return read_commit(name, folder)


def read_commit(commit: str, folder: Path) -> Run:
    """Read the run that is committed in a folder.

    Args:
        commit: The commit.
        folder: The folder of the reports.

    Raises:
        InputError: If there is no such commit or folder.
    """
    tree = f"{commit}:./{Path(os.path.relpath(folder)).as_posix()}"
    command = ["git", "archive", "--format=zip", tree]
    archive = subprocess.run(command, capture_output=True)
    if archive.returncode:
        raise InputError(
            f"{commit!r} is neither a folder nor a commit with {folder}; name one",
            "unknown-name",
            name=commit,
        )
    command = ["git", "rev-parse", "--short", commit]
    digest = subprocess.check_output(command, text=True).strip()
    with tempfile.TemporaryDirectory() as unpacked:
        with zipfile.ZipFile(io.BytesIO(archive.stdout)) as files:
            files.extractall(unpacked)
        return read_folder(Path(unpacked), f"{commit} ({digest})")


def make_published_run(run: Run) -> Run:
    """Make a run of the published values of the networks that a run trained.

    Args:
        run: The run. `collect_results` says which of its networks are the papers'.
    """
    results = {}
    scales = {}
    for experiment in PUBLISHED:
        if experiment in run.results:
            # Both scales have the papers' samples and epochs.
            overnight = run.scales[experiment] == "overnight"
            scales[experiment] = "overnight" if overnight else "paper"
            rows = make_published_results(experiment, run.results[experiment])
            if len(rows):
                results[experiment] = rows
    images = run.images if run.images.startswith("CIFAR-10 (") else "CIFAR-10"
    nads = {}
    for network, values in read_published_spectra().items():
        nads[network] = {
            "relative_error": (2 / PUBLISHED_ROWS) ** 0.5,
            "networks": PUBLISHED_ROWS,
            "estimand": "secant",
            "input": list(INPUT),
            "first_singular_value": float(values[0]),
        }
    return Run("the published values", results, scales, images, nads)


def make_published_results(experiment: str, ours: pd.DataFrame) -> pd.DataFrame:
    """Make results of a published table: of one seed, and 10,000 test samples.

    Args:
        experiment: The experiment.
        ours: Our results. The published ones of its networks are under the names of our
            architectures.
    """
    columns, variable, constants = PUBLISHED[experiment]
    table = published.read_published(experiment)
    rows = table.melt(columns, var_name=variable, value_name="accuracy")
    rows = rows.assign(**constants, seed=-1, n=10_000, accuracy=rows["accuracy"] / 100)
    if experiment == "fourier":
        # This row does not agree with its own transpose (README.md beside the table).
        rows = rows[rows["k_row"] != 0]
    names = ours[["architecture", "network"]].drop_duplicates()
    return add_coordinates(rows.merge(names), experiment, {})
