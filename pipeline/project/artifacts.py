"""The files that stages hand to each other: their paths, readers and writers.

data/README.md and models/README.md describe each file; the docstring of `evaluate`
describes those of reports/{experiment}/.

A stage writes its folder under a temporary name, and renames it when it is complete.
DVC notices later edits.
"""

import contextlib
import dataclasses
import errno
import hashlib
import json
import os
import shutil
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pydantic
from psutil import pid_exists

from pipeline.project.errors import WATCHED, InputError
from pipeline.project.parameters import PARAMS, read

PLAN = Path("data/plan")
IMAGES = Path("data/images")
NADS = Path("data/nads")
DATASETS = Path("data/datasets")
MODELS = Path("models")
REPORTS = Path("reports")
FIGURES = REPORTS / "figures"


def require(path: Path | str, stage: str) -> Path:
    """Return a path that exists.

    Args:
        path: The path.
        stage: The stage that makes it, with its arguments.

    Raises:
        InputError: The path is missing; the message names the stage.
    """
    if not Path(path).exists():
        raise InputError(
            f"{path} is missing; run `python -m pipeline.{stage}`, or `dvc repro` for "
            "all stages",
            "missing-file",
            path=str(path),
            stage=stage,
        )
    return Path(path)


@contextlib.contextmanager
def output(folder: Path) -> Iterator[Path]:
    """Context that gives an empty folder, which replaces `folder` at its end.

    If something is raised, `folder` stays as it is.
    """
    _remove_leftovers(folder)
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    part.mkdir(parents=True)
    yield part
    _swap(part, folder)


def _remove_leftovers(folder: Path) -> None:
    """Remove the parts of `folder` that killed processes have left."""
    for part in folder.parent.glob(f".{folder.name}.*.part"):
        process = int(part.name.split(".")[-2])
        if process == os.getpid() or not pid_exists(process):
            # Another process may remove it as well.
            shutil.rmtree(part, ignore_errors=True)


def _swap(part: Path, folder: Path) -> None:
    """Replace `folder` by `part`, even if another process does the same.

    The other process may create the folder between the two renames, so a failed
    replacement is tried again.
    """
    old = folder.with_name(f".{folder.name}.old.{os.getpid()}.part")
    while part.exists():
        with contextlib.suppress(FileNotFoundError):
            os.replace(folder, old)
        try:
            os.replace(part, folder)
        except OSError as error:
            # Another process may have put its folder there since.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        shutil.rmtree(old, ignore_errors=True)


def write_json(path: Path | str, value: typing.Any) -> None:
    """Write a value as indented JSON.

    Args:
        path: The file; its folder is made where it is missing.
        value: What `json` can write.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(value, indent=2, ensure_ascii=False)
    Path(path).write_text(f"{text}\n", encoding="utf-8")


def file_digest(path: Path | str) -> str:
    """Return the sha256 of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_params() -> typing.Any:
    """Read the values in params.yaml as JSON has them, without comments and layout."""
    return json.loads(json.dumps(read(), default=str))


def read_plan(name: str, type_: typing.Any) -> typing.Any:
    """Read the document data/plan/{name}.json.

    Its files of your own are checked for edits until the command ends
    (`errors.check_unchanged`).

    Args:
        name: An experiment, 'nads', 'images' or 'machine'.
        type_: The dataclass to return.

    Raises:
        InputError: The stage `plan` did not run, or params.yaml or a file of your own
            was edited since it did.
    """
    # Neither the order of keys nor 1 in place of 1.0 makes DVC run `plan` again.
    if _read(PLAN / "params.json", "plan") != read_params():
        raise _edited(PARAMS)
    document = require(PLAN / f"{name}.json", "plan").read_bytes()
    plan = pydantic.TypeAdapter(type_).validate_json(document)
    for member in getattr(plan, "members", {}).values():
        for path, digest in member.own.items():
            if not Path(path).exists() or file_digest(path) != digest:
                raise _edited(path)
            WATCHED.add(os.path.abspath(path))
    return plan


def keep_plan(plan: typing.Any, folder: Path) -> None:
    """Write the plan, a dataclass, into the folder that was made from it.

    It is not copied from data/plan/, where another may be by now.
    """
    write_json(folder / "plan.json", dataclasses.asdict(plan))


def check_plan(name: str, folder: Path, stage: str) -> None:
    """Check that a stage made its folder from the present plan.

    Args:
        name: The document, an experiment or 'nads'.
        folder: The folder.
        stage: The stage and its argument.

    Raises:
        InputError: It made the folder from another plan, or did not run.
    """
    if _read(folder / "plan.json", stage) != _read(PLAN / f"{name}.json", "plan"):
        raise InputError(
            f"{folder} was made from other settings; run `python -m pipeline.{stage}`",
            "stale",
            path=str(folder),
        )


def _edited(path: Path | str) -> InputError:
    return InputError(
        f"{path} changed after the stage `plan`; run `python -m pipeline.plan`, or "
        "`dvc repro` for all stages",
        "stale",
        path=str(path),
    )


def read_about_images() -> dict[str, typing.Any]:
    """Read name, classes, counts, digest, mean and deviation of data/images/."""
    return _read(IMAGES / "about.json", "download")


def read_about_pictures(experiment: str) -> dict[str, typing.Any] | None:
    """Read the same of an experiment's pictures; None if it has no pictures."""
    path = DATASETS / experiment / "images.json"
    if not path.exists():
        return None
    return _read(path, f"generate {experiment}")


def read_images() -> dict[str, typing.Any]:
    """Read the images, mapped from disk.

    Returns:
        {train,test}_images: uint8 (N, 3, H, W). {train,test}_labels: (N,). classes:
        their names. mean, deviation: those of the training images' values in [0, 1],
        (3,).
    """
    about = read_about_images()
    images = {key: about[key] for key in ("classes", "mean", "deviation")}
    for name in ("train_images", "train_labels", "test_images", "test_labels"):
        path = require(IMAGES / f"{name}.npy", "download")
        images[name] = np.load(path, mmap_mode="r")
    return images


def find_nads(name: str, estimand: str | None = None) -> Path:
    """Return the file of an architecture's NADs, which `pipeline.nads.NADs` can load.

    Args:
        name: The architecture.
        estimand: Estimand of the NADs; None for the one that params.yaml chooses.
    """
    file = f"{name}.{estimand}.npz" if estimand else f"{name}.npz"
    return require(NADS / file, "estimate")


def read_nads(name: str, estimand: str | None = None) -> dict[str, np.ndarray]:
    """Read an architecture's NADs as the fields of `pipeline.nads.NADs`.

    Args:
        name: The architecture.
        estimand: As in `find_nads`.
    """
    return _read(find_nads(name, estimand), "estimate")


def read_dataset(experiment: str, file: str) -> typing.Any:
    """Read a file of data/datasets/{experiment}/.

    Args:
        experiment: Name of the experiment.
        file: Name of the file.
    """
    return _read(DATASETS / experiment / file, f"generate {experiment}")


def write_base_noise(folder: Path, seed: int, arrays: Mapping[str, np.ndarray]) -> None:
    """Write the base noise of one seed, each array into a file of its own.

    Args:
        folder: Folder of the files.
        seed: The seed.
        arrays: Arrays by name.
    """
    for name, array in arrays.items():
        np.save(folder / f"base_noise-{seed}.{name}.npy", array)


def read_base_noise(experiment: str, seed: int) -> dict[str, np.ndarray]:
    """Map the base noise of one seed from disk, so that all workers share its memory.

    Args:
        experiment: Name of the experiment.
        seed: The seed.

    Returns:
        Arrays by name.
    """
    arrays = {}
    for path in (DATASETS / experiment).glob(f"base_noise-{seed}.*.npy"):
        name = path.name.split(".")[1]
        arrays[name] = np.load(path, mmap_mode="c")
    return arrays


def read_cells(experiment: str) -> list[dict[str, typing.Any]]:
    """Read the grid of an experiment, in the order of cells.csv."""
    return read_dataset(experiment, "cells.csv").to_dict("records")


def read_training(experiment: str, file: str) -> typing.Any:
    """Read a table or document of models/{experiment}/.

    Args:
        experiment: Name of the experiment.
        file: Name of the file.
    """
    return _read(MODELS / experiment / file, f"train {experiment}")


def read_results(experiment: str, file: str) -> typing.Any:
    """Read a file of reports/{experiment}/.

    Args:
        experiment: Name of the experiment, or a folder as seen from reports/.
        file: Name of the file.
    """
    return _read(REPORTS / experiment / file, f"evaluate {experiment}")


def cell_name(cell: dict[str, typing.Any], coordinates: tuple[str, ...]) -> str:
    """Return the name of a cell, for example lenet-1-800-seed0.

    Args:
        cell: The cell.
        coordinates: Names of its coordinates.
    """
    places = "-".join(str(cell[coordinate]) for coordinate in coordinates)
    return f"{cell['architecture']}-{places}-seed{cell['seed']}"


def _read(path: Path, stage: str) -> typing.Any:
    """Return the document, the table, or the arrays by name in a file of a stage."""
    require(path, stage)
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    if path.suffix == ".csv":
        return pd.read_csv(path)
    with np.load(path) as file:
        return dict(file)
