"""The training of a grid's cells: what a worker is given, what it does with it, and the key under which the result is kept."""

import dataclasses
import itertools
import time
import typing
from collections.abc import Callable, Iterable, Iterator

import torch
from torch import nn

from pipeline import networks as table
from pipeline import training
from pipeline.grid.data import Data
from pipeline.grid.experiment import Cell, Experiment, Member, Plan, pixels
from pipeline.machine import closure, store
from pipeline.project import seeds
from pipeline.training import Outcome, Training, ensembles, memory

TOGETHER = ("cuda",)
"""Kinds of device on which several networks train together; a CPU is faster with one in each process."""


@dataclasses.dataclass(frozen=True)
class Job:
    """All that a worker needs to train one cell, besides the data.

    specification: of its network; identity: the parts from which its seeds derive; trained: the digest of all that decides its
    weights; key: of what the store at `folder` keeps of it, which is the same where that is the weights.
    """

    cell: Cell
    specification: table.Specification
    training: Training
    identity: tuple[typing.Any, ...]
    device: str
    trained: str
    key: str
    folder: str


def untrained(data: Data, job: Job) -> tuple[nn.Module, int]:
    """The cell's network before training, and the seed of its order of samples."""
    weights, order = (seeds.derive(*job.identity, part) for part in ("weights", "order"))
    return table.build(job.specification, data.experiment.channels, data.outputs, weights), order


def trained(data: Data, job: Job) -> tuple[nn.Module, Outcome]:
    """One cell's network, trained, and how its training went."""
    device, (x, y) = torch.device(job.device), data.dataset(job.cell, "train")
    network, order = untrained(data, job)
    x, y = training.arranged(x, device), y.to(device)
    return network, training.train(network, x, y, job.training, order)


def trained_together(data: Data, jobs: list[Job]) -> tuple[list[nn.Module], list[Outcome | Exception]]:
    """The networks of cells of one group (see `groups`), trained together, and for each how its training went, or Diverged."""
    first = jobs[0]
    way = table.together(first.specification)
    if way == "alone":
        (job,) = jobs
        network, result = trained(data, job)
        return [network], [result]
    networks, orders = zip(*(untrained(data, job) for job in jobs))
    sets = (data.dataset(job.cell, "train") for job in jobs)
    return networks, ensembles.train(networks, sets, first.training, orders, torch.device(first.device), way)


def restored(
    data: Data, specification: table.Specification, weights: dict[str, torch.Tensor], device: torch.device
) -> nn.Module:
    """A cell's network with the given weights, on a device."""
    network = table.build(specification, data.experiment.channels, data.outputs, 0)
    network.load_state_dict(weights)
    return network.to(device)


def logits(network: nn.Module, x: torch.Tensor, device: torch.device) -> torch.Tensor:
    """What a network on a device makes of inputs x (N, C, H, W): (N, outputs), on the CPU."""
    return training.logits(network, training.arranged(x, device)).cpu()


def tested(data: Data, job: Job, network: nn.Module) -> dict[str, torch.Tensor]:
    """What a cell's trained network makes of each of its test sets, by their names."""
    device = torch.device(job.device)
    # Built anew, as one that is read from a file is: the layout of weights in memory decides the last bits.
    network = restored(data, job.specification, network.state_dict(), device)
    return {name: logits(network, x, device) for name, x, _ in data.test_sets(job.cell)}


def keep(data: Data, job: Job, network: nn.Module, outcome: Outcome) -> None:
    """Put a trained cell into the store: its weights where a later stage needs them, else what it makes of its test sets."""
    tensors = network.state_dict() if data.experiment.needs_networks else tested(data, job, network)
    store.Store(job.folder).put(job.key, tensors, dataclasses.asdict(outcome))


def train_one(data: Data, job: Job) -> float:
    """Train one cell and keep it; returns the seconds that it took. Runs in a worker."""
    started = time.monotonic()
    keep(data, job, *trained(data, job))
    return time.monotonic() - started


def train_together(data: Data, jobs: list[Job]) -> list[Exception | float]:
    """Train the cells of one group and keep each; returns for each its part of the seconds, or why it failed."""
    started = time.monotonic()
    networks, results = trained_together(data, jobs)
    for job, network, result in zip(jobs, networks, results):
        if not isinstance(result, Exception):
            keep(data, job, network, result)
    seconds = (time.monotonic() - started) / len(jobs)
    return [result if isinstance(result, Exception) else seconds for result in results]


def groups(jobs: Iterable[Job], channels: int, outputs: int, samples: int, free: int) -> list[list[tuple[int, Job]]]:
    """The jobs as lists of (position, job) that can be trained together: neighbours of one architecture, input and training.

    samples: of each job's training set; free: bytes of memory on the device, into which a group must fit.
    """
    found = []
    same = lambda numbered: (numbered[1].specification, numbered[1].training, pixels(numbered[1].cell))
    for (specification, how, shape), members in itertools.groupby(enumerate(jobs), same):
        members = list(members)
        network, together = table.build(specification, channels, outputs, 0), table.together(specification)
        size = ensembles.at_once(network, together)
        if size > 1:
            needed = memory.needed(network, (channels, *shape), samples, how, together)
            size = min(size, memory.fitting(needed, free))
        found += [members[start : start + size] for start in range(0, len(members), size)]
    return found


def decisive(engine: Callable, experiment: Experiment, network: str) -> list:
    """The code from which all that decides a cell's weights is reached: the engine's, the data's, the network's."""
    return [engine, (Data, "dataset"), (Data, "outputs"), experiment.dataset, network]


def tests(experiment: Experiment, network: str) -> list:
    """The code from which all that decides what a trained network makes of its test sets is reached."""
    return [tested, (Data, "test_sets"), (Data, "outputs"), experiment.test_sets, network]


def of_cells(plan: Plan, data: Data, cells: Iterable[Cell], device: torch.device, folder: str) -> Iterator[Job]:
    """The job of every cell.

    All that decides its weights is the code that is reached from the worker's function, from the experiment's data sets and from
    the network (`pipeline.machine.closure`), what they are given, and the bytes of the directions and draws. Where what it makes
    of its test sets is kept instead, the key also holds what decides these.
    """
    experiment, draws = data.experiment, {}
    engine = trained_together if device.type in TOGETHER else trained
    directions = {name: store.digest(vector) for name, vector in data.vectors.items()}
    for cell in cells:
        member = plan.members[cell["architecture"]]
        place = member.specification["network"]
        if cell["seed"] not in draws:
            draws[cell["seed"]] = data.digests(cell["seed"])
        draw = {name: found for name, found in draws[cell["seed"]].items() if experiment.reads(cell, name)}
        identity = (cell["seed"], plan.experiment, cell["architecture"], *(cell[c] for c in experiment.coordinates))
        decides = {
            "cell": cell,
            "specification": member.specification,
            "training": dataclasses.asdict(member.training),
            "identity": identity,
            "code": closure.digest(*decisive(engine, experiment, place)),
            "device": device.type,
            "draw": {name: digest for name, digest in draw.items() if not name.startswith("test")},
            "directions": [directions[name] for name in experiment.uses(cell)],
        }
        key = weights = store.digest(decides)
        if not experiment.needs_networks:
            key = store.digest({"trained": weights, "code": closure.digest(*tests(experiment, place)), "draw": draw})
        yield Job(cell, member.specification, member.training, identity, device.type, weights, key, folder)


def kind(member: Member, channels: int, device: str) -> str:
    """What tells how long a sample takes in training: the network, its inputs, the arithmetic, and whether a CPU's core or a GPU does it."""
    return store.digest([member.specification, (channels, *member.input), member.training.precision, device])
