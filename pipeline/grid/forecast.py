"""The work that an experiment's grid asks for: networks, cached networks, minutes."""

import collections
import json
import math

import torch

from pipeline.experiments.experiment import Experiment
from pipeline.experiments.plan import Plan
from pipeline.grid import jobs
from pipeline.grid.data import Data
from pipeline.machine import store, workers
from pipeline.project import artifacts


def forecast(
    experiment: Experiment, plan: Plan, device: torch.device
) -> dict[str, float]:
    """Forecast an experiment's grid: one row of the table that `plan` prints.

    Returns:
        networks: the number of networks in the grid. cached: the number of networks in
        the store. minutes left: minutes until all networks are trained, NaN until each
        architecture
            with networks left has been trained once on this machine.
    """
    cells = experiment.cells(plan)
    cached = _count_cached(experiment, plan, device)
    measured = rates()
    seconds = 0.0
    for architecture, member in plan.members.items():
        planned = sum(cell["architecture"] == architecture for cell in cells)
        left = planned - cached[architecture]
        if left:
            key = jobs.rate_key(experiment, member, device)
            samples = plan.train_samples * member.training.epochs
            seconds += left * samples * measured.get(key, math.nan)
    # On a GPU, a rate is that of one network's share.
    minutes = seconds / workers.slots(device) / 60
    return {"networks": len(cells), "cached": cached.total(), "minutes left": minutes}


def _count_cached(
    experiment: Experiment, plan: Plan, device: torch.device
) -> collections.Counter[str]:
    """The number of networks in the store, by architecture."""
    finished = store.Store(store.default_folder())
    data = Data(experiment)
    drawn = [seed for seed in plan.seeds if _is_drawn(plan, seed)]
    # The key of a network is known only once its data are on disk.
    at_hand = []
    for cell in experiment.cells(plan):
        if cell["seed"] in drawn:
            if data.digests["directions"].keys() >= set(
                experiment.direction_names(cell)
            ):
                at_hand.append(cell)
    cached = collections.Counter()
    for job in jobs.of_cells(plan, data, at_hand, device):
        if finished.holds(job.key):
            cached[job.cell["architecture"]] += 1
    return cached


def _is_drawn(plan: Plan, seed: int) -> bool:
    """Whether a seed's draw is on disk, with the planned numbers of samples."""
    wanted = {"train": plan.train_samples, "test": plan.test_samples}
    images = artifacts.read_about_pictures(plan.experiment) or wanted
    draw = artifacts.read_base_noise(plan.experiment, seed)
    for split, count in wanted.items():
        # There can be fewer images than planned.
        if len(draw.get(f"{split}_labels", ())) != min(count, images[split]):
            return False
    return True


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
