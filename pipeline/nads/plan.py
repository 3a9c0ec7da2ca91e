"""The plan of a scale's NADs: their architectures, and how they are estimated."""

import dataclasses
import typing

from pipeline.nads.estimator import Estimator, Source
from pipeline.project import artifacts


@dataclasses.dataclass(frozen=True)
class Request:
    """The NADs of one architecture that a scale needs.

    specification: the network's place and arguments; source: see `Source`; own: sha256 by path of
    the files of a person's own network.
    """

    specification: dict[str, typing.Any]
    source: Source
    own: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class NADsPlan:
    """All NADs that a scale needs.

    seed: the seeds of the untrained networks derive from it; members: requests by architecture.
    """

    scale: str
    seed: int
    estimator: Estimator
    members: dict[str, Request]

    @classmethod
    def read(cls) -> "NADsPlan":
        """The plan that `plan` wrote."""
        return artifacts.planned("nads", cls)
