"""What one experiment's grid takes, told before it is trained: cells, sample passes, time, and room on the disk."""

import contextlib
import dataclasses
from collections.abc import Callable

import torch

from pipeline.grid import jobs as grid_jobs
from pipeline.grid.data import Data
from pipeline.grid.experiment import Cell, Experiment, Plan
from pipeline.machine import store, workers
from pipeline.machine.notes import Notes
from pipeline.networks.dry_run import DryRun
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.project.shapes import dimension

FLOAT = 4
"""Bytes of a float32, of which draws are made at most."""

CLASSES = 10
"""Classes of the images where they are not here yet: CIFAR-10's."""


@dataclasses.dataclass(frozen=True)
class Forecast:
    """What a grid takes; two of them add up.

    cells: networks; stored: how many of them the store holds; passes: samples that go through a network in training, each epoch
    anew, of all cells; seconds: of training those that are due, on this machine; size: bytes of what is kept of all cells;
    left: bytes that are still to be written, draws of the data included.
    """

    cells: int = 0
    stored: int = 0
    passes: int = 0
    seconds: float = 0.0
    size: int = 0
    left: int = 0

    def __add__(self, other: "Forecast") -> "Forecast":
        return Forecast(*map(sum, zip(dataclasses.astuple(self), dataclasses.astuple(other))))

    def row(self) -> list[str]:
        """The forecast as the cells of a table with the columns `COLUMNS`."""
        numbers = [f"{number:,}" for number in (self.cells, self.stored, self.passes)]
        return [*numbers, duration(self.seconds), f"{self.size / 1e9:,.2f}", f"{self.left / 1e9:,.2f}"]


COLUMNS = ("cells", "stored", "sample passes", "time left", "GB", "to write")


def forecast(
    experiment: Experiment,
    plan: Plan,
    reuse: bool,
    device: torch.device,
    runs: dict[str, DryRun],
    rates: Notes,
    speed: Callable[[], float],
) -> Forecast:
    """What an experiment's grid takes.

    reuse: whether cells in the store count as done; runs: of every architecture's network; rates: `RATES` of earlier runs; speed:
    gives the operations of a forward pass that the machine trains on in a second, for networks without a rate.
    """
    cells = experiment.cells(plan)
    kept = stored(experiment, plan, cells, device)
    found = Forecast(len(cells), len(kept), left=undrawn(experiment, plan))
    for architecture, member in plan.members.items():
        mine = {n for n, cell in enumerate(cells) if cell["architecture"] == architecture}
        due, run = mine - kept if reuse else mine, runs[architecture]
        each = rates.get(grid_jobs.kind(member, experiment.channels, device.type)) or run.operations / speed()
        passes = plan.train_samples * member.training.epochs
        found += Forecast(
            passes=len(mine) * passes,
            seconds=len(due) * passes * each / at_once(device),
            size=len(mine) * kept_of(experiment, plan, run),
            left=len(due) * kept_of(experiment, plan, run),
        )
    return found


def kept_of(experiment: Experiment, plan: Plan, run: DryRun) -> int:
    """Bytes of what is kept of a cell: its weights, or what it makes of its test sets, of which there is one for all parts
    of the inputs and one for each part (and seldom more).
    """
    if experiment.needs_networks:
        return run.size
    return plan.test_samples * (1 + len(experiment.parts)) * (experiment.outputs or CLASSES) * FLOAT


def stored(experiment: Experiment, plan: Plan, cells: list[Cell], device: torch.device) -> set[int]:
    """Positions of the cells that the store holds already, as far as the data tell that an earlier plan left on disk."""
    kept, found, data = store.Store(store.default_folder()), set(), Data(experiment)
    for seed in plan.seeds:
        with contextlib.suppress(InputError):  # no data of this seed have been generated yet
            if artifacts.drawn(plan.experiment, seed) != drawn(plan):
                continue
            mine = [
                n
                for n, cell in enumerate(cells)
                if cell["seed"] == seed and all(name in data.vectors for name in experiment.uses(cell))
            ]
            jobs = grid_jobs.of_cells(plan, data, [cells[n] for n in mine], device, "")
            found |= {n for n, job in zip(mine, jobs) if kept.holds(job.key)}
    return found


def drawn(plan: Plan) -> int:
    """Training samples that a draw will hold: as many as are asked for, or all pictures where there are fewer."""
    about = artifacts.about_pictures(plan.experiment)
    return min(plan.train_samples, about["train"]) if about else plan.train_samples


def undrawn(experiment: Experiment, plan: Plan) -> int:
    """Bytes of the draws that are not on disk yet, as if all their numbers were float32 (pictures take a quarter)."""
    missing = 0
    for seed in plan.seeds:
        try:
            missing += artifacts.drawn(plan.experiment, seed) != drawn(plan)
        except InputError:
            missing += 1
    values = sum(map(dimension, plan.inputs)) * experiment.channels
    return missing * (plan.train_samples + plan.test_samples) * values * FLOAT


def at_once(device: torch.device) -> int:
    """Networks that train at the same time: one on each core; a GPU's rates are of each network's share of it."""
    return workers.cores() if device.type == "cpu" else 1


def duration(seconds: float) -> str:
    """A time that is known roughly, in the unit that suits it."""
    unit, length = ("min", 60) if seconds < 5400 else ("h", 3600) if seconds < 48 * 3600 else ("days", 86400)
    return f"{seconds / length:,.1f} {unit}"
