"""The plans of every scale, made from the contents of params.yaml."""

import dataclasses
import functools
import re
import typing

from pydantic import PositiveInt

from pipeline import experiments, networks
from pipeline.config.layout import (
    Architecture,
    Block,
    Document,
    Sizes,
    block_model,
    document_model,
    expand_ranges,
    keys_of,
    merge,
    training_keys,
)
from pipeline.config.mistakes import Mistakes, Path
from pipeline.experiments.experiment import Experiment
from pipeline.experiments.plan import Member, Plan
from pipeline.images.settings import SizedImageSettings
from pipeline.nads.estimator import NADsPlan, Request, Source
from pipeline.project.errors import InputError
from pipeline.training.loop import Training
from pipeline.training.shapes import INPUT, SIZE, Shape, Size, as_text


@dataclasses.dataclass(frozen=True)
class Plans:
    """One scale's plans: for its images, its NADs and each experiment, and the
    machine's device."""

    images: SizedImageSettings
    device: str
    engine: str
    nads: NADsPlan
    experiments: dict[str, Plan]


def plans(document: Block) -> dict[str, Plans]:
    """Return the plans of every scale of a document, the chosen scale first.

    Args:
        document: The contents of params.yaml.

    Raises:
        InputError: With one sentence for each mistake at any scale. Mistakes at the
            top level and in names come first, by themselves.
    """
    mistakes = Mistakes(document)
    questions = {name: experiments.find(name) for name in experiments.names()}
    top = mistakes.typed(document_model(questions), document, ())
    mistakes.end()
    if top.estimator.estimand == "output":
        mistakes.add(
            ("estimator", "estimand"),
            " is output, which only the Python function `estimate` can use; set secant "
            "or gradient",
            "conflict",
        )
    specifications = {}
    inputs = {}
    for name, arguments in top.architectures.items():
        path = ("architectures", name)
        if not re.fullmatch(r"[A-Za-z]\w*", name):
            mistakes.add(
                path, ": a name has letters, digits and _, and begins with a letter"
            )
        shape = {"input": arguments.pop("input", INPUT)}
        architecture = mistakes.typed(Architecture, shape, path)
        try:
            specifications[name] = networks.specification(arguments)
        except InputError as error:
            mistakes.add(path, f": {error}", error.kind, **error.fields)
        if architecture is not None:
            inputs[name] = architecture.shape
    if top.scale not in top.scales:
        mistakes.unknown((), [top.scale], top.scales, "scale")
    for name in questions:
        if "networks" in (document.get(name) or {}):
            mistakes.add(
                (name,),
                ": networks belong to a scale's block; move them there",
                "unknown-key",
                name="networks",
            )
    for scale, block in top.scales.items():
        path = ("scales", scale, "nads")
        mistakes.unknown(path, block.nads, top.architectures, "architecture")
    mistakes.end()
    by_scale = {}
    for name in [top.scale, *(name for name in top.scales if name != top.scale)]:
        scale = _Scale(mistakes, document, top, specifications, inputs, name)
        by_scale[name] = scale.plans(questions)
    mistakes.end()
    return by_scale


@dataclasses.dataclass(frozen=True)
class _Scale:
    """One scale of a document whose top level and names are correct.

    A method returns None for a value that has a mistake.
    """

    mistakes: Mistakes
    document: Block
    top: Document
    specifications: dict[str, networks.Specification]
    inputs: dict[str, Shape]
    name: str

    def plans(self, questions: dict[str, Experiment]) -> Plans:
        """Return the plans of the scale."""
        by_name = {}
        for name, experiment in questions.items():
            by_name[name] = self._plan(experiment)
        size = self._size_of_images(questions, by_name)
        requests = {}
        for name, source in self.sources.items():
            requests[name] = Request(self.specifications[name], source)
        return Plans(
            SizedImageSettings(**vars(self.top.images), size=size),
            self.top.device,
            self.top.engine,
            NADsPlan(self.name, self.top.seed, self.top.estimator, requests),
            by_name,
        )

    @functools.cached_property
    def sources(self) -> dict[str, Source | None]:
        """Return the sources of the scale's NADs, by architecture."""
        sources = {}
        for name, values in self.top.scales[self.name].nads.items():
            # In the file, a number by itself is the number of networks.
            if not isinstance(values, dict):
                values = {"networks": values}
            values = {"input": self.inputs[name]} | values
            path = ("scales", self.name, "nads", name)
            sources[name] = self.mistakes.typed(Source, values, path)
        return sources

    def _size_of_images(
        self, questions: dict[str, Experiment], by_name: dict[str, Plan | None]
    ) -> Size:
        """Return the height and width of the networks that are trained on images."""
        sizes = {}
        for name, plan in by_name.items():
            if plan is not None and questions[name].needs_images:
                for architecture, member in plan.members.items():
                    size = member.input[1:]
                    sizes[size] = f"{as_text(size)} pixels ({architecture} in {name})"
        if len(sizes) > 1:
            self.mistakes.add(
                ("scales", self.name),
                ": all networks that a scale trains on images need the same input "
                f"size, not {' and '.join(sizes.values())}; give them the same `input`",
                "conflict",
                sizes=list(sizes),
            )
        return next(iter(sizes), SIZE)

    def _plan(self, experiment: Experiment) -> Plan | None:
        """Return one experiment's plan."""
        name = experiment.name
        path = ("scales", self.name, name)
        layers = (path, (name,))
        scale = self.document["scales"][self.name]
        merged = merge(self.document.get(name) or {}, scale.get(name) or {})
        block = self.mistakes.typed(block_model(experiment), merged, *layers)
        if block is None:
            return None
        if name in scale and not block.networks:
            self.mistakes.add(
                (*path, "networks"),
                ": name at least one architecture, or leave the experiment out of the "
                "scale",
                "missing-key",
            )
        members = {}
        for architecture in block.networks:
            line = (*path, "networks", architecture)
            members[architecture] = self._member(experiment, line, block)
        if None in members.values():
            return None
        holder = self.top if experiment.at_top_level else block
        values = {}
        for key in keys_of(experiment.Settings):
            values[key] = getattr(holder, key)
            if isinstance(values[key], dict):
                values[key] = self._by_architecture(name, key, values[key], members)
        return Plan(
            name,
            self.name,
            tuple(range(self.top.seed, self.top.seed + block.seeds)),
            block.train_samples,
            block.test_samples,
            experiment.Settings(**values),
            members,
        )

    def _by_architecture(
        self,
        experiment: str,
        key: str,
        values: Block,
        members: dict[str, Member],
    ) -> Block:
        """Return a setting's value for each network that is trained."""
        known = [*self.top.architectures, "default"]
        unknown = self.mistakes.unknown((experiment, key), values, known)
        chosen = {}
        lacking = []
        for name in members:
            chosen[name] = values.get(name, values.get("default"))
            if chosen[name] is None:
                lacking.append(name)
        if lacking and not unknown:
            self.mistakes.add(
                (experiment,),
                f": {key} has neither a default nor a value for "
                f"{', '.join(lacking)}; set one",
                "missing-key",
                name=key,
                architectures=lacking,
            )
        return chosen

    def _member(
        self, experiment: Experiment, path: Path, block: Sizes
    ) -> Member | None:
        """Return one architecture's part of an experiment.

        Args:
            experiment: The experiment.
            path: The place of the architecture's line in the experiment's block.
            block: This block.
        """
        name = path[-1]
        mistakes = self.mistakes
        known = self.top.architectures
        if mistakes.unknown(path[:-1], [name], known, "architecture"):
            return None
        line = block.networks[name] or {}
        known = [*keys_of(experiment.Grid), *training_keys(), "seeds"]
        if mistakes.unknown(path, line, known):
            return None
        grid = self._grid(experiment, path, line)
        training = self._training(experiment, path, line, block)
        seeds = mistakes.typed(PositiveInt | None, line.get("seeds"), (*path, "seeds"))
        if seeds is not None and seeds > block.seeds:
            mistakes.add(
                (*path, "seeds"),
                f": seeds is {seeds}, but the experiment has {block.seeds}; raise the "
                "experiment's seeds",
                "conflict",
                seeds=seeds,
                limit=block.seeds,
            )
        if grid is None or training is None:
            return None
        source = self.sources.get(name)
        estimands = ()
        if experiment.needs_nads and source is not None:
            estimators = source.estimators(self.top.estimator)
            estimands = tuple(estimator.estimand for estimator in estimators)
        return Member(
            self.specifications[name],
            training,
            grid,
            estimands,
            seeds,
            self.inputs[name],
        )

    def _grid(self, experiment: Experiment, path: Path, line: Block) -> typing.Any:
        """Return the grid of a line, checked against the network's inputs and NADs."""
        name = path[-1]
        shape = self.inputs[name]
        if shape[0] not in experiment.supported_channels:
            supported = " or ".join(map(str, experiment.supported_channels))
            noun = "channel" if supported == "1" else "channels"
            self.mistakes.add(
                path,
                f": its input is {as_text(shape)}, and the experiment needs {supported}"
                f" {noun}; set the architecture's `input`, or name another one",
                "conflict",
                input=shape,
            )
        if experiment.needs_nads and name not in self.sources:
            self.mistakes.add(
                path,
                f": it has no NADs at this scale; name it in scales.{self.name}.nads",
                "missing-key",
                name=f"scales.{self.name}.nads",
            )
        values = {}
        for key in keys_of(experiment.Grid):
            if key in line:
                values[key] = expand_ranges(line[key])
        grid = self.mistakes.typed(experiment.Grid, values, path)
        if grid is None:
            return None
        source = self.sources.get(name)
        try:
            count = grid.count_nads(shape)
            if experiment.needs_nads and source is not None:
                source.check(count - 1, shape)
        except ValueError as error:
            self.mistakes.add(path, f": {error}")
        return grid

    def _training(
        self,
        experiment: Experiment,
        path: Path,
        line: Block,
        block: Sizes,
    ) -> Training | None:
        """Return the hyperparameters of a line's network."""
        own = (experiment.name, "training")
        of_scale = (*path[:3], "training")
        if "precision" in block.training:
            self.mistakes.add(
                own,
                ": set precision at the top level, for all networks",
                "unknown-key",
                name="precision",
            )
        values = {"schedule": experiment.schedule} | block.training
        for key in training_keys():
            if key in line:
                values[key] = line[key]
        values["precision"] = self.top.precision
        return self.mistakes.typed(Training, values, path, of_scale, own)
