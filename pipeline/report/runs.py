"""The reports of a run, read from a folder or from a commit, and whether those of two runs can be compared."""

import contextlib
import functools
import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pydantic

from pipeline import experiments
from pipeline.project import artifacts, formats
from pipeline.project.errors import InputError


@dataclass(frozen=True)
class Run:
    """The reports of one run: what it is called, how a file's bytes are read by its path in reports/, the names of its experiments.

    plans: the folder of its plan (data/plan), where it is at hand.
    """

    name: str
    read: Callable[[str], bytes]
    experiments: Sequence[str]
    plans: Path | None = None

    def json(self, path: str, kind: Any) -> Any:
        """What a JSON file holds, after checking that it is of the type `kind`."""
        with self._whole(path):
            formats.typed(kind, text := self.read(path))
            return json.loads(text)

    def table(self, path: str, wanted: Sequence[str]) -> pd.DataFrame:
        """A CSV file, which has the columns `wanted`."""
        with self._whole(path):
            return formats.table(self.read(path), wanted)

    def _whole(self, path: str) -> contextlib.AbstractContextManager[None]:
        remedy = (
            "bring it back as it was written, or take the run away; another version of this project may have written it"
        )
        return formats.whole(f"{path} of {self.name}", remedy)

    def results(self, experiment: str) -> pd.DataFrame:
        """The results of an experiment with the columns of `agreement.PLACE`."""
        coordinates = list(experiments.find(experiment).coordinates)
        wanted = ["architecture", "seed", *coordinates, "test_set", "accuracy", "n", "train_accuracy"]
        return placed(self.table(f"{experiment}/results.csv", wanted), experiment, coordinates)

    def plan(self, experiment: str) -> dict[str, Any] | None:
        """What was planned of an experiment, where that is known: the plan beside these reports, if it has their scale."""
        if self.plans is None or not (path := self.plans / f"{experiment}.json").exists():
            return None
        with artifacts.whole(path, "plan"):
            formats.typed(Planned, text := path.read_bytes())
            document = json.loads(text)
        return document if document["scale"] == self.json(f"{experiment}/metrics.json", Metrics)["scale"] else None


@dataclass(frozen=True)
class Epochs:
    """How long a network is trained."""

    epochs: int


@dataclass(frozen=True)
class PlannedMember:
    """What is compared of an architecture's part of a plan."""

    specification: dict[str, Any]
    training: Epochs


@dataclass(frozen=True)
class Planned:
    """What is compared of an experiment's plan."""

    scale: str
    train_samples: int
    settings: dict[str, Any]
    members: dict[str, PlannedMember]


@dataclass(frozen=True)
class Metrics:
    """What an experiment's metrics.json says of its scale and of its images, where it has some."""

    scale: str
    images: str | None = None


@dataclass(frozen=True)
class Images:
    """What reports/images.json says of the images."""

    name: str
    digest: str


@dataclass(frozen=True)
class Estimate:
    """What reports/nads.json says of one estimate of NADs."""

    networks: int
    first_singular_value: pydantic.PositiveFloat | None
    relative_error: pydantic.NonNegativeFloat | None = None


def placed(rows: pd.DataFrame, experiment: str, coordinates: Sequence[str]) -> pd.DataFrame:
    """Rows of an experiment with the columns `experiment` and `place`, the coordinates as text."""
    text = [f"{column} " + rows[column].astype(str) for column in coordinates]
    return rows.assign(experiment=experiment, place=text[0].str.cat(text[1:], sep=", "))


def of_folder(folder: Path) -> Run:
    """The run whose reports are in a folder, or in its reports/."""
    reports = folder / "reports" if (folder / "reports").is_dir() else folder
    names = [name for name in experiments.names() if (reports / name / "results.csv").exists()]
    if not names:
        raise InputError(f"the folder {folder} holds no reports: none of its folders has a results.csv")

    def read(path: str) -> bytes:
        if (reports / path).exists() and not (reports / path).is_file():
            raise ValueError("it is no regular file")  # reading a pipe would wait for ever
        return (reports / path).read_bytes()

    return Run(str(folder), read, names, reports.parent / artifacts.PLAN)


def found(name: str, folder: Path) -> Run:
    """The run of a folder of this name, else of a commit, in which its reports are where `folder` has them."""
    return of_folder(Path(name)) if Path(name).is_dir() else of_commit(name, folder)


def of_commit(commit: str, folder: Path) -> Run:
    """The run that is committed where `folder` has its reports: at the same path, or in reports/ if that is not in the repository."""
    words = "rev-parse", "--verify", "--quiet", "--short", "--end-of-options", f"{commit}^{{commit}}"
    try:
        digest = _git(*words).decode().strip()
    except OSError:
        raise InputError(f"{commit!r} is neither a folder nor a commit of this repository") from None
    files = _git("ls-tree", "-r", "--name-only", digest).decode().splitlines()
    for reports in (folder.as_posix(), "reports"):
        if names := [name for name in experiments.names() if f"{reports}/{name}/results.csv" in files]:
            return Run(f"{commit} ({digest})", functools.partial(_committed, digest, reports), names)
    raise InputError(f"the commit {commit} ({digest}) holds no reports")


def _committed(digest: str, reports: str, path: str) -> bytes:
    """A file of a commit, by its path in its reports."""
    return _git("show", f"{digest}:./{reports}/{path}")


def _git(*words: str) -> bytes:
    """What a git command prints; raises OSError where it fails."""
    done = subprocess.run(["git", *words], capture_output=True)
    if done.returncode:
        raise OSError(done.stderr.decode())
    return done.stdout


def unlike(experiment: str, run: Run, other: Run) -> str | None:
    """Why an experiment of two runs cannot be compared: it is in one of them only, or their sizes or images are not the same."""
    if lacking := [one.name for one in (run, other) if experiment not in one.experiments]:
        return f"{lacking[0]} does not have it"
    here, there = (one.json(f"{experiment}/metrics.json", Metrics) for one in (run, other))
    if here["scale"] != there["scale"]:
        return f"scale {here['scale']} here, {there['scale']} there: unequal sizes are not compared"
    if (
        experiments.find(experiment).needs_images
        and len({one.json("images.json", Images)["digest"] for one in (run, other)}) > 1
    ):
        return "other images"
    plans = [one.plan(experiment) for one in (run, other)]
    if all(plans) and len({json.dumps(sizes(plan, *plans), sort_keys=True) for plan in plans}) > 1:
        return "other samples, settings, networks or training"
    return None


def sizes(plan: dict[str, Any], *plans: dict[str, Any]) -> list:
    """What of a plan must be the same in all `plans`, where it has an architecture that all of them have."""
    shared = sorted(set.intersection(*(set(one["members"]) for one in plans)))
    networks = {name: [plan["members"][name][key] for key in ("specification", "training")] for name in shared}
    return [plan["train_samples"], plan["settings"], networks]


def together(run: Run, names: Sequence[str]) -> pd.DataFrame:
    """The results of some of a run's experiments in one table, with the columns of `agreement.PLACE`."""
    return pd.concat([run.results(name) for name in names], ignore_index=True)


def along_nads(results: pd.DataFrame, same: Sequence[str]) -> set[tuple[str, str]]:
    """The (experiment, architecture) of results whose directions are NADs, but for the architectures whose NADs are the `same`."""
    pairs = set(zip(results["experiment"], results["architecture"]))
    return {(name, network) for name, network in pairs if experiments.find(name).needs_nads and network not in same}
