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

from pipeline import experiments
from pipeline.project import artifacts
from pipeline.project.errors import InputError


@dataclass(frozen=True)
class Run:
    """The reports of one run: tables and metrics by experiment, NADs by architecture."""

    name: str
    results: dict[str, pd.DataFrame]
    metrics: dict[str, dict[str, Any]]
    images: str
    nads: dict[str, dict[str, Any]]


def placed(rows: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """Results with the columns `experiment` and `place`, the coordinates as text."""
    coordinates = experiments.find(experiment).coordinates
    text = [f"{column} " + rows[column].astype(str) for column in coordinates]
    return rows.assign(experiment=experiment, place=text[0].str.cat(text[1:], sep=", "))


def of_folder(folder: Path, name: str | None = None) -> Run:
    """The run whose reports are in a folder, or in its reports/."""
    reports = folder / "reports" if (folder / "reports").is_dir() else folder
    names = [each for each in experiments.names() if (reports / each / "results.csv").exists()]
    if not names:
        raise InputError(
            f"the folder {folder} holds no reports: none of its folders has a results.csv"
        )
    read = lambda path, stage: json.loads(artifacts.present(reports / path, stage).read_bytes())
    images = read("images.json", "download")
    return Run(
        name=name or str(folder),
        results={each: placed(pd.read_csv(reports / each / "results.csv"), each) for each in names},
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
