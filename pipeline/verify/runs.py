"""The reports of one run, read from a folder or from a git commit."""

import io
import json
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline import experiments, networks
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.report.labels import papers_network, without_width


@dataclass(frozen=True)
class Run:
    """The reports of one run: tables and metrics by experiment, NADs by architecture.

    networks: by experiment and architecture, the name of the papers' network, however wide here.
    """

    name: str
    results: dict[str, pd.DataFrame]
    networks: dict[str, dict[str, str]]
    metrics: dict[str, dict[str, Any]]
    images: str
    nads: dict[str, dict[str, Any]]


def placed(rows: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """Results with the columns `experiment` and `place`, the coordinates as text."""
    coordinates = experiments.find(experiment).coordinates
    text = [f"{column} " + rows[column].astype(str) for column in coordinates]
    return rows.assign(experiment=experiment, place=text[0].str.cat(text[1:], sep=", "))


def table(reports: Path, experiment: str) -> tuple[pd.DataFrame, dict[str, str]]:
    """An experiment's results, and the papers' names of its networks.

    A folder such as fourier_vgg11_quarter adds the networks that neither the experiment's own
    folder nor a larger one has.
    """
    tables = {path.parent: pd.read_csv(path) for path in reports.glob(f"{experiment}*/results.csv")}
    taken, names = [], {}
    for folder in sorted(tables, key=lambda path: (path.name != experiment, -len(tables[path]))):
        rows = tables[folder][~tables[folder]["architecture"].isin(names)]
        taken.append(rows)
        plan = folder / "plan.json"
        members = json.loads(plan.read_bytes())["members"] if plan.exists() else {}
        for name in rows["architecture"].unique():
            exactly = {"specification": {"network": networks.NETWORKS.get(name)}}
            specification = members.get(name, exactly)["specification"]
            names[name] = papers_network(without_width(specification))
    return pd.concat(taken), names


def of_folder(folder: Path, name: str | None = None) -> Run:
    """The run whose reports are in a folder, or in its reports/."""
    reports = folder / "reports" if (folder / "reports").is_dir() else folder
    names = [each for each in experiments.names() if (reports / each / "results.csv").exists()]
    if not names:
        raise InputError(
            f"the folder {folder} holds no reports: none of its folders has a results.csv"
        )
    tables = {each: table(reports, each) for each in names}
    read = lambda path, stage: json.loads(artifacts.present(reports / path, stage).read_bytes())
    images = read("images.json", "download")
    return Run(
        name=name or str(folder),
        results={each: placed(rows, each) for each, (rows, _) in tables.items()},
        networks={each: networks for each, (_, networks) in tables.items()},
        metrics={each: read(f"{each}/metrics.json", f"evaluate {each}") for each in names},
        images=f"{images['name']} ({images['digest'][:8]})",
        nads=read("nads.json", "estimate"),
    )


def of_commit(commit: str, folder: Path) -> Run:
    """The run that is committed where `folder` has its reports."""
    archive = subprocess.run(
        ["git", "archive", f"{commit}:./{folder.as_posix()}"], capture_output=True
    )
    if archive.returncode:
        raise InputError(f"{commit!r} is neither a folder nor a commit that holds {folder}")
    digest = subprocess.check_output(["git", "rev-parse", "--short", commit], text=True).strip()
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(place, filter="data")
        return of_folder(Path(place), f"{commit} ({digest})")
