"""The images that a run is asked for."""

import dataclasses
import typing


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Where the images come from: `path` if given, else CIFAR-10 from this machine or from `url`, else `fallback`."""

    path: str | None
    url: str
    fallback: typing.Literal["digits", None]
