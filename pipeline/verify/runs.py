"""The reports of one run, read from a folder or from a git commit."""

import io
import json
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline import experiments
from pipeline.networks import NETWORKS
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.report.labels import papers_network, without_width


@dataclass(frozen=True)
class Run:
    """The reports of one run: results and scales by experiment, NADs by architecture."""

    name: str
    results: dict[str, pd.DataFrame]
    scales: dict[str, str]
    images: str
    nads: dict[str, dict[str, Any]]


def placed(rows: pd.DataFrame, experiment: str, nads: Mapping[str, Any]) -> pd.DataFrame:
    """Results with the columns experiment; place, the coordinates as text; and nads, the network's
    entry of nads.json where the directions are NADs (NaN, which equals no other, if it has none).
    """
    about = experiments.find(experiment)
    text = [f"{column} " + rows[column].astype(str) for column in about.coordinates]
    entries = {name: json.dumps(entry) for name, entry in nads.items()}
    return rows.assign(
        experiment=experiment,
        place=text[0].str.cat(text[1:], sep=", "),
        nads=rows["architecture"].map(entries) if about.needs_nads else "",
    )


def table(reports: Path, experiment: str) -> pd.DataFrame:
    """An experiment's results, with the column network: the papers' name of it, however wide here.

    A folder such as fourier_vgg11_quarter adds the networks that neither the experiment's own
    folder nor a larger one has.
    """
    tables = {path.parent: pd.read_csv(path) for path in reports.glob(f"{experiment}*/results.csv")}
    taken, known = [], set()
    for folder in sorted(tables, key=lambda path: (path.name != experiment, -len(tables[path]))):
        rows = tables[folder][~tables[folder]["architecture"].isin(known)]
        plan = folder / "plan.json"
        members = json.loads(plan.read_bytes())["members"] if plan.exists() else {}
        wide = {name: without_width(member["specification"]) for name, member in members.items()}
        names = {name: name for name in NETWORKS}
        names |= {name: papers_network(specification) for name, specification in wide.items()}
        taken.append(rows.assign(network=rows["architecture"].map(names)))
        known.update(rows["architecture"])
    return pd.concat(taken)


def of_folder(folder: Path, name: str | None = None) -> Run:
    """The run whose reports are in a folder, or in its reports/."""
    reports = folder / "reports" if (folder / "reports").is_dir() else folder
    names = [each for each in experiments.names() if (reports / each / "results.csv").exists()]
    if not names:
        raise InputError(
            f"the folder {folder} holds no reports: none of its folders has a results.csv"
        )
    read = lambda path, stage: json.loads(artifacts.present(reports / path, stage).read_bytes())
    images, nads = read("images.json", "download"), read("nads.json", "estimate")
    return Run(
        name=name or str(folder),
        results={each: placed(table(reports, each), each, nads) for each in names},
        scales={each: read(f"{each}/metrics.json", f"evaluate {each}")["scale"] for each in names},
        images=f"{images['name']} ({images['digest'][:8]})",
        nads=nads,
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
