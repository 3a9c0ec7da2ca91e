"""The architectures of params.yaml: what network each is, with which arguments, and the height and width of its inputs."""

import dataclasses
import math
import typing

from pipeline import networks as table
from pipeline.nads.estimator import MOST_VALUES
from pipeline.project.errors import InputError
from pipeline.project.shapes import INPUT, Input
from pipeline.settings.bounds import check_names
from pipeline.settings.typed import Mistakes, joined


@dataclasses.dataclass(frozen=True)
class Pixels:
    """Height and width of an architecture's inputs in pixels, which stand in its line beside its network and that one's arguments."""

    input: tuple[int, ...] = INPUT

    def __post_init__(self) -> None:
        if len(self.input) != 2 or min(self.input) <= 0:
            raise ValueError(f"input must be [height, width], not {list(self.input)}")
        if (count := math.prod(self.input)) > MOST_VALUES:
            raise ValueError(f"input must be of at most {MOST_VALUES:,} pixels, not {count:,}")


def specifications_of(
    mistakes: Mistakes, architectures: dict[str, typing.Any], at: str
) -> tuple[dict, dict[str, Input]]:
    """The architectures by name, each with the place of its network, None for those that have none; and their inputs."""
    found, inputs = dict.fromkeys(architectures), dict.fromkeys(architectures, INPUT)
    check_names(mistakes, architectures, at)
    for name, architecture in architectures.items():
        if isinstance(architecture, dict):
            network = dict(architecture)
            given = {"input": network.pop("input")} if "input" in network else {}
            try:
                found[name] = table.specification(network)
            except InputError as error:
                mistakes.add(f"{joined(at, name)}: {error}")
            if pixels := mistakes.typed(Pixels, given, joined(at, name)):
                inputs[name] = pixels.input
    if not architectures:
        mistakes.add(f"{at} is empty; name at least one network")
    return found, inputs
