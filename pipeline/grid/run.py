"""The training of the cells that the cache lacks, beside other runs on the same cache,
and the outputs of the stage `train`."""

import functools
from collections.abc import Hashable, Iterator
from pathlib import Path

import pandas as pd
import torch
from tqdm import tqdm

from pipeline import experiments
from pipeline.experiments.experiment import Experiment, shape_of
from pipeline.experiments.plan import Plan
from pipeline.grid.data import Data
from pipeline.grid.jobs import (
    CellTraining,
    Job,
    Result,
    make_training_set,
    train_cell,
)
from pipeline.machine import lanes, workers
from pipeline.machine.claims import Claims
from pipeline.machine.store import Store
from pipeline.project import artifacts


class Queue:
    """Jobs that wait for a worker, of which other runs may take some."""

    def __init__(
        self, jobs: list[Job], claims: Claims, store: Store, bar: tqdm
    ) -> None:
        """Make the queue.

        Args:
            jobs: The jobs, in their order.
            claims: The claims of this run.
            store: The cache.
            bar: Counts finished jobs.
        """
        self.waiting = list(reversed(jobs))
        self.claims = claims
        self.store = store
        self.bar = bar
        self.elsewhere: list[Job] = []
        """Jobs that other runs have claimed."""

    def take(self) -> Job | None:
        """Claim the next job that no other run does and the cache lacks."""
        while self.waiting:
            job = self.waiting.pop()
            if not self.claims.take(job.key):
                self.elsewhere.append(job)
            elif self.store.holds(job.key):
                self.finish(job)
            else:
                return job
        return None

    def finish(self, job: Job) -> None:
        """Give up the claim on a job that was done, here or by another run."""
        self.claims.release(job.key)
        self.bar.update()


def train(
    jobs: list[Job],
    data: Data,
    device: torch.device,
    store: Store,
    engine: str = "eager",
) -> tuple[list[tuple[Job, float]], list[tuple[Job, Exception]]]:
    """Train and cache the cells that the cache lacks.

    A cell that another run is training is left to that run, and waited for at the end.

    Args:
        jobs: The cells' jobs, trained in this order.
        data: The experiment's data sets.
        device: Result of `workers.find_device`.
        store: The cache.
        engine: How a GPU trains them, 'eager' or 'recorded'.

    Returns:
        The jobs trained here with their seconds, and the failed jobs with their
        exceptions.
    """
    trained = []
    failed = []
    name = data.experiment.name
    bar = tqdm(desc=f"train {name}", total=len(jobs), unit="cell", disable=None)
    with Claims(store.folder) as claims, bar:
        while jobs:
            queue = Queue(jobs, claims, store, bar)
            for job, result in _train_queue(queue, data, device, engine):
                if isinstance(result, Exception):
                    failed.append((job, result))
                else:
                    store.put(job.key, result.tensors, vars(result.outcome))
                    trained.append((job, result.seconds))
                queue.finish(job)
            if len(queue.elsewhere) == len(jobs):
                # This run claims nothing now, so no other run can be waiting for it.
                claims.wait(jobs[0].key)
            jobs = queue.elsewhere
    return trained, failed


def _train_queue(
    queue: Queue, data: Data, device: torch.device, engine: str
) -> Iterator[tuple[Job, Result | Exception]]:
    """Yield every job of a queue with its result, as soon as it has one."""
    jobs = iter(queue.take, None)
    if device.type == "cpu":
        return workers.run(train_cell, jobs, data.recipe(), device)
    start = CellTraining
    at_most = 1
    if engine == "recorded" and lanes.can_record(device):
        start = functools.partial(CellTraining, record=lanes.Recorder())
        at_most = lanes.MAX_LANES
    return lanes.run(
        start, make_training_set, jobs, data.recipe(), _kind, device, at_most
    )


def _kind(job: Job) -> Hashable:
    """What decides how much of a GPU's memory a job takes."""
    return repr((job.specification, job.training, shape_of(job.cell)))


def describe_failures(
    experiment: Experiment, failed: list[tuple[Job, Exception]], count: int
) -> str:
    """Describe the cells that failed.

    Args:
        experiment: The experiment.
        failed: The jobs with their exceptions.
        count: Number of cells in the grid.
    """
    reasons = []
    for job, error in failed:
        cell = artifacts.cell_name(job.cell, experiment.coordinates)
        reasons.append(f"{cell}: {type(error).__name__}: {error}")
    return (
        f"{len(failed)} of {count} cells of {experiment.name} failed; correct this and "
        f"run the stage again (finished cells are cached): {'; '.join(reasons)}"
    )


def write_models(
    folder: Path,
    plan: Plan,
    jobs: list[Job],
    outcomes: dict[str, dict],
    store: Store,
) -> None:
    """Write the outputs of the stage `train`.

    Args:
        folder: Where they are written.
        plan: The plan.
        jobs: The jobs of all cells.
        outcomes: The `Outcome` of each cell as a dict, by key.
        store: The cache, which has all cells.
    """
    coordinates = experiments.find(plan.experiment).coordinates
    for job in jobs:
        cell = artifacts.cell_name(job.cell, coordinates)
        store.link_to(job.key, folder / f"{cell}.safetensors")
    tables = make_training_tables(jobs, outcomes, coordinates)
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    artifacts.keep_plan(plan, folder)


def make_training_tables(
    jobs: list[Job], outcomes: dict[str, dict], coordinates: tuple[str, ...]
) -> dict[str, pd.DataFrame]:
    """Make training.csv, the last epoch of each cell, and losses.csv, the loss of every
    epoch.

    Args:
        jobs: The cells' jobs.
        outcomes: The `Outcome` of each cell as a dict, by key.
        coordinates: Names of the cells' coordinates.
    """
    keys = ["architecture", "seed", *coordinates]
    cells = pd.DataFrame([job.cell | outcomes[job.key] for job in jobs])
    cells["loss"] = cells["losses"].str[-1]
    epochs = cells[[*keys, "losses"]].explode("losses")
    epochs["epoch"] = epochs.groupby(level=0).cumcount() + 1
    epochs["loss"] = [round(loss, 6) for loss in epochs.pop("losses")]
    return {"training": cells[[*keys, "loss", "accuracy", "steps"]], "losses": epochs}
