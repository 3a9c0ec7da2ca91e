"""The settings in params.yaml, as typed and checked plans; each mistake is one
sentence.

The dataclass that a value becomes says which values are allowed, beside the code that
uses it. This room holds the rules between values. The stage `plan` alone uses it.
"""

import dataclasses
import typing

import pydantic

from pipeline import experiments, networks
from pipeline.config.layout import (
    Architecture,
    Sizes,
    Top,
    keys,
    layout,
    merged,
    written_out,
)
from pipeline.config.mistakes import Mistakes, value_at
from pipeline.experiments.experiment import Experiment
from pipeline.experiments.plan import Member, Plan
from pipeline.images.settings import SizedImageSettings
from pipeline.nads.estimator import NADsPlan, Request, Source
from pipeline.project.errors import InputError, nearest
from pipeline.project.parameters import read
from pipeline.training.loop import Training
from pipeline.training.shapes import INPUT, SIZE, Shape, as_text

__all__ = ["Plans", "plans", "read"]


@dataclasses.dataclass(frozen=True)
class Plans:
    """One scale's plans: for its images, its NADs and each experiment, and the
    machine's device."""

    images: SizedImageSettings
    device: str
    engine: str
    nads: NADsPlan
    experiments: dict[str, Plan]


def plans(document: dict[str, typing.Any]) -> dict[str, Plans]:
    """The plans of every scale of a document, the chosen scale first.

    Raises InputError with one sentence for each mistake at every scale; where a value
    of the top level is wrong (`Top`), for these and for misspelt keys alone.
    """
    mistakes = Mistakes(document)
    questions = {name: experiments.find(name) for name in experiments.names()}
    document = mistakes.keys(document, layout(document, questions))
    for scale, block in document.get("scales", {}).items():
        for name, source in block.get("nads", {}).items():
            # In the file, a number alone is the number of networks.
            values = source if isinstance(source, dict) else {"networks": source}
            path = ("scales", scale, "nads", name)
            block["nads"][name] = mistakes.keys(values, keys(Source), path)
    top = mistakes.typed(Top, document, ())
    if top is None:
        mistakes.end()
    specifications = {}
    inputs = {}
    for name, given in top.architectures.items():
        path = ("architectures", name)
        network = {k: v for k, v in given.items() if k != "input"}
        try:
            specifications[name] = networks.specification(network)
        except InputError as error:
            mistakes.add(path, f": {error}")
        if architecture := mistakes.typed(Architecture, given, path):
            inputs[name] = architecture.shape
    if top.scale not in top.scales:
        mistakes.add(
            (), f": scale {top.scale!r} is unknown; {nearest(top.scale, top.scales)}"
        )
    checked = {
        name: _Scale(mistakes, document, top, specifications, inputs, name).plans(
            questions
        )
        for name in sorted(top.scales, key=lambda name: name != top.scale)
    }
    mistakes.end()
    return checked


@dataclasses.dataclass(frozen=True)
class _Scale:
    """One scale of a document without unknown keys.

    Every value that a method returns is None where it has a mistake.
    """

    mistakes: Mistakes
    document: dict[str, typing.Any]
    top: Top
    specifications: dict[str, networks.Specification]
    inputs: dict[str, Shape]
    name: str

    def plans(self, questions: dict[str, Experiment]) -> Plans | None:
        """The plans of the scale."""
        path = ("scales", self.name)
        sources = {}
        for name, values in value_at(self.document, (*path, "nads"), {}).items():
            values = {"input": self.inputs.get(name, INPUT)} | values
            sources[name] = self.mistakes.typed(Source, values, (*path, "nads", name))
        planned = {name: self._plan(each, sources) for name, each in questions.items()}
        sizes = {
            member.input[
                1:
            ]: f"{as_text(member.input[1:])} pixels ({architecture} in {name})"
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
        requests = {
            name: Request(self.specifications.get(name), source)
            for name, source in sources.items()
        }
        return Plans(
            SizedImageSettings(**vars(self.top.images), size=next(iter(sizes), SIZE)),
            self.top.device,
            self.top.engine,
            NADsPlan(self.name, self.top.seed, self.top.estimator, requests),
            planned,
        )

    def _plan(
        self, experiment: Experiment, sources: dict[str, Source | None]
    ) -> Plan | None:
        """One experiment's plan."""
        mistakes = self.mistakes
        name = experiment.name
        path = ("scales", self.name, name)
        # The blocks that hold its values: the values of an earlier block replace those
        # of a later. Sizes and training at the top level are of all experiments, sigma
        # there is not.
        places = (path, path[:2], (name,), ())
        own = places if experiment.at_top_level else places[:-1]
        block, values = (
            merged(*(value_at(self.document, place, {}) for place in blocks))
            for blocks in (places, own)
        )
        lines = block.get("networks", {})
        if not lines and value_at(self.document, path, None) is not None:
            mistakes.add(
                (*path, "networks"),
                ": name at least one architecture, or leave the experiment out of the scale",
                absence=True,
            )
        sizes = mistakes.typed(Sizes, block, *places)
        settings = mistakes.typed(experiment.Settings, values, *own)
        members = {
            architecture: self._member(experiment, architecture, block, sources)
            for architecture in lines
        }
        if not (sizes and settings and all(members.values())):
            return None
        for architecture, member in members.items():
            if (member.seeds or 0) > sizes.seeds:
                text = f": seeds is {member.seeds}, and the experiment has {sizes.seeds}; raise those"
                mistakes.add((*path, "networks", architecture, "seeds"), text)
        seeds = tuple(range(self.top.seed, self.top.seed + sizes.seeds))
        samples = sizes.train_samples, sizes.test_samples
        for key, value in vars(settings).items():
            if isinstance(value, dict):
                each = {one: value.get(one, value.get("default")) for one in members}
                settings = dataclasses.replace(settings, **{key: each})
                if lacking := ", ".join(one for one in each if each[one] is None):
                    text = f": {key} has no value for {lacking}, which the grid trains, nor default"
                    mistakes.add((name,), text, absence=True)
        return Plan(name, self.name, seeds, *samples, settings, members)

    def _member(
        self,
        experiment: Experiment,
        name: str,
        block: dict,
        sources: dict[str, Source | None],
    ) -> Member | None:
        """One architecture's part of an experiment, from its line in the experiment's
        block."""
        mistakes = self.mistakes
        shape = self.inputs.get(name, INPUT)
        path = ("scales", self.name, experiment.name)
        line = block["networks"][name]
        place = (*path, "networks", name)
        outer = (path, path[:2], path[2:], ())
        chosen = merged(
            line, block.get("training", {}), {"schedule": experiment.schedule}
        )
        values = chosen | {"precision": self.top.precision}
        training = mistakes.typed(
            Training, values, place, *((*p, "training") for p in outer)
        )
        choice = {key: written_out(value) for key, value in line.items()}
        grid = mistakes.typed(experiment.Grid, choice, place)
        seeds = mistakes.typed(
            pydantic.PositiveInt | None, line.get("seeds"), (*place, "seeds")
        )
        source = sources.get(name) if experiment.needs_nads else None
        estimands = ()
        if experiment.needs_nads and name not in sources:
            where = f"scales.{self.name}.nads"
            text = f": it has no NADs at this scale; name it in {where}"
            mistakes.add(place, text, absence=True)
        if source:
            estimands = tuple(
                each.estimand for each in source.estimators(self.top.estimator)
            )
        if shape[0] not in experiment.colours:
            can = " or ".join(map(str, experiment.colours))
            can += " channel" if can == "1" else " channels"
            mistakes.add(
                place, f": its input is {as_text(shape)}; the experiment takes {can}"
            )
        try:
            if grid:
                count = grid.nads(shape)
                if source:
                    source.check(count - 1, shape)
        except ValueError as error:
            mistakes.add(place, f": {error}")
        if not (training and grid):
            return None
        return Member(
            self.specifications.get(name), training, grid, estimands, seeds, shape
        )
