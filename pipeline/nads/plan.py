"""The NADs that a run is asked for."""

import dataclasses
import typing

from pipeline.nads.estimator import Estimator, Source
from pipeline.project import artifacts


@dataclasses.dataclass(frozen=True)
class Request:
    """The NADs of one architecture that are asked for.

    specification: its network's place and arguments; own: sha256 by path of a person's own files
    that decide them.
    """

    specification: dict[str, typing.Any]
    source: Source
    own: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class NADsPlan:
    """All NADs that a scale needs, by architecture, and how they are estimated."""

    scale: str
    seed: int
    estimator: Estimator
    members: dict[str, Request]

    @classmethod
    def read(cls) -> "NADsPlan":
        """The plan that `plan` wrote."""
        return artifacts.planned("nads", cls)
