"""Stage `plan`: params.yaml, checked at every scale -> data/plan/, what every other stage is asked for; prints what will run.

The only reader of params.yaml. images.json, nads.json, {experiment}.json: the images, the NADs and the grids of the chosen scale;
machine.json: where they are made. With digests of what is the user's own, to which .own/ holds links, by which DVC sees edits of it.
What is wrong in params.yaml, at whichever scale, ends it here with a sentence for each mistake.
"""

import dataclasses
import functools
from collections.abc import Iterator

import torch

from pipeline import experiments, networks, settings
from pipeline.grid.experiment import Experiment, Member
from pipeline.grid.forecast import COLUMNS, Forecast, forecast
from pipeline.machine import closure, store, workers
from pipeline.machine.disk import check_room
from pipeline.machine.notes import DRY_RUNS, RATES, Notes
from pipeline.machine.rates import speed
from pipeline.nads import imported
from pipeline.networks import Specification
from pipeline.networks.dry_run import DryRun, dry_run
from pipeline.project import artifacts, command
from pipeline.project.errors import InputError, one_sentence
from pipeline.settings import Plans, own

CIFAR10_CLASSES = 10
"""Outputs with which a network is tried where the images decide how many there are: they may not be here yet."""

Use = tuple[str, tuple[int, ...], int]
"""An architecture, the shape (C, H, W) of the inputs that it is given, and how many outputs it has."""


def use_of(name: str, member: Member, experiment: Experiment) -> Use:
    """How an experiment uses an architecture."""
    return name, (experiment.channels, *member.input), experiment.outputs or CIFAR10_CLASSES


def uses(plans: Plans) -> Iterator[tuple[Specification, Use]]:
    """How one scale uses every architecture, with its specification."""
    for name, request in plans.nads.members.items():
        if request.source.file is None:
            yield request.specification, (name, request.source.input, 1)
    for plan in plans.experiments.values():
        for name, member in plan.members.items():
            yield member.specification, use_of(name, member, experiments.find(plan.experiment))


def key_of(specification: Specification, use: Use) -> str:
    """The digest of all that decides a dry run.

    Raises InputError where the network's code cannot be read, since what is trained and estimated is kept by it too.
    """
    try:
        return store.digest([specification, *use[1:], closure.digest(dry_run, specification["network"])])
    except Exception as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"the code of {specification['network']} cannot be read, by which its results are kept: {reason}"
        ) from None


def tried(scales: dict[str, Plans]) -> dict[Use, DryRun]:
    """Every network as each scale uses it, tried once; raises InputError with a sentence for each that cannot be built or run.

    What an earlier plan tried by the same code is not tried again.
    """
    found, sentences, kept, new = {}, {}, Notes(store.default_folder(), DRY_RUNS), {}
    for plans in scales.values():
        for specification, use in uses(plans):
            name, shape, outputs = use
            if use in found or name in sentences:
                continue
            key, unreadable = None, None
            try:
                key = key_of(specification, use)
            except InputError as error:
                unreadable = error
            if key is not None and (noted := kept.get(key)):
                found[use] = DryRun(*noted)
                continue
            try:
                found[use] = new[key] = dry_run(specification, shape, outputs)
                if unreadable:
                    raise unreadable
            except InputError as error:
                sentences[name] = f"params.yaml: architectures.{name}: {error}"
    kept.add((key, dataclasses.astuple(run)) for key, run in new.items() if key is not None)
    if sentences:
        raise InputError("\n".join(sentences.values()))
    return found


def check_networks(scales: dict[str, Plans]) -> None:
    """Raise InputError, with a sentence for each, unless networks that can be built are such as their experiments need."""
    sentences = []
    for scale, plans in scales.items():
        for name, plan in plans.experiments.items():
            try:
                experiments.find(name).check_networks(plan, networks.symmetry)
            except ValueError as error:
                sentences.append(f"params.yaml: scales.{scale}.{name}: {error}")
    if sentences:
        raise InputError("\n".join(sentences))


def check_files(plans: Plans) -> None:
    """Raise InputError, with a sentence for each, unless the files of NADs that the chosen scale names can be used."""
    sentences = []
    for name, request in plans.nads.members.items():
        if request.source.file is not None:
            try:
                imported(artifacts.nad_file(request.source.file), request.source.input, request.source.file)
            except InputError as error:
                sentences.append(f"params.yaml: scales.{plans.nads.scale}.nads.{name}: {error}")
    if sentences:
        raise InputError("\n".join(sentences))


def forecasts(plans: Plans, runs: dict[Use, DryRun], device: torch.device) -> dict[str, Forecast]:
    """What each experiment takes, by name."""
    rates, measured = Notes(store.default_folder(), RATES), functools.cache(speed)
    found = {}
    for name, plan in plans.experiments.items():
        experiment = experiments.find(name)
        mine = {a: runs[use_of(a, member, experiment)] for a, member in plan.members.items()}
        fast = functools.partial(measured, device, plan.precision)
        found[name] = forecast(experiment, plan, plans.machine.reuse, device, mine, rates, fast)
    return found


def main() -> None:
    """Check params.yaml, say what it asks for, and write that where the disk has room for it."""
    torch.set_num_threads(1)
    scales = settings.plans(settings.read())
    plans = next(iter(scales.values()))
    device, scale = workers.device_of(plans.machine.device), plans.nads.scale
    runs = tried(scales)
    check_networks(scales)
    check_files(plans)
    for name in plans.experiments:
        # Here, since DVC removes what a stage made before it runs it again: what `dvc pull` fetched needs no training.
        store.Store(store.default_folder()).adopt(artifacts.MODELS / name)
    found = forecasts(plans, runs, device)
    total = sum(found.values(), Forecast())
    print(f"params.yaml is sound; scale {scale} on {workers.place(device)}, as far as earlier runs or sizes tell:")
    for name, *row in [("", *COLUMNS), *((name, *one.row()) for name, one in found.items()), ("all", *total.row())]:
        print("{:14s}{:>8s}{:>8s}{:>15s}{:>14s}{:>10s}{:>10s}".format(name, *row))
    check_room(total.left, f"scale {scale}")
    plans = own.with_digests(plans)
    own.link(own.files(plans))
    artifacts.fresh(artifacts.PLAN)
    for name, plan in {
        "images": plans.images,
        "machine": plans.machine,
        "nads": plans.nads,
        **plans.experiments,
    }.items():
        artifacts.write_json(artifacts.PLAN / f"{name}.json", dataclasses.asdict(plan))


if __name__ == "__main__":
    with one_sentence():
        command.no_arguments(__doc__, "plan")
        main()
