"""The images that params.yaml asks for."""

import dataclasses
import json
import os
import typing
from pathlib import Path

from pipeline.cells.shapes import SIZE, Size
from pipeline.project import artifacts
from pipeline.project.errors import InputError, notice

VARIABLE = "CIFAR10"  # of the environment: it names a copy of the images where `path` does not


@dataclasses.dataclass(frozen=True)
class Wanted:
    """The images at `path` if given, else CIFAR-10 from this machine or `url`, else `fallback`."""

    path: str | None
    url: str
    fallback: typing.Literal["digits", None]


@dataclasses.dataclass(frozen=True)
class WantedOfSize(Wanted):
    """The images with the height and width of the networks that are trained on them."""

    size: Size = SIZE


def existing(path: str | Path) -> Path:
    """The path of images, without ~. Raises InputError where nothing is there."""
    path = Path(os.path.expanduser(path))
    if not path.exists():
        raise InputError(
            f"the images' path {path} does not exist; name a folder or archive, or null for "
            "CIFAR-10"
        )
    return path


def notice_of_other_images(wanted: Wanted) -> None:
    """Print a notice where the images in data/images/ are not those that CIFAR10 names.

    DVC does not know the variable, so it would not run `download` again.
    """
    path, about = os.environ.get(VARIABLE), artifacts.REPORTS / "images.json"
    if path and wanted.path is None and artifacts.IMAGES.exists() and about.exists():
        source = json.loads(about.read_text(encoding="utf-8"))["source"]
        if Path(path).resolve().name not in source:
            notice(
                f"data/images holds images from {source}, not from {path}; "
                "`dvc repro --force --single-item download && dvc repro` takes these"
            )
