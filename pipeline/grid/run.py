"""The training of the cells that the store does not hold, beside other runs on the same
store."""

import itertools
from collections.abc import Iterable, Iterator

import pandas as pd
import torch
from tqdm import tqdm

from pipeline import networks
from pipeline.experiments.experiment import shape_of
from pipeline.grid.data import Data
from pipeline.grid.jobs import Job, train_group
from pipeline.machine import workers
from pipeline.machine.claims import Claims
from pipeline.machine.store import Store
from pipeline.training.shapes import dimension

# Networks in one stack on a GPU at most, and bytes of their training sets (choice,
# unmeasured).
STACK = 64
STACK_BYTES = 16e9


def train(
    jobs: list[Job], samples: int, data: Data, device: torch.device, store: Store
) -> tuple[list[tuple[Job, float]], list[tuple[Job, Exception]]]:
    """Train and store the cells of `jobs`, in their order, that the store does not
    hold.

    Cells that another run is training are left to it, and waited for at the end.
    samples: of each training set. Returns the jobs trained here with their seconds, and
    the failed jobs with their exceptions.
    """
    trained = []
    failed = []
    left = list(jobs)
    make_data = data.recipe()
    bar = tqdm(
        desc=f"train {data.experiment.name}", total=len(jobs), unit="cell", disable=None
    )
    with Claims(store.folder) as claims, bar:
        while left:
            claimed_elsewhere = []

            def claimed():
                for job in left:  # noqa: B023
                    if not claims.take(job.key):
                        claimed_elsewhere.append(job)  # noqa: B023
                    elif store.holds(job.key):
                        claims.release(job.key)
                        bar.update()
                    else:
                        yield job

            work = grouped(claimed(), samples, data, device)
            for group, results in workers.run(train_group, work, make_data, device):
                if isinstance(results, Exception):
                    results = [results] * len(group)
                for job, result in zip(group, results, strict=True):
                    if isinstance(result, Exception):
                        failed.append((job, result))
                    else:
                        store.put(job.key, result.tensors, vars(result.outcome))
                        trained.append((job, result.seconds))
                    claims.release(job.key)
                    bar.update()
            if len(claimed_elsewhere) == len(left):
                # This run has no claims now, so the other run cannot be waiting for
                # this one.
                claims.wait(claimed_elsewhere[0].key)
            left = claimed_elsewhere
    return trained, failed


def grouped(
    jobs: Iterable[Job], samples: int, data: Data, device: torch.device
) -> Iterator[list[Job]]:
    """The jobs in groups that are trained at once: single jobs, or stacks on a GPU."""
    if device.type == "cpu" or data.experiment.needs_courses:
        yield from ([job] for job in jobs)
        return

    def alike(job):
        return (job.specification, job.training, shape_of(job.cell))

    for (specification, _, shape), similar in itertools.groupby(jobs, alike):
        size = 1
        if (
            getattr(networks.constructor(specification["network"]), "together", None)
            == "stack"
        ):
            each = 4 * samples * dimension(data.experiment.inputs(shape))
            size = max(1, min(STACK, int(STACK_BYTES // each)))
        while group := list(itertools.islice(similar, size)):
            yield group


def tables(
    jobs: list[Job], outcomes: dict[str, dict], coordinates: tuple[str, ...]
) -> dict[str, pd.DataFrame]:
    """training.csv, the last epoch of each cell, and losses.csv, the loss of every
    epoch.

    outcomes: the `Outcome` of each cell as a dict, by key.
    """
    keys = ["architecture", "seed", *coordinates]
    cells = pd.DataFrame([job.cell | outcomes[job.key] for job in jobs])
    cells["loss"] = cells["losses"].str[-1]
    epochs = cells[[*keys, "losses"]].explode("losses")
    epochs["epoch"] = epochs.groupby(level=0).cumcount() + 1
    epochs["loss"] = [round(loss, 6) for loss in epochs.pop("losses")]
    return {"training": cells[[*keys, "loss", "accuracy", "steps"]], "losses": epochs}
