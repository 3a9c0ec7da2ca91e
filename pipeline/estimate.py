"""Stage `estimate`: the NADs of every architecture that the scale uses -> data/nads/{architecture}.npz.

With `estimator.compare`, those of the other estimand too -> data/nads/{architecture}.{estimand}.npz. A run that was
killed goes on near where it stopped, more networks go on from those that were done, and of two at once each does a part.
"""

import dataclasses
import sys
from collections.abc import Iterator

import numpy as np
import psutil
import threadpoolctl
import torch

from pipeline import networks
from pipeline.machine import store, workers
from pipeline.nads import Estimation, NADs, imported, progress
from pipeline.nads.estimation import accumulator
from pipeline.nads.jacobian import check
from pipeline.nads.plan import NADsPlan
from pipeline.nads.readout import usable, vectors_of
from pipeline.project import artifacts, command
from pipeline.project.errors import InputError, check_unchanged, one_sentence

WORKER = 600e6
"""Bytes that one worker process takes besides its share of the estimate: torch, a network and one batch."""


def tasks_of(name: str, plan: NADsPlan, device: torch.device) -> Iterator[progress.Task]:
    """The estimates of one architecture: by the plan's estimator, and of the other estimand where both are compared."""
    specification, source = plan.members[name].specification, plan.members[name].source
    free = psutil.virtual_memory().available - WORKER * (workers.cores() if device.type == "cpu" else 1)
    network = networks.build(specification, source.input[0], 1, plan.seed)
    check(network, source.input)
    estimators = {name: plan.estimator}
    if plan.estimator.compare and source.first is None:
        # Its networks are others, their seeds being derived from its name: what is compared shares no sampling error.
        estimators[f"{name}.{plan.estimator.other().estimand}"] = plan.estimator.other()
    for full_name, estimator in estimators.items():
        estimator, reason = usable(network, estimator, source.input)
        if reason and full_name == name:
            print(f"notice: {name}: {reason}; its NADs use `plain`, which needs far more networks", file=sys.stderr)
        symmetry = networks.symmetry(specification) if estimator.symmetry else "none"
        vectors = vectors_of(network, estimator, source.input)
        empty = accumulator(source.input, vectors, source.networks, source.first, symmetry, free)
        recipe = progress.Recipe(specification, source.input, (plan.seed, full_name), estimator, str(device))
        sums = store.Sums(store.default_folder(), progress.key(recipe, empty))
        yield progress.Task(full_name, recipe, Estimation(empty, source.networks, source.error), sums)


def metrics_of(nads: NADs) -> dict[str, float | None]:
    """What `dvc metrics` shows of one estimate: rounded numbers, None for those that are not known."""
    rounded = lambda number, digits: float(f"{number:.{digits}g}") if np.isfinite(number) else None
    return {
        # Not "error", by which DVC tells a file of metrics that cannot be read.
        "relative_error": rounded(nads.error, 3),
        "split_half": rounded(nads.split_half, 3),
        "networks": nads.networks,
        "first_singular_value": rounded(np.sqrt(nads.eigenvalues[0]), 4),
        "overlap_of_first_10": rounded(nads.overlap[min(9, len(nads.overlap) - 1)], 3),
    }


def main() -> None:
    """Estimate or import, and write the NADs, architecture by architecture."""
    plan, machine = NADsPlan.read(artifacts.planned("nads")), workers.Machine(**artifacts.planned("machine"))
    device, made_elsewhere, tasks, metrics = workers.device_of(machine.device), {}, [], {}
    for name, request in plan.members.items():
        try:
            if (file := request.source.file) is not None:
                made_elsewhere[name] = imported(artifacts.nad_file(file), request.source.input, file)
            else:
                tasks += tasks_of(name, plan, device)
        except InputError as error:
            raise InputError(f"nads.{name}: {error}") from None
    # The code of which the keys were made is what is run: that was imported between the start of this process and now.
    check_unchanged()
    folder = artifacts.fresh(artifacts.NADS)
    for name, nads in made_elsewhere.items():
        np.savez(folder / f"{name}.npz", **dataclasses.asdict(nads))
        print(f"{name}: {len(nads.directions)} NADs from {plan.members[name].source.file}")
    for task, nads in progress.finished(tasks, device, machine.reuse):
        np.savez(folder / f"{task.name}.npz", **dataclasses.asdict(nads))
        metrics[task.name] = metrics_of(nads)
        print(
            f"{task.name}: NADs ({nads.estimand}) from {nads.networks} networks, averaged over {nads.symmetry}, "
            f"relative error of C {nads.error:.3f}, first singular value {np.sqrt(nads.eigenvalues[0]):.4g}; "
            f"{task.minutes:.1f} min"
        )
    # In the tasks' order: those that another run had under way have come later.
    artifacts.write_json(artifacts.REPORTS / "nads.json", {task.name: metrics[task.name] for task in tasks})


if __name__ == "__main__":
    # One thread each for the decompositions too: the cores are the workers', and no bit may depend on their number.
    with one_sentence(), threadpoolctl.threadpool_limits(1):
        command.no_arguments(__doc__, "estimate")
        main()
