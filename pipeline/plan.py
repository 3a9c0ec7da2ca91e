"""Stage `plan`: params.yaml, checked at every scale -> data/plan/, what every other stage is asked for; prints what will run.

The only reader of params.yaml. images.json, nads.json, {experiment}.json: the images, the NADs and the grids of the chosen scale;
machine.json: where they are made. What is wrong in params.yaml, at whichever scale, ends it here with a sentence for each mistake.
"""

import dataclasses

import torch

from pipeline import experiments, settings
from pipeline.grid import jobs as grid_jobs
from pipeline.grid.data import Data
from pipeline.grid.experiment import Experiment, Plan
from pipeline.machine import store, workers
from pipeline.machine.rates import Rates, speed
from pipeline.nads import imported
from pipeline.networks.dry_run import DryRun, dry_run
from pipeline.project import artifacts, command
from pipeline.project.errors import InputError, one_sentence
from pipeline.project.shapes import SIDE
from pipeline.settings import Plans

CIFAR10_CLASSES = 10
"""Outputs with which a network is tried where the images decide how many there are: they may not be here yet."""


def shape_of(experiment: Experiment) -> tuple[int, int, int]:
    """The shape of an experiment's inputs."""
    return experiment.channels, SIDE, SIDE


Use = tuple[str, tuple[int, int, int]]
"""An architecture and the shape of the inputs that it is given."""


def tried(scales: dict[str, Plans]) -> dict[Use, DryRun]:
    """Every network as each scale uses it, tried once; raises InputError where one cannot be built or run."""
    found = {}

    def add(name, specification, shape, outputs):
        if (name, shape, outputs) not in uses:
            uses.add((name, shape, outputs))
            try:
                found[name, shape] = dry_run(specification, shape, outputs)
            except InputError as error:
                raise InputError(f"architectures.{name}: {error}") from None

    uses = set()
    for plans in scales.values():
        for name, request in plans.nads.members.items():
            if request.source.file is None:
                add(name, request.specification, request.source.input, 1)
        for plan in plans.experiments.values():
            experiment = experiments.find(plan.experiment)
            for name, member in plan.members.items():
                add(name, member.specification, shape_of(experiment), experiment.outputs or CIFAR10_CLASSES)
    return found


def check_files(plans: Plans) -> None:
    """Raise InputError unless the files of NADs that the chosen scale names can be used."""
    for name, request in plans.nads.members.items():
        if request.source.file is not None:
            try:
                imported(artifacts.nad_file(request.source.file), request.source.input, request.source.file)
            except InputError as error:
                raise InputError(f"nads.{name}: {error}") from None


def stored(plan: Plan, cells: list, device: str) -> set[int]:
    """Positions of the cells that the store holds already, as far as the data on disk let them be told."""
    experiment, kept = experiments.find(plan.experiment), store.Store(store.default_folder())
    try:
        data = Data(experiment)
        known = [n for n, cell in enumerate(cells) if all(name in data.vectors for name in experiment.uses(cell))]
        jobs = grid_jobs.of_cells(plan, data, [cells[n] for n in known], workers.device_of(device), "")
        return {n for n, job in zip(known, jobs) if kept.get(job.key) is not None}
    except InputError:
        return set()  # no data have been generated yet


def forecast(plans: Plans, runs: dict[Use, DryRun]) -> list[list[str]]:
    """Per experiment: its cells, how many of them are in the store, the minutes that the others take, and their disk space."""
    rates, rows, operations = Rates(store.default_folder()), [], speed()
    for name, plan in plans.experiments.items():
        experiment = experiments.find(name)
        cells = experiment.cells(plan)
        kept = stored(plan, cells, plans.machine.device)
        seconds, size = 0.0, 0
        for architecture, member in plan.members.items():
            mine = {n for n, cell in enumerate(cells) if cell["architecture"] == architecture}
            run = runs[architecture, shape_of(experiment)]
            each = rates.get(grid_jobs.kind(member, experiment.channels)) or run.operations / operations
            seconds += len(mine - kept) * plan.train_samples * member.training.epochs * each
            size += len(mine) * run.size
        rows.append(
            [name, f"{len(cells):,}", f"{len(kept):,}", duration(seconds / workers.cores()), f"{size / 1e9:,.2f}"]
        )
    return rows


def duration(seconds: float) -> str:
    """A time that is known roughly, in the unit that suits it."""
    for limit, unit, length in ((5400, "min", 60), (48 * 3600, "h", 3600), (float("inf"), "days", 86400)):
        if seconds < limit:
            return f"{seconds / length:,.1f} {unit}"
    raise ValueError(f"{seconds} seconds are no time")


def main() -> None:
    """Check params.yaml, write what it asks for, and say what that is."""
    torch.set_num_threads(1)
    scales = settings.plans(settings.read())
    plans = next(iter(scales.values()))
    runs = tried(scales)
    check_files(plans)
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
