"""The layout of params.yaml as pydantic models, in which an unknown key is a mistake.

An experiment has two layers: its own block, and the block of its name in a scale. They
are merged, and the result is validated as one block.
"""

import dataclasses
import typing

import pydantic
from pydantic import PositiveInt

from pipeline.experiments.experiment import Experiment
from pipeline.images.settings import ImageSettings
from pipeline.nads.estimator import Estimator
from pipeline.training.loop import Precision, Training
from pipeline.training.shapes import INPUT, Shape

Block = dict[str, typing.Any]
"""A mapping of params.yaml."""


class Strict(pydantic.BaseModel):
    """A mapping without unknown keys, whose values are not converted."""

    model_config = pydantic.ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Document(Strict):
    """The top level of params.yaml, without the experiments."""

    seed: int
    images: ImageSettings
    estimator: Estimator
    architectures: dict[str, Block]
    device: typing.Literal["auto", "cpu", "cuda", "mps", "xpu"]
    engine: typing.Literal["eager", "recorded"]
    precision: Precision
    scale: str


class Scale(Strict):
    """One scale, without the experiments: the sources of its NADs, by architecture."""

    nads: Block = {}


class Sizes(Strict):
    """What every experiment's block has, beside the experiment's own settings."""

    seeds: PositiveInt
    train_samples: PositiveInt
    test_samples: PositiveInt
    training: Block
    networks: dict[str, Block | None] = {}


@dataclasses.dataclass(frozen=True)
class Architecture:
    """An architecture's own key beside its network's arguments: the shape of its
    inputs."""

    input: tuple[int, ...] = INPUT

    def __post_init__(self) -> None:
        if len(self.input) not in (2, 3) or min(self.input) < 1:
            raise ValueError(
                "input must be [height, width] or [channels, height, width], not "
                f"{list(self.input)}"
            )

    @property
    def shape(self) -> Shape:
        """The shape (C, H, W) of its inputs."""
        return self.input if len(self.input) == 3 else (1, *self.input)


def document_model(questions: dict[str, Experiment]) -> type[Document]:
    """Return the model of params.yaml with these experiments.

    Args:
        questions: Experiments by name.
    """
    blocks = dict.fromkeys(questions, (Block | None, None))
    scale = pydantic.create_model("Scale", __base__=Scale, **blocks)
    settings = {}
    for experiment in questions.values():
        if experiment.at_top_level:
            settings |= _fields_of(experiment.Settings)
    return pydantic.create_model(
        "Document",
        __base__=Document,
        scales=(dict[str, scale], ...),
        **blocks,
        **settings,
    )


def block_model(experiment: Experiment) -> type[Sizes]:
    """Return the model of an experiment's block after merging."""
    settings = {}
    if not experiment.at_top_level:
        settings = _fields_of(experiment.Settings)
    return pydantic.create_model(experiment.name, __base__=Sizes, **settings)


def _fields_of(kind: type) -> dict[str, typing.Any]:
    """Return the fields of a dataclass as `pydantic.create_model` takes them."""
    hints = typing.get_type_hints(kind, include_extras=True)
    fields = {}
    for field in dataclasses.fields(kind):
        required = field.default is dataclasses.MISSING
        fields[field.name] = (hints[field.name], ... if required else field.default)
    return fields


def keys_of(kind: type) -> list[str]:
    """Return the names of the fields of a pydantic model or a dataclass."""
    if issubclass(kind, pydantic.BaseModel):
        return list(kind.model_fields)
    return [field.name for field in dataclasses.fields(kind)]


def training_keys() -> list[str]:
    """Return the keys of a block `training`; the top level has the precision."""
    return [key for key in keys_of(Training) if key != "precision"]


def merge(base: Block, override: Block) -> Block:
    """Return a copy of `base` in which `override` replaces values, at every depth."""
    result = dict(base)
    for key, value in override.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            value = merge(base[key], value)
        result[key] = value
    return result


def expand_ranges(value: typing.Any) -> typing.Any:
    """Return a list with every range [first, last, step] replaced by its numbers.

    Other items, and values that are not lists, are returned unchanged.
    """
    if not isinstance(value, list):
        return value
    numbers = []
    for item in value:
        match item:
            case [int(first), int(last), int(step)] if first <= last and step > 0:
                numbers.extend(range(first, last + 1, step))
            case _:
                numbers.append(item)
    return numbers
