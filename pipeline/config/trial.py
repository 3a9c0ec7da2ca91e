"""A trial of the networks and NADs of one scale, before any work is done with them."""

import dataclasses
import math
import sys

from pipeline import experiments
from pipeline.config import Plans
from pipeline.experiments.plan import CLASSES, Member
from pipeline.nads import from_file
from pipeline.networks import own, registry
from pipeline.networks.dry_run import dry_run
from pipeline.project.errors import InputError, notice, prefix_errors
from pipeline.training.shapes import Shape


@dataclasses.dataclass
class Use:
    """What an architecture is used for at a scale.

    Attributes:
        specification: The network and its arguments.
        inputs: Shapes (C, H, W) of its inputs, each with the number of outputs.
        steps: Number of steps of its shortest training.
    """

    specification: registry.Specification
    inputs: set[tuple[Shape, int]] = dataclasses.field(default_factory=set)
    steps: float = math.inf


def try_out(plans: Plans) -> None:
    """Try every network of a scale, and add the digests of own/ to the plans that use
    it.

    Raises:
        InputError: For a network that cannot be built or run or that does not suit its
            experiment, and for a file without usable NADs.
    """
    loaded = set(sys.modules)
    files = own.digests()
    for name, use in _uses(plans).items():
        with prefix_errors(f"params.yaml: architectures.{name}: ", ValueError):
            _try_network(use)
    own.check_imports(loaded)
    place = f"params.yaml: scales.{plans.nads.scale}"
    for name, plan in plans.experiments.items():
        for architecture, member in plan.members.items():
            if not _grid_suits_network(member):
                raise InputError(
                    f"{place}.{name}: {architecture} has transposes: false, but its "
                    "class declares no symmetry under transposition, or its inputs are "
                    "not square; set transposes: true",
                    "conflict",
                    place=f"{place}.{name}",
                    name=architecture,
                )
            used = files if registry.reads_own(member.specification) else {}
            plan.members[architecture] = dataclasses.replace(member, own=used)
    for name, request in plans.nads.members.items():
        file = request.source.file
        if file is not None:
            with prefix_errors(f"{place}.nads.{name}: ", ValueError):
                from_file(file, request.source.input)
                used = own.digest_of(file, files)
        else:
            used = files if registry.reads_own(request.specification) else {}
        plans.nads.members[name] = dataclasses.replace(request, own=used)


def _grid_suits_network(member: Member) -> bool:
    """Return whether a grid without transposes is of a network that does not tell them
    apart."""
    if getattr(member.grid, "transposes", True):
        return True
    symmetry = registry.symmetry_of_inputs(member.specification, member.input)
    return symmetry.square in ("transposition", "square")


def _uses(plans: Plans) -> dict[str, Use]:
    """Return the uses of every architecture."""
    uses = {}
    for name, request in plans.nads.members.items():
        if request.source.file is None:
            use = uses.setdefault(name, Use(request.specification))
            use.inputs.add((tuple(request.source.input), 1))
    for plan in plans.experiments.values():
        experiment = experiments.find(plan.experiment)
        for name, member in plan.members.items():
            use = uses.setdefault(name, Use(member.specification))
            shape = experiment.inputs(member.input)
            use.inputs.add((shape, experiment.outputs or CLASSES))
            use.steps = min(use.steps, member.count_steps(plan.train_samples))
    return uses


def _try_network(use: Use) -> None:
    """Try a network on all its inputs, and print notices."""
    inputs = sorted(use.inputs)
    if not registry.is_custom(use.specification["network"]):
        # A network of the table that runs with four channels also runs with one.
        inputs = {shape[1:]: (shape, outputs) for shape, outputs in inputs}.values()
    notices = []
    with own.record_reads() as paths:
        for shape, outputs in inputs:
            notices += dry_run(use.specification, shape, outputs, use.steps)
    if registry.reads_own(use.specification):
        notices += own.find_reads_elsewhere(use.specification["network"], paths)
    for text in dict.fromkeys(notices):
        notice(text)
