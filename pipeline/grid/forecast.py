"""The cost of an experiment's grid before it is trained: networks, time, room on the disks."""

import collections
import json
import math
import shutil

import torch

from pipeline.cells.shapes import dimension
from pipeline.experiments.experiment import Experiment
from pipeline.experiments.plan import Plan
from pipeline.grid import jobs
from pipeline.grid.data import Data
from pipeline.machine import store, workers
from pipeline.project import artifacts
from pipeline.project.errors import InputError

FLOAT = 4  # bytes of a float32, the largest type of a draw and of an output


def forecast(
    experiment: Experiment, plan: Plan, device: torch.device, sizes: dict[str, int]
) -> dict[str, float]:
    """The cost of an experiment's grid: one row of the table that `plan` prints.

    networks: its cells; stored: cells in the store; time left: seconds until all cells are trained,
    NaN until each architecture with cells left has been trained once on this machine; GB to write.
    sizes: bytes of each architecture's weights.
    """
    cells, measured = experiment.cells(plan), rates()
    drawn = {seed for seed in plan.seeds if _drawn(plan, seed)}
    finished, data = store.Store(store.default_folder()), Data(experiment)
    at_hand = (  # a cell's key is known only once its data are on disk
        cell
        for cell in cells
        if cell["seed"] in drawn and data.digests["directions"].keys() >= {*experiment.uses(cell)}
    )
    stored = collections.Counter(
        job.cell["architecture"]
        for job in jobs.of_cells(plan, data, at_hand, device)
        if finished.holds(job.key)
    )
    values = sum(dimension(experiment.inputs(shape)) for shape in plan.inputs)
    samples = plan.train_samples + plan.test_samples
    to_write = (len(plan.seeds) - len(drawn)) * samples * values * FLOAT
    outputs = plan.test_samples * (1 + len(experiment.parts)) * (experiment.outputs or 10) * FLOAT
    seconds, slots = 0.0, workers.slots(device)  # on a GPU, a rate is one network's share of it
    for architecture, member in plan.members.items():
        left = sum(cell["architecture"] == architecture for cell in cells) - stored[architecture]
        if left:
            rate = measured.get(jobs.rate_key(experiment, member, device), math.nan)
            seconds += left * plan.train_samples * member.training.epochs * rate / slots
        to_write += left * (sizes[architecture] if experiment.needs_networks else outputs)
    return {
        "networks": len(cells),
        "stored": stored.total(),
        "time left": seconds,
        "GB to write": to_write / 1e9,
    }


def _drawn(plan: Plan, seed: int) -> bool:
    """Whether a seed's draw is on disk with the numbers of samples that the plan can have."""
    wanted = {"train": plan.train_samples, "test": plan.test_samples}
    about = artifacts.about_pictures(plan.experiment) or wanted
    draw = artifacts.draw(plan.experiment, seed)
    return all(
        len(draw.get(f"{split}_labels", ())) == min(count, about[split])
        for split, count in wanted.items()
    )


def rates() -> dict[str, float]:
    """Seconds of one core, or of the GPU, per training sample that runs on this machine measured,
    by `pipeline.grid.jobs.rate_key`."""
    path = store.default_folder() / "rates.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def add_rates(new: dict[str, float]) -> None:
    """Add new rates, which replace earlier ones of the same key."""
    text = json.dumps(rates() | new)
    path = store.default_folder() / "rates.json"
    store.atomically(path, lambda file: file.write_text(text, encoding="utf-8"))


def check_room(size: int, what: str) -> None:
    """Raise InputError unless the disks of models/, of the store and of DVC's cache each have
    `size` bytes free.

    what: the subject of the error's sentence. Where a file system knows no links the three copies
    of a file take more, so this may ask for too little, never for too much.
    """
    kept = store.default_folder()
    for folder in (artifacts.MODELS, kept, kept.with_name(".dvc") / "cache"):
        path = next(p for p in (folder.resolve(), *folder.resolve().parents) if p.exists())
        if (free := shutil.disk_usage(path).free) < size:
            raise InputError(
                f"{what} has {size / 1e9:,.2f} GB still to write, and the disk of {path} has "
                f"{free / 1e9:,.2f} GB free; free space there (`find .cells -type f -atime +30 "
                "-delete` and `dvc gc -w` remove what is no longer used) or ask for less"
            )
