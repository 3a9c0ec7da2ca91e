"""What an experiment's grid takes, told before it is trained."""

import contextlib
import math

import torch

from pipeline.cells.shapes import dimension
from pipeline.experiments.experiment import Cell, Experiment
from pipeline.experiments.plan import Plan
from pipeline.grid import jobs as grid_jobs
from pipeline.grid.data import Data
from pipeline.machine import store, workers
from pipeline.machine.notes import RATES, Notes
from pipeline.project import artifacts
from pipeline.project.errors import InputError

FLOAT = 4
"""Bytes of a float32, of which draws and outputs are made at most."""


def forecast(
    experiment: Experiment, plan: Plan, reuse: bool, device: torch.device, sizes: dict[str, int]
) -> dict[str, float]:
    """What an experiment's grid takes, by the columns of the table that `plan` prints.

    Its cells, and those that the store holds; samples that go through a network in training, each
    epoch anew; seconds until the other cells are trained, NaN until networks of their kinds have
    been trained on this machine; gigabytes to be written.
    reuse: whether cells in the store count as done; sizes: bytes of every architecture's weights.
    """
    cells, rates = experiment.cells(plan), Notes(store.default_folder(), RATES)
    done = stored(experiment, plan, cells, device)
    passes, seconds, left = 0, 0.0, undrawn(experiment, plan)
    # On a CPU one network trains on each core; a GPU's rates are of each network's share of it.
    at_once = workers.cores() if device.type == "cpu" else 1
    outputs = plan.test_samples * (1 + len(experiment.parts)) * (experiment.outputs or 10) * FLOAT
    for architecture, member in plan.members.items():
        all_of_it = {n for n, cell in enumerate(cells) if cell["architecture"] == architecture}
        due = all_of_it - done if reuse else all_of_it
        each = plan.train_samples * member.training.epochs
        passes += len(all_of_it) * each
        rate = rates.get(grid_jobs.kind(member, experiment.channels, device.type)) or math.nan
        seconds += len(due) * each * rate / at_once if due else 0.0
        # Weights where a later stage needs them, else what they make of the test sets.
        left += len(due) * (sizes[architecture] if experiment.needs_networks else outputs)
    return {
        "cells": len(cells),
        "stored": len(done),
        "sample passes": passes,
        "time left": seconds,
        "GB to write": left / 1e9,
    }


def stored(experiment: Experiment, plan: Plan, cells: list[Cell], device: torch.device) -> set[int]:
    """Positions of the cells that the store holds, as far as data on disk tell their keys."""
    finished, data = store.Store(store.default_folder()), Data(experiment)
    seeds = {seed for seed in plan.seeds if drawn(plan, seed)}
    known = [
        n
        for n, cell in enumerate(cells)
        if cell["seed"] in seeds and all(v in data.vectors for v in experiment.uses(cell))
    ]
    jobs = grid_jobs.of_cells(plan, data, [cells[n] for n in known], device)
    return {n for n, job in zip(known, jobs) if finished.holds(job.key)}


def drawn(plan: Plan, seed: int) -> bool:
    """Whether a seed's draw is on disk, of as many samples as are asked for or as there are."""
    about = artifacts.about_pictures(plan.experiment)
    count = min(plan.train_samples, about["train"]) if about else plan.train_samples
    with contextlib.suppress(InputError):
        return len(artifacts.labels(plan.experiment, seed, "train")) == count
    return False


def undrawn(experiment: Experiment, plan: Plan) -> int:
    """Bytes of the draws that are not on disk yet, as if all their numbers were float32."""
    missing = sum(not drawn(plan, seed) for seed in plan.seeds)
    values = sum(map(dimension, plan.inputs)) * experiment.channels
    return missing * (plan.train_samples + plan.test_samples) * values * FLOAT
