"""The NADs that a run is asked for."""

import dataclasses
import typing

from pipeline.nads.estimator import Estimator, Source


@dataclasses.dataclass(frozen=True)
class Request:
    """The NADs that are asked for of one architecture: its network's place and arguments, and where they come from."""

    specification: dict[str, typing.Any]
    source: Source


@dataclasses.dataclass(frozen=True)
class NADsPlan:
    """All NADs that a scale needs, by architecture, and how they are estimated, under seeds derived from `seed`."""

    scale: str
    seed: int
    estimator: Estimator
    members: dict[str, Request]

    @classmethod
    def read(cls, document: dict[str, typing.Any]) -> "NADsPlan":
        """The plan from what JSON holds of it."""
        members = {}
        for name, member in document["members"].items():
            source = member["source"] | {"input": tuple(member["source"]["input"])}
            members[name] = Request(member["specification"], Source(**source))
        return cls(document["scale"], document["seed"], Estimator(**document["estimator"]), members)
