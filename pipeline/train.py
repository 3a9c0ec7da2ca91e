"""Stage `train EXPERIMENT`: train every network of the experiment's grid.

Writes to models/{experiment}/: {cell}.safetensors, a cell's weights or outputs;
training.csv, the last epoch's loss and accuracy and the steps until the training set
was learned; losses.csv, every epoch's loss; plan.json, a copy of the plan.
Finished cells are cached, so a killed run resumes.
"""

import time
from collections import defaultdict
from statistics import fmean

from pipeline import experiments
from pipeline.experiments.plan import Plan
from pipeline.grid import run
from pipeline.grid.data import Data, count_samples
from pipeline.grid.forecast import add_rates
from pipeline.grid.jobs import of_cells, rate_key
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
    outcomes = {job.key: store.get(job.key) for job in jobs}
    missing = [job for job in jobs if outcomes[job.key] is None]
    started = time.monotonic()

    def count_finished() -> int:
        return sum(store.holds(job.key) for job in missing)

    with progress(f"train {name}", len(missing), count_finished):
        trained, failed = run.train(missing, data, device, store, machine["engine"])
    minutes = (time.monotonic() - started) / 60
    samples_per_epoch = count_samples(plan)["train"]
    seconds_per_sample = defaultdict(list)
    for job, seconds in trained:
        member = plan.members[job.cell["architecture"]]
        key = rate_key(experiment, member, device, machine["engine"])
        samples = samples_per_epoch * job.training.epochs
        seconds_per_sample[key].append(seconds / samples)
    add_rates({key: fmean(values) for key, values in seconds_per_sample.items()})
    reused = len(jobs) - len(trained) - len(failed)
    counts = f"{len(trained)} cells trained, {reused} reused, {len(failed)} failed"
    speed = f", {len(trained) / minutes:.1f} models per minute" if trained else ""
    where = workers.device_name(device)
    print(f"{name}: {counts}; {minutes:.1f} min{speed} on {where}")
    if failed:
        raise InputError(
            run.describe_failures(experiment, failed, len(jobs)),
            "failed-jobs",
            failed=len(failed),
            count=len(jobs),
            errors=[error for _, error in failed],
        )
    outcomes |= {job.key: store.get(job.key) for job in missing}
    with artifacts.output(artifacts.MODELS / name) as folder:
        run.write_models(folder, plan, jobs, outcomes, store)


if __name__ == "__main__":
    with one_sentence():
        main(command.read_experiment(__doc__, "train", experiments.names()))
