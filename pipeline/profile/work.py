"""The work of a profile: NADs and trained networks, by the project's own code and
cache."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import torch

from pipeline import experiments
from pipeline.experiments.plan import Plan
from pipeline.grid import evaluation, run
from pipeline.grid.data import DataInMemory
from pipeline.grid.jobs import of_cells
from pipeline.machine.store import Store, default_folder
from pipeline.nads import NADs
from pipeline.nads.estimator import NADsPlan
from pipeline.nads.leading import Leading
from pipeline.nads.task import Task, make_tasks, run_on_workers
from pipeline.profile.response import Response
from pipeline.project.errors import InputError, check_unchanged, prefix_errors
from pipeline.project.progress import progress
from pipeline.training.loop import Diverged


def estimate(
    plan: NADsPlan, device: torch.device
) -> tuple[dict[str, NADs], dict[str, Response]]:
    """Estimate NADs and the response along any direction.

    Args:
        plan: The plan of the NADs.
        device: Where networks are run.

    Returns:
        NADs and responses, each by architecture.
    """
    nads = {}
    responses = {}
    for task in make_tasks(plan, device):
        found, responses[task.name] = _estimate_network(task)
        print(
            f"{task.name}: {len(found.directions):,} NADs ({found.estimand}) from "
            f"{found.networks:,} untrained networks, "
            f"relative error of C {found.error:.2f}"
        )
        nads[task.name] = found
    return nads, responses


def _estimate_network(task: Task) -> tuple[NADs, Response]:
    estimation = task.estimation
    accumulator = estimation.accumulator
    if isinstance(accumulator, Leading):
        # The cache would hold the first NADs, not the response to all others.
        estimation.run(run_on_workers, f"estimate {task.name}")
        nads = estimation.nads()
        rows = accumulator.rows / np.float32(nads.networks**0.5)
    else:
        nads = task.nads()
        rows = np.sqrt(np.maximum(nads.eigenvalues, 0))[:, None] * nads.directions
    return nads, Response(rows, nads.shape)


def train(plan: Plan, nads: Mapping[str, NADs], device: torch.device) -> pd.DataFrame:
    """Train the networks of a plan that are not cached, and test all networks.

    Args:
        plan: A plan of `nad_sweep`.
        nads: NADs by architecture.
        device: Where networks are trained.

    Returns:
        The rows of results.csv, as the stage `evaluate` writes them.

    Raises:
        InputError: If a network diverged.
        Exception: If a training failed otherwise.
    """
    experiment = experiments.find(plan.experiment)
    vectors = experiment.directions(plan, lambda name, estimand: vars(nads[name]))
    data = DataInMemory(experiment, plan, vectors)
    store = Store(default_folder())
    cells = experiment.cells(plan)
    jobs = list(of_cells(plan, data, cells, device))
    check_unchanged()  # the keys are digests of the present files
    missing = [job for job in jobs if store.get(job.key) is None]
    print(f"networks to train: {len(missing)}; cached: {len(jobs) - len(missing)}")

    def count_finished() -> int:
        return sum(store.holds(job.key) for job in missing)

    with progress("train networks", len(missing), count_finished):
        _, failures = run.train(missing, data, device, store)
    for job, error in failures:
        if isinstance(error, Diverged):
            name = job.cell["architecture"]
            message = f"{name}: {error}; set it with --lr"
            raise InputError(message, "not-finite", name=name)
        raise error
    outcomes = {job.key: store.get(job.key) for job in jobs}
    trained = run.make_training_tables(jobs, outcomes, experiment.coordinates)
    evaluated = []
    for job in jobs:
        network = (job.cell, job.specification, str(store.path(job.key)))
        with prefix_errors(f"{job.cell['architecture']}: "):
            rows, _ = evaluation.evaluate_one(device, data, network)
        evaluated.append(rows)
    tables = evaluation.make_result_tables(
        cells, evaluated, trained["training"], experiment
    )
    return tables["results"]
