"""Stage `plan`: params.yaml, checked at every scale -> data/plan/; prints what will run.

The only reader of params.yaml. images.json, nads.json, {experiment}.json: the images, the NADs and
the grids of the chosen scale, with the digests of what is a person's own; machine.json: where they
are made. What is wrong, at whichever scale, ends it here with a sentence for each mistake.
"""

import collections
import contextlib
import dataclasses
import datetime
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import torch

from pipeline import experiments, networks, settings
from pipeline.grid.forecast import forecast
from pipeline.images.wanted import VARIABLE
from pipeline.machine import store, workers
from pipeline.machine.disk import check_room
from pipeline.nads import from_file
from pipeline.networks import own
from pipeline.networks.dry_run import dry_run
from pipeline.project import artifacts, command
from pipeline.project.errors import InputError, one_sentence
from pipeline.settings import Plans

CLASSES = 10
"""Outputs of a network where the images decide how many there are: they may not be here yet."""


@contextlib.contextmanager
def of(where: str) -> Iterator[None]:
    """Context in which a mistake is said to be one of a place in params.yaml."""
    try:
        yield
    except (InputError, ValueError) as error:
        raise InputError(f"params.yaml: {where}: {error}") from None


def tried(scales: dict[str, Plans]) -> tuple[dict[str, int], dict[str, dict[str, str]]]:
    """The bytes of every architecture's weights, and the digests of the own files that decide it.

    Each is tried in all its uses, at every scale. Raises InputError for one that cannot be built or
    run.
    """
    specifications, uses, sizes, files = {}, collections.defaultdict(set), {}, {}
    for plans in scales.values():
        for name, request in plans.nads.members.items():
            if request.source.file is None:
                specifications[name] = request.specification
                uses[name].add((tuple(request.source.input), 1))
        for plan in plans.experiments.values():
            experiment = experiments.find(plan.experiment)
            for name, member in plan.members.items():
                shape = (experiment.channels, *member.input)
                specifications[name] = member.specification
                uses[name].add((shape, experiment.outputs or CLASSES))
    for name, specification in specifications.items():
        asked, recorded = sorted(uses[name]), own.recorded()
        if specification["network"] in networks.NETWORKS.values():
            # What it does with four channels, one of the table does with one.
            asked = {shape[1:]: (shape, outputs) for shape, outputs in asked}.values()
            recorded = contextlib.nullcontext({})
        with of(f"architectures.{name}"), recorded as files[name]:
            runs = [dry_run(specification, *use) for use in asked]
        sizes[name] = max(run.size for run in runs)
        for notice in dict.fromkeys(notice for run in runs for notice in run.notices):
            print(f"notice: {notice}", file=sys.stderr)
    return sizes, files


def check(scales: dict[str, Plans], files: dict[str, dict[str, str]]) -> None:
    """Give the chosen scale's plans the digests of all that is a person's own.

    Raises InputError for a network that its experiment cannot take, or NADs that cannot be used.
    """
    for scale, plans in scales.items():
        for name, plan in plans.experiments.items():
            with of(f"scales.{scale}.{name}"):
                experiments.find(name).check_networks(plan, networks.symmetry)
    plans = next(iter(scales.values()))
    for name, request in plans.nads.members.items():
        digests = files.get(name)
        if (file := request.source.file) is not None:
            with of(f"scales.{plans.nads.scale}.nads.{name}"):
                from_file(file, request.source.input)  # which refuses what holds no such NADs
                digests = own.digests([file])
        plans.nads.members[name] = dataclasses.replace(request, own=digests)
    for plan in plans.experiments.values():
        for name, member in plan.members.items():
            plan.members[name] = dataclasses.replace(member, own=files[name])


def notice_of_other_images() -> None:
    """Say where data/images holds others than the variable CIFAR10 names, unseen by DVC."""
    path, made = os.environ.get(VARIABLE), artifacts.REPORTS / "images.json"
    if path and artifacts.IMAGES.exists() and made.exists():
        source = json.loads(made.read_text(encoding="utf-8"))["source"]
        if Path(path).resolve().name not in source:
            print(
                f"notice: data/images holds images from {source}, not from {path}; "
                "`dvc repro --force --single-item download && dvc repro` takes these",
                file=sys.stderr,
            )


def main() -> None:
    """Check params.yaml, say what it asks for, and write that where the disk has room for it."""
    torch.set_num_threads(1)
    digest, scales = artifacts.params_digest(), settings.plans(settings.read())
    plans = next(iter(scales.values()))
    device, scale = workers.device_of(plans.machine.device), plans.nads.scale
    sizes, files = tried(scales)
    check(scales, files)
    if plans.images.path is None:
        notice_of_other_images()
    rows = {}
    for name, plan in plans.experiments.items():
        # Here, since DVC removes what a stage made before it runs it again: what `dvc pull` fetched
        # needs no training.
        store.Store(store.default_folder()).adopt(artifacts.MODELS / name)
        rows[name] = forecast(experiments.find(name), plan, plans.machine.reuse, device, sizes)
    table = pd.DataFrame(rows).T
    table.loc["all"] = table.sum(skipna=False)
    print(f"params.yaml is sound; scale {scale} on {workers.place(device)}:")
    formats = dict.fromkeys(table.columns, "{:,.0f}".format) | {
        "time left": lambda seconds: str(datetime.timedelta(seconds=round(seconds))),
        "GB to write": "{:,.2f}".format,
    }
    print(table.to_string(formatters=formats, na_rep="unknown"))
    check_room(round(1e9 * table.loc["all", "GB to write"]), f"scale {scale}")
    documents = {"images": plans.images, "machine": plans.machine, "nads": plans.nads}
    with artifacts.output(artifacts.PLAN, sealed=False) as folder:
        for name, plan in (documents | plans.experiments).items():
            artifacts.write_json(folder / f"{name}.json", dataclasses.asdict(plan))
        (folder / "params.sha256").write_text(digest)


if __name__ == "__main__":
    with one_sentence():
        command.no_arguments(__doc__, "plan")
        main()
