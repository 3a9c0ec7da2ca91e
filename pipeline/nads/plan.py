"""The NADs that a run is asked for."""

import dataclasses
import typing

from pipeline.nads.estimator import Estimator, Source
from pipeline.project import artifacts


@dataclasses.dataclass(frozen=True)
class Request:
    """The NADs that are asked for of one architecture: its network's place and arguments, and where they come from.

    digest: of what decides them and lies outside the package: of the file that they come from, or of the code of a network that
    is not built in; None where nothing does.
    """

    specification: dict[str, typing.Any]
    source: Source
    digest: str | None = None


@dataclasses.dataclass(frozen=True)
class NADsPlan:
    """All NADs that a scale needs, by architecture, and how they are estimated, under seeds derived from `seed`."""

    scale: str
    seed: int
    estimator: Estimator
    members: dict[str, Request]

    @classmethod
    def read(cls, document: dict[str, typing.Any]) -> "NADsPlan":
        """The plan from what JSON holds of it; raises InputError where that is none."""
        return artifacts.as_planned(cls, "nads", document)
