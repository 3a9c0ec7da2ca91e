"""Stage `train EXPERIMENT`: every network of the grid -> models/{experiment}/.

One {cell}.safetensors per cell, training.csv with the last epoch's loss and accuracy and the steps until the training set was
learned, losses.csv with every epoch's loss, grid.json with what the networks are.
Finished cells come from the store; a run that was killed goes on where it stopped.
"""

import collections
import functools
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import torch
from tqdm import tqdm

from pipeline import experiments
from pipeline.grid import jobs as grid_jobs
from pipeline.grid.data import Data
from pipeline.grid.experiment import Experiment, Plan
from pipeline.grid.jobs import Job
from pipeline.grid.order import early_first
from pipeline.machine import store, workers
from pipeline.machine.claims import Claims
from pipeline.machine.notes import RATES, Notes
from pipeline.project import artifacts, command
from pipeline.project.errors import InputError, check_unchanged, one_sentence
from pipeline.training import memory


def results(
    due: list[Job], mine: Callable[[Job], bool], samples: int, data: Data, device: torch.device
) -> Iterator[tuple[Job, Exception | float]]:
    """Yields each cell that this run trains and keeps, with the seconds that it took or why it failed.

    mine: asked of a cell just before its turn, whether this run trains it; samples: of each cell's training set.
    """
    make_data = functools.partial(Data, data.experiment)
    if device.type in grid_jobs.TOGETHER:
        free = workers.room(memory.free, device) if due else 0
        groups = grid_jobs.groups(due, data.experiment.channels, data.outputs, samples, free)
        left = ([(position, job) for position, job in group if mine(job)] for group in groups)
        for position, result in workers.run_together(grid_jobs.train_together, filter(None, left), make_data):
            yield due[position], result
    else:
        taken = []

        def one_by_one():
            for job in filter(mine, due):
                taken.append(job)
                yield job

        for position, result in workers.run(grid_jobs.train_one, one_by_one(), make_data, device):
            yield taken[position], result


def train(
    due: list[Job], samples: int, data: Data, device: torch.device, bar: tqdm, kept: store.Store, reuse: bool
) -> tuple[list[dict[str, str]], list[tuple[Job, float]]]:
    """Train and keep the cells that are due; returns a row, cell and reason, for each that failed, and the others' seconds.

    Cells that another run is training are left to it, and waited for when there is nothing else to do; reuse: whether what it
    keeps of them will do. samples: of each cell's training set. Raises Unwritable at the first cell that the store cannot take:
    it would take none of the others.
    """
    failures, seconds, others, reused = [], [], [], bar.n
    with Claims(kept.folder) as claims:

        def mine(job):
            if not claims.take(job.key):
                others.append(job)
            elif reuse and kept.holds(job.key):
                claims.release(job.key)
                bar.update()
            else:
                return True
            return False

        while due:
            for job, result in results(due, mine, samples, data, device):
                claims.release(job.key)
                if isinstance(result, store.Unwritable):
                    raise result
                if isinstance(result, Exception):
                    cell = artifacts.cell_name(job.cell, data.experiment.coordinates)
                    failures.append({"cell": cell, "reason": f"{type(result).__name__}: {result}"})
                    bar.set_postfix(reused=reused, failed=len(failures))
                else:
                    seconds.append((job, result))
                bar.update()
            if len(others) == len(due):
                # Only here, with no cell in hand that the other run could be waiting for.
                claims.wait(others[0].key)
            due = others.copy()
            others.clear()
    return failures, seconds


def note(seconds: list[tuple[Job, float]], plan: Plan, experiment: Experiment, rates: Notes) -> None:
    """Keep how long a sample of each network took, for the forecasts of `plan`."""
    found = collections.defaultdict(list)
    for job, taken in seconds:
        kind = grid_jobs.kind(plan.members[job.cell["architecture"]], experiment.channels, job.device)
        found[kind].append(taken / (plan.train_samples * job.training.epochs))
    rates.add((kind, statistics.median(each)) for kind, each in found.items())


def write(
    folder: Path,
    plan: Plan,
    experiment: Experiment,
    jobs: list[Job],
    outcomes: dict[str, dict | None],
    kept: store.Store,
) -> None:
    """Lay out models/{experiment}/ from the store; outcomes: of the jobs, by their keys."""
    rows, losses = [], []
    for job in jobs:
        cell = job.cell
        if (outcome := outcomes[job.key]) is None:
            raise InputError(f"{kept.path(job.key)} was removed or damaged after it was trained; run train again")
        kept.lay_down(job.key, folder / f"{artifacts.cell_name(cell, experiment.coordinates)}.safetensors")
        place = {name: cell[name] for name in ("architecture", "seed", *experiment.coordinates)}
        rows.append(place | {"loss": outcome["losses"][-1], "accuracy": outcome["accuracy"], "steps": outcome["steps"]})
        losses += [place | {"epoch": epoch, "loss": round(loss, 6)} for epoch, loss in enumerate(outcome["losses"], 1)]
    pd.DataFrame(rows).to_csv(folder / "training.csv", index=False)
    pd.DataFrame(losses).to_csv(folder / "losses.csv", index=False)
    specifications = {name: member.specification for name, member in plan.members.items()}
    sizes = {"scale": plan.scale, "seeds": len(plan.seeds), "precision": plan.precision}
    artifacts.write_json(folder / artifacts.GRID, sizes | {"architectures": specifications})


def main(name: str) -> None:
    """Train what the store does not hold, then lay out models/{name}/."""
    experiment, machine = experiments.find(name), workers.Machine(**artifacts.planned("machine"))
    plan = Plan.read(experiment, artifacts.planned(name))
    device, folder = workers.device_of(machine.device), store.default_folder()
    kept = store.Store(folder)
    cells = artifacts.cells(name, planned=experiment.cells(plan))
    data = Data(experiment)
    data.check(cells)
    jobs = list(grid_jobs.of_cells(plan, data, cells, device, str(folder)))
    # The code of which the keys were made is what is run: that was imported between the start of this process and now.
    check_unchanged()
    outcomes = {job.key: kept.get(job.key) for job in jobs} if machine.reuse else {}
    in_order = (jobs[position] for position in early_first(cells, experiment.coordinates))
    due = [job for job in in_order if outcomes.get(job.key) is None]
    if machine.reuse:
        for job in due:
            kept.drop(
                job.key
            )  # if it is there, it is damaged, and shall not be taken for what another run has finished since
    started, reused = time.monotonic(), len(jobs) - len(due)
    with tqdm(desc=f"train {name}", total=len(jobs), initial=reused, unit="cell", disable=None) as bar:
        bar.set_postfix(reused=reused, failed=0)
        failures, seconds = train(due, plan.train_samples, data, device, bar, kept, machine.reuse)
    note(seconds, plan, experiment, Notes(folder, RATES))
    minutes, trained = (time.monotonic() - started) / 60, len(seconds)
    reused = len(jobs) - trained - len(failures)
    print(
        f"{name}: {trained} cells trained, {reused} reused, {len(failures)} failed; {minutes:.1f} min"
        + (f", {trained / minutes:.1f} models per minute" if trained else "")
        + f" on {workers.place(device)}"
    )
    models = artifacts.fresh(artifacts.MODELS / name)
    if failures:
        pd.DataFrame(failures).to_csv(models / "failed.csv", index=False)
        raise InputError(
            f"{len(failures)} of {len(jobs)} cells of {name} failed (the others are kept and not trained again; "
            f"{models}/failed.csv has this list): "
            + "; ".join(f"{failure['cell']}: {failure['reason']}" for failure in failures)
        )
    outcomes |= {job.key: kept.get(job.key) for job in due}
    write(models, plan, experiment, jobs, outcomes, kept)


if __name__ == "__main__":
    with one_sentence():
        main(command.experiment(__doc__, "train", experiments.names()))
