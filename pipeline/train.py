"""Stage `train EXPERIMENT`: train every network of the experiment's grid.

Writes to models/{experiment}/: {cell}.safetensors, a cell's weights or outputs;
training.csv, the last epoch's loss and accuracy and the steps until the training set
was learned; losses.csv, every epoch's loss; grid.json, the networks' specifications.
Finished cells are cached, so a killed run resumes.
"""

import time
from collections import defaultdict
from pathlib import Path
from statistics import fmean

from pipeline import experiments
from pipeline.experiments.experiment import Experiment
from pipeline.experiments.plan import Plan
from pipeline.grid import run
from pipeline.grid.data import Data
from pipeline.grid.forecast import add_rates
from pipeline.grid.jobs import Job, of_cells, rate_key
from pipeline.machine import workers
from pipeline.machine.store import Store, default_folder
from pipeline.project import artifacts, command
from pipeline.project.errors import InputError, one_sentence
from pipeline.project.progress import progress


def main(name: str) -> None:
    """Train what the cache lacks, then lay out models/{name}/."""
    experiment = experiments.find(name)
    plan = Plan.read(experiment)
    machine = artifacts.read_plan("machine", dict)
    device = workers.find_device(machine["device"])
    data = Data(experiment)
    store = Store(default_folder())
    cells = data.cells(plan)
    jobs = list(of_cells(plan, data, cells, device, machine["engine"]))
    missing = [job for job in jobs if store.get(job.key) is None]
    started = time.monotonic()

    def count_finished() -> int:
        return sum(store.holds(job.key) for job in missing)

    with progress(f"train {name}", len(missing), count_finished):
        trained, failed = run.train(missing, data, device, store, machine["engine"])
    minutes = (time.monotonic() - started) / 60
    seconds_per_sample = defaultdict(list)
    for job, seconds in trained:
        member = plan.members[job.cell["architecture"]]
        key = rate_key(experiment, member, device, machine["engine"])
        samples = plan.train_samples * job.training.epochs
        seconds_per_sample[key].append(seconds / samples)
    add_rates({key: fmean(values) for key, values in seconds_per_sample.items()})
    reused = len(jobs) - len(trained) - len(failed)
    counts = f"{len(trained)} cells trained, {reused} reused, {len(failed)} failed"
    speed = f", {len(trained) / minutes:.1f} models per minute" if trained else ""
    where = workers.device_name(device)
    print(f"{name}: {counts}; {minutes:.1f} min{speed} on {where}")
    if failed:
        raise InputError(
            failures(experiment, failed, len(jobs)),
            "failed-jobs",
            failed=len(failed),
            count=len(jobs),
            errors=[error for _, error in failed],
        )
    with artifacts.output(artifacts.MODELS / name) as models:
        lay_out(models, experiment, plan, jobs, store)


def failures(
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


def lay_out(
    folder: Path, experiment: Experiment, plan: Plan, jobs: list[Job], store: Store
) -> None:
    """Write the outputs of the stage.

    Args:
        folder: Where they are written.
        experiment: The experiment.
        plan: Its plan.
        jobs: The jobs of all cells, all of which are in the cache.
        store: The cache.
    """
    for job in jobs:
        cell = artifacts.cell_name(job.cell, experiment.coordinates)
        store.link_to(job.key, folder / f"{cell}.safetensors")
    outcomes = {job.key: store.get(job.key) for job in jobs}
    for name, table in run.tables(jobs, outcomes, experiment.coordinates).items():
        table.to_csv(folder / f"{name}.csv", index=False)
    specifications = {
        name: member.specification for name, member in plan.members.items()
    }
    grid = {
        "scale": plan.scale,
        "seeds": len(plan.seeds),
        "precision": plan.precision,
        "architectures": specifications,
    }
    artifacts.write_json(folder / "grid.json", grid)


if __name__ == "__main__":
    with one_sentence():
        main(command.read_experiment(__doc__, "train", experiments.names()))
