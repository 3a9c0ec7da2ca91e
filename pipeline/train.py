"""Stage `train EXPERIMENT`: every network of the grid -> models/{experiment}/.

{cell}.safetensors: a cell's weights or outputs; training.csv: the last epoch's loss and
accuracy and the steps until the training set was learned; losses.csv: every epoch's
loss; grid.json: the networks' specifications. Finished cells come from the store, also
after a run that was killed.
"""

import time

from pipeline import experiments
from pipeline.experiments.plan import Plan
from pipeline.grid import run
from pipeline.grid.data import Data
from pipeline.grid.forecast import add_rates
from pipeline.grid.jobs import of_cells, rate_key
from pipeline.machine import workers
from pipeline.machine.store import Store, default_folder
from pipeline.project import artifacts, command
from pipeline.project.errors import InputError, one_sentence


def main(name: str) -> None:
    """Train what the store does not hold, then lay out models/{name}/."""
    experiment = experiments.find(name)
    plan = Plan.read(experiment)
    device = workers.device_of(artifacts.read_plan("machine", dict)["device"])
    data = Data(experiment)
    store = Store(default_folder())
    jobs = list(of_cells(plan, data, data.cells(plan), device))
    outcomes = {job.key: store.get(job.key) for job in jobs}
    missing = [job for job in jobs if outcomes[job.key] is None]
    started = time.monotonic()
    samples = plan.train_samples
    trained, failed = run.train(missing, samples, data, device, store)
    minutes = (time.monotonic() - started) / 60
    rates = {}
    for job, seconds in trained:
        member = plan.members[job.cell["architecture"]]
        rates[rate_key(experiment, member, device)] = seconds / (
            samples * job.training.epochs
        )
    add_rates(rates)
    print(
        f"{name}: {len(trained)} cells trained, {len(jobs) - len(trained) - len(failed)} reused, "
        f"{len(failed)} failed; {minutes:.1f} min"
        + (f", {len(trained) / minutes:.1f} models per minute" if trained else "")
        + f" on {workers.place(device)}"
    )

    def cell_name(job):
        return artifacts.cell_name(job.cell, experiment.coordinates)

    if failed:
        reasons = "; ".join(
            f"{cell_name(job)}: {type(e).__name__}: {e}" for job, e in failed
        )
        raise InputError(
            f"{len(failed)} of {len(jobs)} cells of {name} failed (the others are kept and not "
            f"trained again): {reasons}"
        )
    outcomes |= {job.key: store.get(job.key) for job in missing}
    with artifacts.output(artifacts.MODELS / name) as models:
        for job in jobs:
            store.lay_down(job.key, models / f"{cell_name(job)}.safetensors")
        for table_name, table in run.tables(
            jobs, outcomes, experiment.coordinates
        ).items():
            table.to_csv(models / f"{table_name}.csv", index=False)
        sizes = {
            "scale": plan.scale,
            "seeds": len(plan.seeds),
            "precision": plan.precision,
        }
        specifications = {
            name: member.specification for name, member in plan.members.items()
        }
        artifacts.write_json(
            models / "grid.json", sizes | {"architectures": specifications}
        )


if __name__ == "__main__":
    with one_sentence():
        main(command.read_experiment(__doc__, "train", experiments.names()))
