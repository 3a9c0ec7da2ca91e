"""The images that a run is asked for."""

import dataclasses
import typing

from pipeline.cells.shapes import INPUT, Input

VARIABLE = "CIFAR10"
"""The environment variable that names a copy of the images where `path` does not."""


@dataclasses.dataclass(frozen=True)
class Wanted:
    """The images at `path` if given, else CIFAR-10 from this machine or `url`, else `fallback`."""

    path: str | None
    url: str
    fallback: typing.Literal["digits", None]


@dataclasses.dataclass(frozen=True)
class WantedOfSize(Wanted):
    """The images with the height and width of the networks that are trained on them."""

    size: Input = INPUT
