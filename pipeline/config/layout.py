"""The layout of params.yaml: the keys of every block, and which values replace others."""

import dataclasses
import typing

from pydantic import PositiveInt

from pipeline.experiments.experiment import Experiment
from pipeline.images.settings import ImageSettings
from pipeline.nads.estimator import Estimator
from pipeline.training.shapes import INPUT, Shape

TRAINING = ("epochs", "lr", "momentum", "weight_decay", "clip", "optimiser", "schedule")
"""Keys of `Training` in params.yaml, whose top level has `precision`."""


@dataclasses.dataclass(frozen=True)
class Top:
    """The values at the top level of params.yaml, without those of experiments."""

    seed: int
    images: ImageSettings
    estimator: Estimator
    architectures: dict[str, dict[str, typing.Any]]
    device: typing.Literal["auto", "cpu", "cuda", "mps", "xpu"]
    engine: typing.Literal["eager", "recorded"]
    precision: typing.Literal["float32", "bfloat16"]
    scale: str
    scales: dict[str, typing.Any]


@dataclasses.dataclass(frozen=True)
class Sizes:
    """One experiment's numbers at one scale: seeds, and samples per cell."""

    seeds: PositiveInt
    train_samples: PositiveInt
    test_samples: PositiveInt


@dataclasses.dataclass(frozen=True)
class Architecture:
    """An architecture's own key beside its network's arguments: the shape of its
    inputs."""

    input: tuple[int, ...] = INPUT

    def __post_init__(self) -> None:
        if len(self.input) not in (2, 3) or min(self.input) < 1:
            raise ValueError(
                f"input must be [height, width] or [channels, height, width], not "
                f"{list(self.input)}"
            )

    @property
    def shape(self) -> Shape:
        """The shape (C, H, W) of its inputs."""
        return self.input if len(self.input) == 3 else (1, *self.input)


def keys(kind: type) -> dict[str, None]:
    """The layout of a dataclass: its fields."""
    return dict.fromkeys(field.name for field in dataclasses.fields(kind))


def layout(
    document: dict[str, typing.Any], questions: dict[str, Experiment]
) -> dict[str, typing.Any]:
    """The layout (see `Mistakes.keys`) of a document with its names of architectures
    and scales."""
    names, scales = (
        dict.fromkeys(document[block]) if isinstance(document.get(block), dict) else {}
        for block in ("architectures", "scales")
    )
    by_name = names and names | {"default": None}
    shared = keys(Sizes) | {"training": dict.fromkeys(TRAINING)}
    top = (
        keys(Top)
        | shared
        | {"images": keys(ImageSettings), "estimator": keys(Estimator)}
    )
    scale = {"nads": dict.fromkeys(names)} | shared
    for name, experiment in questions.items():
        own = {
            key: by_name if typing.get_origin(hint) is dict else None
            for key, hint in typing.get_type_hints(experiment.Settings).items()
        }
        top |= (
            (own | {name: shared}) if experiment.at_top_level else {name: own | shared}
        )
        line = dict.fromkeys((*keys(experiment.Grid), *TRAINING, "seeds"))
        scale[name] = own | shared | {"networks": dict.fromkeys(names, line)}
    return top | {"scales": dict.fromkeys(scales, scale)}


def merged(*layers: dict[str, typing.Any]) -> dict[str, typing.Any]:
    """One mapping of several, merged at every depth; an earlier layer's values win."""
    whole = {}
    for layer in reversed(layers):
        for key, value in layer.items():
            both = isinstance(value, dict) and isinstance(whole.get(key), dict)
            whole[key] = merged(value, whole[key]) if both else value
    return whole


def written_out(value: typing.Any) -> typing.Any:
    """A list of numbers, its ranges [first, last, step] replaced by their numbers."""
    if not isinstance(value, list):
        return value
    numbers = []
    for item in value:
        match item:
            case [int(first), int(last), int(step)] if first <= last and step > 0:
                numbers += range(first, last + 1, step)
            case _:
                numbers.append(item)
    return numbers
