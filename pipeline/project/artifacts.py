"""The files that stages hand to each other: their places and their readers.

data/README.md and models/README.md say what each file holds; the docstring of
`evaluate` says it of reports/{experiment}/.

A stage writes its folder beside the folder's place, and moves it there when it is
whole. DVC notices later edits.
"""

import contextlib
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


def present(path: Path | str, stage: str) -> Path:
    """`path`; raises InputError, with the name of the stage that makes it, where it is
    missing."""
    if not Path(path).exists():
        raise InputError(
            f"{path} is missing; `python -m pipeline.{stage}` makes it (`dvc repro` runs all "
            "stages in order)"
        )
    return Path(path)


@contextlib.contextmanager
def output(folder: Path) -> Iterator[Path]:
    """Context that gives an empty folder, which replaces `folder` at its end.

    If something is raised, `folder` stays as it is.
    """
    for left in folder.parent.glob(
        f".{folder.name}.*.part"
    ):  # of processes that were killed
        if (process := int(left.name.split(".")[-2])) == os.getpid() or not pid_exists(
            process
        ):
            shutil.rmtree(
                left, ignore_errors=True
            )  # another process may remove it as well
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    part.mkdir(parents=True)
    yield part
    _swap(part, folder)


def _swap(part: Path, folder: Path) -> None:
    """Put `part` in the place of `folder`, also if another process does the same just
    now."""
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
    """Write `value` as indented JSON."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(
        json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def file_digest(path: Path | str) -> str:
    """sha256 of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def params_digest() -> str:
    """sha256 of the values in params.yaml, without its comments and layout."""
    return hashlib.sha256(json.dumps(read(), default=str).encode()).hexdigest()


def planned(name: str, type_: typing.Any) -> typing.Any:
    """Read the document data/plan/{name}.json.

    Its files of your own are checked for edits until the command ends
    (`errors.check_unchanged`).

    Args:
        name: An experiment, 'nads', 'images' or 'machine'.
        type_: The dataclass to return.

    Raises:
        InputError: params.yaml or a file of your own was edited since `plan` read it.
    """
    if present(PLAN / "params.sha256", "plan").read_text() != params_digest():
        raise _edited(PARAMS)
    document = present(PLAN / f"{name}.json", "plan").read_bytes()
    plan = pydantic.TypeAdapter(type_).validate_json(document)
    for member in getattr(plan, "members", {}).values():
        for path, digest in member.own.items():
            if not Path(path).exists() or file_digest(path) != digest:
                raise _edited(path)
            WATCHED.add(os.path.abspath(path))
    return plan


def _edited(path: Path | str) -> InputError:
    return InputError(
        f"{path} was edited since it was planned; run `python -m pipeline.plan`, or `dvc repro` "
        "for all stages"
    )


def about_images() -> dict[str, typing.Any]:
    """Name, classes, counts, digest, mean and deviation of the images in data/images/."""
    return _read(IMAGES / "about.json", "download")


def about_pictures(experiment: str) -> dict[str, typing.Any] | None:
    """`about_images` of the pictures in an experiment's draws; None without pictures."""
    path = DATASETS / experiment / "images.json"
    return _read(path, f"generate {experiment}") if path.exists() else None


def images() -> dict[str, typing.Any]:
    """The images: {train,test}_images uint8 (N, 3, H, W) and {train,test}_labels (N,),
    both mapped from disk, classes, and mean and deviation (3,) of the training images'
    values in [0, 1].
    """
    about = about_images()
    arrays = {}
    for name in ("train_images", "train_labels", "test_images", "test_labels"):
        arrays[name] = np.load(
            present(IMAGES / f"{name}.npy", "download"), mmap_mode="r"
        )
    return arrays | {key: about[key] for key in ("classes", "mean", "deviation")}


def nads(name: str, estimand: str | None = None) -> dict[str, np.ndarray]:
    """An architecture's NADs as the fields of `pipeline.nads.NADs`.

    estimand: of the NADs, where it is not the one that params.yaml chooses.
    """
    return _read(
        NADS / (f"{name}.{estimand}.npz" if estimand else f"{name}.npz"), "estimate"
    )


def generated(experiment: str, file: str) -> typing.Any:
    """The contents of a file of data/datasets/{experiment}/."""
    return _read(DATASETS / experiment / file, f"generate {experiment}")


def write_draw(folder: Path, seed: int, arrays: Mapping[str, np.ndarray]) -> None:
    """Write one seed's draw, each array into a file of its own."""
    for name, array in arrays.items():
        np.save(folder / f"draw-{seed}.{name}.npy", array)


def draw(experiment: str, seed: int) -> dict[str, np.ndarray]:
    """One seed's draw, mapped from disk, so that all workers share its memory."""
    files = (DATASETS / experiment).glob(f"draw-{seed}.*.npy")
    return {path.name.split(".")[1]: np.load(path, mmap_mode="c") for path in files}


def cells(experiment: str) -> list[dict[str, typing.Any]]:
    """The grid of an experiment, in the order of cells.csv."""
    return generated(experiment, "cells.csv").to_dict("records")


def trained(experiment: str, file: str) -> typing.Any:
    """The contents of a file of models/{experiment}/, but for its networks."""
    return _read(MODELS / experiment / file, f"train {experiment}")


def evaluated(experiment: str, file: str) -> typing.Any:
    """The contents of a file of reports/{experiment}/."""
    return _read(REPORTS / experiment / file, f"evaluate {experiment}")


def cell_name(cell: dict[str, typing.Any], coordinates: tuple[str, ...]) -> str:
    """The name of a cell: architecture, coordinates and seed, for example
    lenet-1-800-seed0."""
    places = "-".join(str(cell[coordinate]) for coordinate in coordinates)
    return f"{cell['architecture']}-{places}-seed{cell['seed']}"


def _read(path: Path, stage: str) -> typing.Any:
    """A JSON document, a table, or arrays by name; raises InputError where the file is
    missing."""
    if present(path, stage).suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    if path.suffix == ".csv":
        return pd.read_csv(path)
    with np.load(path) as file:
        return dict(file)
