"""Every rule of params.yaml: the file as typed, checked plans, one sentence for each mistake. Read by the stage `plan` alone.

What a value may be stands in the dataclass that it becomes, beside the code that uses it; here stands how the file is laid out, and
what must hold between its parts.
"""

import dataclasses
import typing
from collections.abc import Iterable

from pipeline import experiments
from pipeline import networks as table
from pipeline.grid.experiment import Experiment, Member, Plan
from pipeline.images.wanted import Wanted, WantedOfSize
from pipeline.machine.workers import Machine
from pipeline.nads.estimator import Estimator, Source
from pipeline.nads.plan import NADsPlan, Request
from pipeline.project.shapes import INPUT, Input, as_text
from pipeline.settings.architectures import specifications_of
from pipeline.settings.bounds import check_extent, check_names
from pipeline.settings.reading import parsed, read
from pipeline.settings.typed import Mistakes, joined, shown
from pipeline.training import CLIP, Training
from pipeline.training.single import BATCH

__all__ = ["Plans", "parsed", "plans", "read"]

Precision = typing.Literal["float32", "bfloat16"]

TRAINING = {"epochs": 1, "lr": 1.0, "momentum": 0.0, "weight_decay": 0.0, "clip": CLIP}
"""Keys of `Training` that params.yaml gives, for all networks of an experiment or in a network's own line; with a sound value of
each, by which those that are given are checked where the others are not."""

OPTIONAL = {"clip"}
"""Those of them that need not be given: both papers have one value of it."""


@dataclasses.dataclass(frozen=True)
class Common:
    """What stands at the top level of params.yaml, besides the experiments' own values and the scales."""

    seed: int
    images: Wanted
    estimator: Estimator
    architectures: dict[str, dict[str, typing.Any]]
    device: typing.Literal["auto", "cpu", "cuda"]
    reuse: bool
    scale: str

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= 10**9:
            raise ValueError(f"seed must lie between 0 and 1,000,000,000, not {self.seed}")


@dataclasses.dataclass(frozen=True)
class Sizes:
    """One experiment's numbers at one scale: seeds, and samples per cell."""

    seeds: int
    train_samples: int
    test_samples: int

    def __post_init__(self) -> None:
        for name, most in (("seeds", 10_000), ("train_samples", 1_000_000), ("test_samples", 1_000_000)):
            if not 0 < (count := getattr(self, name)) <= most:
                raise ValueError(f"{name} must be {f'at most {most:,}' if count > most else 'at least 1'}, not {count}")
        if self.train_samples % BATCH == 1:
            raise ValueError(
                f"train_samples must not be {self.train_samples}: batches are of {BATCH}, so the last would be of one sample, which "
                "batch norm cannot take"
            )


@dataclasses.dataclass(frozen=True)
class OwnSeeds:
    """How many of its experiment's seeds one architecture is trained with, None for all: large networks may take fewer."""

    seeds: int | None = None

    def __post_init__(self) -> None:
        if self.seeds is not None and self.seeds < 1:
            raise ValueError(f"seeds must be at least 1, not {self.seeds}")


@dataclasses.dataclass(frozen=True)
class Top:
    """The top level of params.yaml: its values, the specification and the input of every architecture, the `Settings` of every experiment.

    None stands for what has a mistake; `sound` says whether nothing has.
    """

    common: Common | None
    specifications: dict[str, table.Specification | None]
    inputs: dict[str, Input]
    settings: dict[str, typing.Any]
    sound: bool


@dataclasses.dataclass(frozen=True)
class Scale:
    """What one scale gives to all experiments: the precision, and where the NADs come from. None stands for what has a mistake."""

    name: str
    precision: Precision | None
    sources: dict[str, Source | None]


@dataclasses.dataclass(frozen=True)
class Plans:
    """All that one scale asks for: the images, the NADs, and each experiment by name; and where it shall run."""

    images: WantedOfSize
    machine: Machine
    nads: NADsPlan
    experiments: dict[str, Plan]


def plans(document: dict[str, typing.Any], where: str = "params.yaml") -> dict[str, Plans]:
    """The plans of every scale of a document, the chosen scale first.

    Raises InputError with a sentence for each mistake in it, at whichever scale.
    """
    mistakes = Mistakes()
    known = {name: experiments.find(name) for name in experiments.names()}
    top = _top(mistakes, document, known, where)
    if not (isinstance(scales := document.get("scales"), dict) and top.specifications):
        mistakes.end()
    found = {
        name: _of_scale(mistakes, top, known, name, scales[name], joined(where, "scales", name))
        for name in sorted(scales, key=lambda name: name != document.get("scale"))
    }
    mistakes.end()
    return found


def _keys(kind: type) -> list[str]:
    """The keys of the block that becomes a dataclass."""
    return [field.name for field in dataclasses.fields(kind)]


def _some(mapping: dict[str, typing.Any], keys: Iterable[str]) -> dict[str, typing.Any]:
    """The part of a mapping that has some of the keys."""
    return {key: mapping[key] for key in keys if key in mapping}


def _top(mistakes: Mistakes, document: dict[str, typing.Any], known: dict[str, Experiment], where: str) -> Top:
    """The top level of a document, its mistakes noted."""
    blocks = [name for name, experiment in known.items() if _keys(experiment.Settings) and not experiment.at_top_level]
    own = [key for experiment in known.values() if experiment.at_top_level for key in _keys(experiment.Settings)]
    blockless = [name for name in known if name in document and name not in blocks]
    for name in blockless:
        mistakes.add(f"{where}: {name} has no block of its own; take it away, its sizes stand in the scales")
    others = _some(document, [key for key in document if key not in blockless])
    mistakes.known(others, [*_keys(Common), *own, *blocks, "scales"], where)
    mistakes.required(document, [*blocks, "scales"], where)
    common = mistakes.typed(Common, _some(document, _keys(Common)), where)
    settings = {}
    for name, experiment in known.items():
        if name not in blocks:
            settings[name] = mistakes.typed(experiment.Settings, _some(document, _keys(experiment.Settings)), where)
        elif name in document:
            settings[name] = mistakes.typed(experiment.Settings, document[name], joined(where, name))
    specifications, inputs = {}, {}
    if isinstance(architectures := document.get("architectures"), dict):
        specifications, inputs = specifications_of(mistakes, architectures, joined(where, "architectures"))
    for name in blocks if specifications else ():
        _check_keys(mistakes, known[name].Settings, document.get(name), specifications, joined(where, name))
    if "scales" in document:
        _check_scales(mistakes, document["scales"], document.get("scale"), where)
    return Top(common, specifications, inputs, settings, sound=not mistakes.sentences)


def _check_keys(mistakes: Mistakes, kind: type, block: typing.Any, specifications: dict, at: str) -> None:
    """Note every key that names no architecture where an experiment's `Settings` have a value for each of them."""
    for field, hint in typing.get_type_hints(kind).items():
        values = block.get(field) if isinstance(block, dict) else None
        if typing.get_origin(hint) is dict and isinstance(values, dict):
            mistakes.known(values, specifications, joined(at, field), "architecture")


def _check_scales(mistakes: Mistakes, scales: typing.Any, chosen: typing.Any, where: str) -> None:
    """Note where the scales are no mapping of names, or the chosen one is not among them."""
    scales = mistakes.mapping(scales, at := joined(where, "scales"))
    check_names(mistakes, scales or (), at)
    if scales == {}:
        mistakes.add(f"{at} is empty; name at least one scale")
    elif scales and isinstance(chosen, str) and chosen not in scales:
        mistakes.add(f"{where}: scale {shown(chosen)} is not one of {', '.join(scales)}")


def _of_scale(
    mistakes: Mistakes, top: Top, known: dict[str, Experiment], name: str, block: typing.Any, at: str
) -> Plans | None:
    """The plans of one scale, its mistakes noted; None where there are any, here or before."""
    if (block := mistakes.mapping(block, at)) is None:
        return None
    mistakes.known(block, ["precision", "nads", *known], at)
    mistakes.required(block, ["precision", "nads", *known], at)
    precision = mistakes.typed(Precision, block["precision"], joined(at, "precision")) if "precision" in block else None
    # Where nobody knows whose NADs there are, none is said to be missing.
    nads, sources = mistakes.mapping(block.get("nads", {}), joined(at, "nads")), dict.fromkeys(top.specifications)
    if nads is not None and "nads" in block:
        sources = _sources(mistakes, top, nads, joined(at, "nads"))
    scale = Scale(name, precision, sources)
    found = {
        name: _plan(mistakes, top, scale, experiment, block[name], joined(at, name))
        for name, experiment in known.items()
        if name in block
    }
    _check_images(mistakes, top, known, block, at)
    if mistakes.sentences:
        return None
    common = top.common
    requests = {name: Request(top.specifications[name], source) for name, source in sources.items()}
    nads = NADsPlan(scale.name, common.seed, common.estimator, requests)
    size = next((plan.inputs[0] for plan in found.values() if known[plan.experiment].needs_images), INPUT)
    images = WantedOfSize(**vars(common.images), size=size)
    return Plans(images, Machine(common.device, common.reuse), nads, found)


def _check_images(mistakes: Mistakes, top: Top, known: dict[str, Experiment], block: dict, at: str) -> None:
    """Note where the networks that a scale trains on images have different inputs: all its images have one size."""
    names = {}
    for name in (name for name, experiment in known.items() if experiment.needs_images):
        lines = block[name].get("networks") if isinstance(block.get(name), dict) else None
        for architecture in lines if isinstance(lines, dict) else ():
            if architecture in top.inputs:
                names.setdefault(top.inputs[architecture], f"those of {architecture} in {name}")
    if len(names) > 1:
        said = " and ".join(f"{whose} have {as_text(pixels)} pixels" for pixels, whose in names.items())
        mistakes.add(
            f"{at}: all images of a scale have one size, the inputs of the networks trained on them, but {said}; "
            "name networks of one `input` in image_pairs, poison and flip"
        )


def _sources(mistakes: Mistakes, top: Top, nads: dict[str, typing.Any], at: str) -> dict[str, Source | None]:
    """Where the NADs of each architecture come from; None for those that have a mistake."""
    mistakes.known(nads, top.specifications, at, "architecture")
    found = {name: None for name in top.specifications if (at, name) in mistakes.misspelt}
    for name, source in nads.items():
        # In the file, a number alone is the number of networks.
        values = {"networks": source} if type(source) is int else source
        if isinstance(values, dict) and name in top.inputs:
            values = {"input": [1, *top.inputs[name]]} | values
        found[name] = mistakes.typed(Source, values, joined(at, name))
    return found


def _plan(
    mistakes: Mistakes, top: Top, scale: Scale, experiment: Experiment, block: typing.Any, at: str
) -> Plan | None:
    """One experiment's plan at one scale, its mistakes noted; None where there are any."""
    before = len(mistakes.sentences)
    if (block := mistakes.mapping(block, at)) is None:
        return None
    mistakes.known(block, [*_keys(Sizes), "training", "networks"], at)
    mistakes.required(block, ["networks"], at)
    sizes = mistakes.typed(Sizes, _some(block, _keys(Sizes)), at)
    training = block.get("training", TRAINING if (at, "training") in mistakes.misspelt else {})
    shared = _shared(mistakes, training, joined(at, "training"))
    lines = mistakes.mapping(block.get("networks", {}), place := joined(at, "networks"))
    if lines == {} and "networks" in block:
        mistakes.add(f"{place} is empty; name at least one architecture")
    lines = lines or {}
    mistakes.known(lines, top.specifications, place, "architecture")
    lines = {name: line for name in lines if (line := mistakes.mapping(lines[name], joined(place, name))) is not None}
    members = {
        name: _member(mistakes, top, scale, experiment, shared | line, name, joined(place, name))
        for name, line in lines.items()
    }
    for key in (key for key in TRAINING if key not in OPTIONAL):
        lacking = [
            name
            for name, line in lines.items()
            if key not in shared | line and (joined(place, name), key) not in mistakes.misspelt
        ]
        if lacking:
            give = f"give it here, or in the line of {', '.join(lacking)}"
            mistakes.add(f"{joined(at, 'training')}: the key {key!r} is missing; {give}")
    if len(mistakes.sentences) > before or not top.sound:
        return None
    seeds = tuple(range(top.common.seed, top.common.seed + sizes.seeds))
    settings = top.settings[experiment.name]
    plan = Plan(experiment.name, scale.name, seeds, sizes.train_samples, sizes.test_samples, settings, members)
    try:
        experiment.check(plan)
    except ValueError as error:
        mistakes.add(f"{at.partition(': ')[0]}: {experiment.name}: {error}")
    for name, member in members.items():
        if member.seeds is not None and member.seeds > len(seeds):
            mistakes.add(
                f"{joined(place, name)}: seeds must be at most the experiment's {len(seeds)}, not {member.seeds}"
            )
    check_extent(mistakes, experiment, plan, at)
    return plan


def _shared(mistakes: Mistakes, training: typing.Any, at: str) -> dict[str, typing.Any]:
    """The values of `Training` that all networks of an experiment share; sound ones for those that have a mistake."""
    if (training := mistakes.mapping(training, at)) is None:
        return TRAINING
    mistakes.known(training, TRAINING, at)
    meant = {key: value for key, value in TRAINING.items() if (at, key) in mistakes.misspelt}
    given = _some(training, TRAINING)
    sound = mistakes.typed(Training, TRAINING | given, at) is not None
    return meant | (given if sound else _some(TRAINING, given))


def _member(
    mistakes: Mistakes,
    top: Top,
    scale: Scale,
    experiment: Experiment,
    values: dict[str, typing.Any],
    name: str,
    at: str,
) -> Member:
    """One architecture's part of an experiment, by the values of its line and the shared ones; its mistakes noted."""
    keys = _keys(experiment.Grid)
    mistakes.known(values, [*TRAINING, *keys, "seeds"], at)
    how = {"schedule": experiment.schedule, "precision": scale.precision or "float32"}
    training = mistakes.typed(Training, TRAINING | _some(values, TRAINING) | how, at)
    grid = mistakes.typed(experiment.Grid, _some(values, keys), at)
    own = mistakes.typed(OwnSeeds, _some(values, ["seeds"]), at)
    source, estimands, pixels = scale.sources.get(name), (), top.inputs.get(name, INPUT)
    if grid is not None:
        try:
            grid.check(pixels)
        except ValueError as error:
            mistakes.add(f"{at}: {error}")
            grid = None
    if experiment.needs_nads and name in top.specifications and name not in scale.sources:
        mistakes.add(f"{at}: it has no NADs at this scale; name it under nads")
    elif experiment.needs_nads and source is not None:
        if grid is not None:
            _check_source(mistakes, source, pixels, grid.last(pixels), at)
        if top.sound:
            estimands = _estimands(top.common.estimator, source)
    return Member(top.specifications.get(name), training, grid, estimands, own and own.seeds, pixels)


def _estimands(estimator: Estimator, source: Source) -> tuple[str, ...]:
    """The estimands whose NADs of an architecture there will be, the chosen one first."""
    both = estimator.compare and source.file is None and source.first is None
    return (estimator.estimand, *([estimator.other().estimand] if both else []))


def _check_source(mistakes: Mistakes, source: Source, pixels: Input, last: int, at: str) -> None:
    """Note where NADs cannot serve an experiment that takes their indices up to `last`."""
    if source.input != (1, *pixels):
        give = f"; give the architecture input: {list(source.input[1:])}" if source.input[0] == 1 else ""
        mistakes.add(
            f"{at}: its NADs are for inputs {as_text(source.input)}; experiments have channels of {as_text(pixels)}{give}"
        )
    elif not source.covers(last):
        mistakes.add(f"{at}: NAD {last} is not among the first {source.first}; give nads a larger first")
