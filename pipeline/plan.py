"""Stage `plan`: params.yaml, checked at every scale -> data/plan/, what every other stage is asked for; prints what will run.

The only reader of params.yaml. images.json, nads.json, {experiment}.json: the images, the NADs and the grids of the chosen scale;
machine.json: where they are made. With digests of what is the user's own, to which .own/ holds links, by which DVC sees edits of it.
What is wrong in params.yaml, at whichever scale, ends it here with a sentence for each mistake.
"""

import contextlib
import dataclasses
from collections.abc import Iterator

import torch

from pipeline import experiments, settings
from pipeline.grid import jobs as grid_jobs
from pipeline.grid.data import Data
from pipeline.grid.experiment import Experiment, Member, Plan
from pipeline.machine import closure, store, workers
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


def stored(plan: Plan, cells: list, device: str) -> set[int]:
    """Positions of the cells that the store holds already, as far as the data tell that an earlier plan left on disk."""
    experiment, kept, found = experiments.find(plan.experiment), store.Store(store.default_folder()), set()
    data = Data(experiment)
    for seed in plan.seeds:
        with contextlib.suppress(InputError):  # no data of this seed have been generated yet
            if artifacts.drawn(plan.experiment, seed) != drawn(plan):
                continue
            mine = [
                n
                for n, cell in enumerate(cells)
                if cell["seed"] == seed and all(name in data.vectors for name in experiment.uses(cell))
            ]
            jobs = grid_jobs.of_cells(plan, data, [cells[n] for n in mine], workers.device_of(device), "")
            found |= {n for n, job in zip(mine, jobs) if kept.holds(job.key)}
    return found


def drawn(plan: Plan) -> int:
    """Training samples that a draw will hold: as many as are asked for, or all pictures where there are fewer."""
    about = artifacts.about_pictures(plan.experiment)
    return min(plan.train_samples, about["train"]) if about else plan.train_samples


def at_once(device: str) -> int:
    """Networks that train at the same time: one on each core; a GPU's rates are of each network's share of it."""
    return 1 if device != "cpu" and torch.cuda.is_available() else workers.cores()


def forecast(plans: Plans, runs: dict[Use, DryRun]) -> list[list[str]]:
    """Per experiment: its cells, how many of them are in the store, the minutes that the others take, and their disk space."""
    rates, rows, operations = Notes(store.default_folder(), RATES), [], speed()
    for name, plan in plans.experiments.items():
        experiment = experiments.find(name)
        cells = experiment.cells(plan)
        kept = stored(plan, cells, plans.machine.device)
        seconds, size = 0.0, 0
        for architecture, member in plan.members.items():
            mine = {n for n, cell in enumerate(cells) if cell["architecture"] == architecture}
            run = runs[use_of(architecture, member, experiment)]
            each = rates.get(grid_jobs.kind(member, experiment.channels)) or run.operations / operations
            due = mine - kept if plans.machine.reuse else mine
            seconds += len(due) * plan.train_samples * member.training.epochs * each
            size += len(mine) * run.size
        left = duration(seconds / at_once(plans.machine.device))
        rows.append([name, f"{len(cells):,}", f"{len(kept):,}", left, f"{size / 1e9:,.2f}"])
    return rows


def duration(seconds: float) -> str:
    """A time that is known roughly, in the unit that suits it."""
    unit, length = ("min", 60) if seconds < 5400 else ("h", 3600) if seconds < 48 * 3600 else ("days", 86400)
    return f"{seconds / length:,.1f} {unit}"


def main() -> None:
    """Check params.yaml, write what it asks for, and say what that is."""
    torch.set_num_threads(1)
    scales = settings.plans(settings.read())
    plans = next(iter(scales.values()))
    workers.device_of(plans.machine.device)
    runs = tried(scales)
    check_files(plans)
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
    rows = forecast(plans, runs)
    print(
        f"params.yaml is sound; scale {plans.nads.scale} on {workers.cores()} cores, as far as earlier runs or sizes tell:"
    )
    for row in [["", "cells", "stored", "time left", "GB"], *rows]:
        print("{:14s}{:>8s}{:>8s}{:>14s}{:>8s}".format(*row))


if __name__ == "__main__":
    with one_sentence():
        command.no_arguments(__doc__, "plan")
        main()
