"""The settings in params.yaml, as typed and checked plans; each mistake is one sentence.

The dataclass that a value becomes says which values are allowed, beside the code that uses it. This
room holds the rules between values. The stage `plan` alone uses it.
"""

import dataclasses
import typing

import pydantic

from pipeline import experiments, networks
from pipeline.cells.shapes import INPUT, Input, as_text
from pipeline.cells.training import Training
from pipeline.experiments.experiment import Experiment
from pipeline.experiments.plan import Member, Plan
from pipeline.images.wanted import WantedOfSize
from pipeline.machine.workers import Machine
from pipeline.nads.estimator import Source
from pipeline.nads.plan import NADsPlan, Request
from pipeline.project.errors import InputError, nearest
from pipeline.project.parameters import read
from pipeline.settings.layout import Architecture, Sizes, Top, keys, layout, merged, written_out
from pipeline.settings.mistakes import Mistakes, value_at

__all__ = ["Plans", "plans", "read"]


@dataclasses.dataclass(frozen=True)
class Plans:
    """One scale's plans: for its images, its NADs and each experiment, and the machine's device."""

    images: WantedOfSize
    machine: Machine
    nads: NADsPlan
    experiments: dict[str, Plan]


def plans(document: dict[str, typing.Any]) -> dict[str, Plans]:
    """The plans of every scale of a document, the chosen scale first.

    Raises InputError with one sentence for each mistake at any scale.
    """
    mistakes = Mistakes(document)
    questions = {name: experiments.find(name) for name in experiments.names()}
    document = mistakes.keys(document, layout(document, questions))
    top = mistakes.typed(Top, document, ())
    if not isinstance(document.get("architectures"), dict):
        mistakes.end()  # the scales cannot be checked without them
    specifications, inputs = {}, {}
    for name, given in document["architectures"].items():
        if not isinstance(given, dict):
            continue
        path, network = ("architectures", name), {k: v for k, v in given.items() if k != "input"}
        try:
            specifications[name] = networks.specification(network)
        except InputError as error:
            mistakes.add(path, f": {error}")
        if architecture := mistakes.typed(Architecture, given, path):
            inputs[name] = architecture.input
    scales = document.get("scales", {})
    if top and top.scale not in scales:
        mistakes.add((), f": scale {top.scale!r} is unknown; {nearest(top.scale, scales)}")
    checked = {
        name: _Scale(mistakes, document, top, specifications, inputs, name).plans(questions)
        for name in sorted(scales, key=lambda name: name != document.get("scale"))
    }
    mistakes.end()
    return checked


@dataclasses.dataclass(frozen=True)
class _Scale:
    """One scale of a document without unknown keys.

    The top level, and every value that a method returns, is None where it has a mistake.
    """

    mistakes: Mistakes
    document: dict[str, typing.Any]
    top: Top | None
    specifications: dict[str, networks.Specification]
    inputs: dict[str, Input]
    name: str

    def plans(self, questions: dict[str, Experiment]) -> Plans | None:
        """The plans of the scale."""
        path = ("scales", self.name)
        given = value_at(self.document, (*path, "nads"), {})
        sources = {name: self._source(name, source) for name, source in given.items()}
        planned = {name: self._plan(each, sources) for name, each in questions.items()}
        sizes = {
            member.input: f"{as_text(member.input)} pixels ({architecture} in {name})"
            for name, plan in planned.items()
            if plan and questions[name].needs_images
            for architecture, member in plan.members.items()
        }
        if len(sizes) > 1:
            self.mistakes.add(
                path,
                ": all images of a scale have one size, the inputs of the networks trained on "
                f"them, not {' and '.join(sizes.values())}; give these networks one `input`",
            )
        if self.top is None:
            return None
        requests = {
            name: Request(self.specifications.get(name), source) for name, source in sources.items()
        }
        return Plans(
            WantedOfSize(**vars(self.top.images), size=next(iter(sizes), INPUT)),
            Machine(self.top.device, self.top.reuse),
            NADsPlan(self.name, self.top.seed, self.top.estimator, requests),
            planned,
        )

    def _source(self, name: str, source: typing.Any) -> Source | None:
        """The source of an architecture's NADs: an estimate or a file."""
        path = ("scales", self.name, "nads", name)
        # In the file, a number alone is the number of networks.
        values = source if isinstance(source, dict) else {"networks": source}
        values = self.mistakes.keys(values, keys(Source), path)
        values = {"input": [1, *self.inputs.get(name, INPUT)]} | values
        return self.mistakes.typed(Source, values, path)

    def _plan(self, experiment: Experiment, sources: dict[str, Source | None]) -> Plan | None:
        """One experiment's plan."""
        mistakes, name = self.mistakes, experiment.name
        path = ("scales", self.name, name)
        # The blocks that hold its values: the values of an earlier block replace those of a later.
        places = [path, path[:2], (name,), *([()] if experiment.at_top_level else [])]
        block = merged(*(value_at(self.document, place, {}) for place in places))
        lines = block.get("networks", {})
        if not lines:
            mistakes.unfit((*path, "networks"), "name at least one architecture")
        sizes = mistakes.typed(Sizes, block, *places[:3])
        settings = mistakes.typed(experiment.Settings, block, *places)
        members = {
            architecture: self._member(experiment, architecture, block, sources)
            for architecture in lines
        }
        if not (self.top and sizes and settings and all(members.values())):
            return None
        seeds = tuple(range(self.top.seed, self.top.seed + sizes.seeds))
        samples = sizes.train_samples, sizes.test_samples
        plan = Plan(name, self.name, seeds, *samples, settings, members)
        try:
            experiment.check(plan)
        except ValueError as error:
            mistakes.unfit((name,), str(error))
        return plan

    def _member(
        self, experiment: Experiment, name: str, block: dict, sources: dict[str, Source | None]
    ) -> Member | None:
        """One architecture's part of an experiment, from its line in the experiment's block."""
        mistakes, pixels = self.mistakes, self.inputs.get(name, INPUT)
        path, line = ("scales", self.name, experiment.name), block["networks"][name]
        place, outer = (*path, "networks", name), (path, path[:2], path[2:])
        values = merged(line, block.get("training", {})) | {
            "schedule": experiment.schedule,
            "precision": self.top.precision if self.top else "float32",
        }
        training = mistakes.typed(Training, values, place, *((*p, "training") for p in outer))
        choice = {key: written_out(value) for key, value in line.items()}
        grid = mistakes.typed(experiment.Grid, choice, place)
        seeds = mistakes.typed(pydantic.PositiveInt | None, line.get("seeds"), (*place, "seeds"))
        try:
            if grid:
                grid.check(pixels)
                if experiment.needs_nads:
                    self._check_nads(name, sources, grid.last(pixels), pixels)
        except ValueError as error:
            mistakes.add(place, f": {error}")
        if not (training and grid and self.top):
            return None
        estimands, estimator = (), self.top.estimator
        if experiment.needs_nads and (source := sources.get(name)):
            both = estimator.compare and source.file is None and source.first is None
            estimands = estimator.estimand, *([estimator.other().estimand] if both else [])
        return Member(self.specifications.get(name), training, grid, estimands, seeds, pixels)

    def _check_nads(self, name: str, sources: dict, last: int, pixels: Input) -> None:
        """Raise ValueError unless an architecture has NADs up to the index `last` for inputs of
        that height and width."""
        source = sources.get(name)
        if name not in sources:
            if not self.mistakes.doubtful(("scales", self.name, "nads", name)):
                raise ValueError(
                    f"it has no NADs at this scale; name it in scales.{self.name}.nads"
                )
        elif source and source.input != (1, *pixels):
            raise ValueError(
                f"its NADs are for inputs {as_text(source.input)}; experiments have channels of "
                f"{as_text(pixels)}; give the architecture and its NADs the same input"
            )
        elif source and not source.covers(last):
            raise ValueError(
                f"NAD {last} is not among the first {source.first}; give nads a larger first"
            )
