"""The work that an experiment's grid asks for: networks, cached networks, minutes."""

import collections
import dataclasses
import json
import math
from pathlib import Path

import pandas as pd
import torch

from pipeline import networks
from pipeline.experiments.experiment import Experiment
from pipeline.experiments.plan import Member, Plan
from pipeline.grid import jobs
from pipeline.grid.data import Data, count_samples
from pipeline.machine import store, workers
from pipeline.project import artifacts
from pipeline.training.loop import BATCH
from pipeline.training.shapes import INPUT

STEPS = Path(__file__).with_name("steps.csv")
"""Milliseconds of training steps, measured on one `GPU` with torch 2.11."""

GPU = "NVIDIA H200"
"""The name of the GPU of steps.csv."""


def forecast(
    experiment: Experiment, plan: Plan, device: torch.device, engine: str = "eager"
) -> dict[str, float]:
    """Forecast an experiment's grid: one row of the table that `plan` prints.

    Args:
        experiment: The experiment.
        plan: Its plan.
        device: Result of `workers.find_device`.
        engine: How a GPU trains networks, 'eager' or 'recorded'.

    Returns:
        A dict with three entries:

        - networks: Number of networks in the grid.
        - cached: Number of networks in the cache.
        - minutes left: Minutes until all networks are trained. NaN until each
          architecture with networks left was trained once on this machine, except for
          those of steps.csv on the GPU where they were measured.
    """
    cells = experiment.cells(plan)
    cached = _count_cached(experiment, plan, device, engine)
    measured = rates()
    samples = count_samples(plan)["train"]
    seconds = 0.0
    for architecture, member in plan.members.items():
        planned = sum(cell["architecture"] == architecture for cell in cells)
        left = planned - cached[architecture]
        if left:
            rate = measured.get(jobs.rate_key(experiment, member, device, engine))
            if rate is None:
                known = workers.device_name(device) == GPU
                rate = read_rate(member, engine) if known else math.nan
            seconds += left * samples * member.training.epochs * rate
    # On a GPU, a rate is that of one network's share.
    minutes = seconds / workers.count_slots(device) / 60
    return {"networks": len(cells), "cached": cached.total(), "minutes left": minutes}


def read_rate(member: Member, engine: str) -> float:
    """Return the seconds of a training sample on the GPU of steps.csv.

    The table has the milliseconds of a step of 128 samples, of one network at a time,
    as `python -m benchmarks.device` measures them.

    Args:
        member: The architecture and its precision.
        engine: 'eager' or 'recorded'.

    Returns:
        The seconds; NaN for networks, inputs and batches that the table lacks.
    """
    if member.training.batch_size != BATCH or member.input != INPUT:
        return math.nan
    names = {place: name for name, place in networks.NETWORKS.items()}
    arguments = dict(member.specification)
    words = [names.get(arguments.pop("network"), "")]
    words += [f"{name}={value}" for name, value in arguments.items()]
    steps = pd.read_csv(STEPS).set_index(["network", "precision"])[engine]
    milliseconds = steps.get((" ".join(words), member.training.precision), math.nan)
    return milliseconds / 1000 / BATCH


def _count_cached(
    experiment: Experiment, plan: Plan, device: torch.device, engine: str
) -> collections.Counter[str]:
    """The number of networks in the store, by architecture."""
    finished = store.Store(store.default_folder())
    data = Data(experiment)
    generated = _find_generated_seeds(plan)
    # The key of a network is known only once its data are on disk.
    at_hand = [
        cell
        for cell in experiment.cells(plan)
        if cell["seed"] in generated
        and data.vectors.keys() >= set(experiment.direction_names(cell))
    ]
    cached = collections.Counter()
    for job in jobs.of_cells(plan, data, at_hand, device, engine):
        if finished.holds(job.key):
            cached[job.cell["architecture"]] += 1
    return cached


def _find_generated_seeds(plan: Plan) -> list[int]:
    """Return the seeds whose base noise on disk is that of the plan.

    Its cells, networks and hyperparameters may be others. Settings by architecture are
    left out: each cell has its own.
    """
    path = artifacts.DATASETS / plan.experiment / "plan.json"
    if not path.exists():
        return []
    kept = json.loads(path.read_text(encoding="utf-8"))
    planned = json.loads(json.dumps(dataclasses.asdict(plan)))
    decisive = []
    for document in (kept, planned):
        settings = {
            key: value
            for key, value in document["settings"].items()
            if not isinstance(value, dict)
        }
        samples = document["train_samples"], document["test_samples"]
        decisive.append((settings, samples))
    return kept["seeds"] if decisive[0] == decisive[1] else []


def rates() -> dict[str, float]:
    """Seconds per training sample, by `pipeline.grid.jobs.rate_key`.

    They are of one core, or of the GPU, in runs on this machine.
    """
    path = store.default_folder() / "rates.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def add_rates(new: dict[str, float]) -> None:
    """Add new rates, which replace earlier ones of the same key."""
    text = json.dumps(rates() | new)
    path = store.default_folder() / "rates.json"
    store.atomically(path, lambda file: file.write_text(text, encoding="utf-8"))
