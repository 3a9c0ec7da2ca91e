"""The images that a run is asked for."""

import dataclasses
import typing
import urllib.parse

from pipeline.project.shapes import INPUT, Input


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Where the images come from: `path` if given, else CIFAR-10 from this machine or from `url`, else `fallback`."""

    path: str | None
    url: str
    fallback: typing.Literal["digits", None]

    def __post_init__(self) -> None:
        # Sentences leave out the address itself: it may hold a password.
        try:
            parts = urllib.parse.urlsplit(self.url)
            usable = parts.port != 0
        except ValueError:
            raise ValueError("url must name a host, and a port from 1 to 65,535 or none") from None
        if parts.scheme not in ("http", "https"):
            raise ValueError("url must begin with http:// or https://; a file of this machine is named as path")
        if "@" in parts.netloc:
            raise ValueError("url must not hold a user or a password: it is kept in files that are shared")
        if not self.url.isascii() or not self.url.isprintable() or " " in self.url:
            raise ValueError("url must not hold spaces or other than ASCII characters; write them as %20 and the like")
        if not parts.hostname or not usable:
            raise ValueError("url must name a host, and a port from 1 to 65,535 or none")


@dataclasses.dataclass(frozen=True)
class WantedOfSize(Wanted):
    """The same, with the height and width to which all of them are brought: those of the networks that are trained on them."""

    size: Input = INPUT

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.size) < 1:
            raise ValueError(f"size must be a height and a width, not {self.size}")
