"""A trial of the networks and NADs of one scale, before any work is done with them."""

import collections
import contextlib
import dataclasses
import math

from pipeline import experiments, networks
from pipeline.cells.training import BATCH
from pipeline.nads import from_file
from pipeline.networks import own
from pipeline.networks.dry_run import dry_run
from pipeline.project.errors import InputError, at, notice
from pipeline.settings import Plans

CLASSES = 10  # outputs where the images, which may not be here yet, decide their number


def try_out(plans: Plans) -> None:
    """Run each architecture's network once, for a trial.

    The plans get the digests of a person's own files that decide their networks and NADs. Raises
    InputError for a network that cannot be built or run, or that does not suit its experiment, and
    for a file without usable NADs.
    """
    digests = _run_networks(plans)
    place = f"params.yaml: scales.{plans.nads.scale}"
    for name, plan in plans.experiments.items():
        for architecture, member in plan.members.items():
            square = networks.symmetry_of_inputs(member.specification, member.input).square
            alike = square in ("transposition", "square")
            if not (alike or getattr(member.grid, "transposes", True)):
                raise InputError(
                    f"{place}.{name}: {architecture} has transposes: false, but its class states "
                    "no symmetry under transposition, or its inputs are not square; train both"
                )
            plan.members[architecture] = dataclasses.replace(member, own=digests[architecture])
    for name, request in plans.nads.members.items():
        own_files = digests.get(name)
        if (file := request.source.file) is not None:
            with at(f"{place}.nads.{name}: ", ValueError):
                from_file(file, request.source.input)
                own_files = own.digests([file])
        plans.nads.members[name] = dataclasses.replace(request, own=own_files)


def _run_networks(plans: Plans) -> dict[str, dict[str, str]]:
    """The digests of each architecture's own files, by path."""
    specifications, uses, digests = {}, collections.defaultdict(set), {}
    steps = collections.defaultdict(lambda: math.inf)  # of each one's shortest training
    for name, request in plans.nads.members.items():
        if request.source.file is None:
            specifications[name] = request.specification
            uses[name].add((tuple(request.source.input), 1))
    for plan in plans.experiments.values():
        experiment = experiments.find(plan.experiment)
        for name, member in plan.members.items():
            shape = experiment.inputs(member.input)
            specifications[name] = member.specification
            uses[name].add((shape, experiment.outputs or CLASSES))
            batches = math.ceil(plan.train_samples / BATCH)
            steps[name] = min(steps[name], member.training.epochs * batches)
    for name, specification in specifications.items():
        distinct, recorded = sorted(uses[name]), own.recorded()
        if specification["network"] in networks.NETWORKS.values():
            # A network of the table that runs with four channels also runs with one.
            distinct = {shape[1:]: (shape, outputs) for shape, outputs in distinct}.values()
            recorded = contextlib.nullcontext({})
        with at(f"params.yaml: architectures.{name}: ", ValueError), recorded as digests[name]:
            runs = [dry_run(specification, *use, steps[name]) for use in distinct]
        for text in dict.fromkeys(text for _, notices in runs for text in notices):
            notice(text)
    return digests
