"""The images that params.yaml asks for."""

import dataclasses
import json
import os
import typing
from pathlib import Path

from pipeline.project import artifacts
from pipeline.project.errors import InputError, notice, prefix_errors
from pipeline.training.shapes import SIZE, Size

VARIABLE = "CIFAR10"
"""The environment variable with a path of images, used where params.yaml has none."""

CONVERT = (
    "save the images as train/<class>/<name>.png and test/<class>/<name>.png, as "
    "docs/extending.md (Images) shows in a few lines"
)
"""The end of a sentence that refuses a file or folder."""


@dataclasses.dataclass(frozen=True)
class ImageSettings:
    """The block `images` of params.yaml.

    Attributes:
        path: A folder or archive; None for CIFAR-10.
        url: Address of CIFAR-10's official archive.
        fallback: What replaces CIFAR-10 if it cannot be downloaded; None for an error.
    """

    path: str | None
    url: str
    fallback: typing.Literal["digits", None]


@dataclasses.dataclass(frozen=True)
class SizedImageSettings(ImageSettings):
    """The images with the height and width of the networks that are trained on them."""

    size: Size = SIZE


def expand_path(path: str | Path) -> Path:
    """Expand ~ in the path of images.

    Args:
        path: A folder or archive.

    Raises:
        InputError: Nothing is there.
    """
    path = Path(path).expanduser()
    if not path.exists():
        raise InputError(
            f"the images' path {path} does not exist; name a folder or archive",
            "missing-file",
            path=str(path),
        )
    return path


def notice_other_images(settings: ImageSettings) -> None:
    """Print a notice if data/images/ does not hold the images that CIFAR10 names.

    DVC does not know the variable, so it would not run `download` again.

    Args:
        settings: The block `images` of params.yaml.

    Raises:
        InputError: CIFAR10 names nothing that is there.
    """
    path = os.environ.get(VARIABLE)
    if not path or settings.path is not None:
        return
    with prefix_errors(f"{VARIABLE}: "):
        expand_path(path)
    about = artifacts.REPORTS / "images.json"
    if not artifacts.IMAGES.exists() or not about.exists():
        return
    source = json.loads(about.read_text(encoding="utf-8"))["source"]
    if not source.removesuffix("/").endswith(f" in {Path(path).resolve().name}"):
        notice(
            f"data/images holds images from {source}, not from {path}; run `dvc repro "
            "--force --single-item download && dvc repro` to use these"
        )
