"""The training of cells in a worker: its job, its result, and the cell's key in the store."""

import dataclasses
import functools
import inspect
import time
import typing
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

import numpy as np
import torch
from torch import nn

from pipeline import networks as table
from pipeline.cells import stack, training
from pipeline.cells.seeds import derive
from pipeline.cells.training import Outcome, Training
from pipeline.experiments.experiment import Cell, Experiment, shape_of
from pipeline.experiments.plan import Member, Plan
from pipeline.grid.data import Data
from pipeline.machine import code, store
from pipeline.project.errors import check_unchanged


@dataclasses.dataclass(frozen=True)
class Job:
    """One cell to train, without its data.

    identity: the parts from which its seeds derive; key: the name of its entry in the store.
    """

    cell: Cell
    specification: table.Specification
    training: Training
    identity: tuple[typing.Any, ...]
    device: str
    key: str


@dataclasses.dataclass(frozen=True)
class Result:
    """One trained cell.

    arrays: by name, the network's weights where a later stage needs them, its weights after some
    epochs by '{epochs}/{name}', else its outputs (N, outputs) on each test set; outcome: the course
    of its training; seconds: of the training.
    """

    arrays: dict[str, np.ndarray]
    outcome: Outcome
    seconds: float


def of_cells(plan: Plan, data: Data, cells: Iterable[Cell], device: torch.device) -> Iterator[Job]:
    """The jobs of cells; a key is the digest of everything that decides its result's arrays."""
    experiment = data.experiment
    for cell in cells:
        member, seed = plan.members[cell["architecture"]], cell["seed"]
        network = member.specification["network"]
        places = (cell[name] for name in experiment.coordinates)
        identity = (seed, plan.experiment, cell["architecture"], *places)
        # Weights do not depend on test data.
        draw = {
            name: digest
            for name, digest in data.digests[f"draw-{seed}"].items()
            if experiment.reads(cell, name)
            and not (experiment.needs_networks and name.startswith("test"))
        }
        key = store.digest(
            {
                "cell": cell,
                "specification": member.specification,
                "training": dataclasses.asdict(member.training),
                "identity": identity,
                "code": code_of(type(experiment), network, tuple(member.own)),
                "own": member.own,
                "device": device.type,
                "draw": draw,
                "directions": [data.digests["directions"][v] for v in experiment.uses(cell)],
            }
        )
        yield Job(cell, member.specification, member.training, identity, device.type, key)


@functools.cache
def code_of(experiment: type[Experiment], place: str, own: tuple[str, ...]) -> list[typing.Any]:
    """The digest of the package's code that decides a cell, and the versions of libraries.

    place, own: of the cell's network, as in `pipeline.networks.version`.
    """
    versions = {name: metadata.version(name) for name in ("numpy", "torch")}
    return [code.digest(decisive_files(experiment, place)), versions, table.version(place, own)]


def decisive_files(experiment: type[Experiment], place: str) -> list[Path]:
    """The package's files that decide a cell: cells/, the experiment's classes, its network's.

    tests/grid/test_decisive.py shows that training and testing a cell reach no other.
    """
    classes = [Path(inspect.getfile(kind)) for kind in experiment.__mro__ if kind is not object]
    return [*code.room("cells"), *classes, *table.files(place)]


def rate_key(experiment: Experiment, member: Member, device: str) -> str:
    """Digest of what decides seconds per training sample: network, inputs, precision, device."""
    shape, precision = experiment.inputs(member.input), member.training.precision
    return store.digest([member.specification, shape, precision, device])


def train_group(data: Data, jobs: list[Job]) -> list[Result | Exception]:
    """Train one cell, or several in a stack, in a worker."""
    try:
        return _stacked(data, jobs) if len(jobs) > 1 else [_alone(data, *jobs)]
    except Exception as error:
        if len(jobs) == 1 or not isinstance(error, torch.OutOfMemoryError):
            return [_freed(error)] * len(jobs)
    # Out of the block, so that what failed is freed before half as many are tried.
    half = len(jobs) // 2
    return train_group(data, jobs[:half]) + train_group(data, jobs[half:])


def _alone(data: Data, job: Job) -> Result:
    started = time.monotonic()
    device, (x, y) = torch.device(job.device), data.dataset(job.cell, "train")
    network = _built(data, job.cell, job.specification, derive(*job.identity, "weights"))
    x = training.channels_last(x, device)
    order, course = derive(*job.identity, "order"), {}

    def note(epochs: int) -> None:
        if data.experiment.needs_courses and epochs in noted(job.training.epochs):
            state = _as_numpy(network.state_dict())
            course.update({f"{epochs}/{name}": array for name, array in state.items()})

    outcome = training.train(network, x, y.to(device), job.training, order, note)
    seconds = time.monotonic() - started
    return Result(course or _arrays(data, job, network), outcome, seconds)


def _stacked(data: Data, jobs: list[Job]) -> list[Result | Exception]:
    started, first = time.monotonic(), jobs[0]
    networks = [
        _built(data, job.cell, job.specification, derive(*job.identity, "weights")) for job in jobs
    ]
    device = torch.device(first.device)
    # Each goes to the device by itself: all of them may be more than the host's memory.
    sets = ([t.to(device) for t in data.dataset(job.cell, "train")] for job in jobs)
    orders = [derive(*job.identity, "order") for job in jobs]
    outcomes = stack.train(networks, sets, first.training, orders)
    seconds = (time.monotonic() - started) / len(jobs)
    return [
        _freed(outcome)
        if isinstance(outcome, Exception)
        else Result(_arrays(data, job, network), outcome, seconds)
        for job, network, outcome in zip(jobs, networks, outcomes)
    ]


def _freed(error: Exception) -> Exception:
    """An exception without its frames, which would keep a cell's data on the GPU."""
    return error.with_traceback(None)


def _built(data: Data, cell: Cell, specification: table.Specification, seed: int) -> nn.Module:
    channels, *_ = data.experiment.inputs(shape_of(cell))
    network = table.build(specification, channels, data.outputs, seed)
    check_unchanged()  # the key was made before this process read the network's file
    return network


def _arrays(data: Data, job: Job, network: nn.Module) -> dict[str, np.ndarray]:
    weights, device = network.state_dict(), torch.device(job.device)
    if not data.experiment.needs_networks:
        # Built anew, as one read from a file is: the layout of weights decides the last bits.
        network = restored(data, job.cell, job.specification, weights, device)
        weights = {name: logits(network, x, device) for name, x, _ in data.test_sets(job.cell)}
    return _as_numpy(weights)


def _as_numpy(tensors: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    # NumPy has neither bfloat16 nor float8, whose values float32 holds exactly.
    small = lambda value: value.is_floating_point() and value.itemsize < 4
    exact = {name: value.float() if small(value) else value for name, value in tensors.items()}
    return {name: value.detach().cpu().numpy().copy() for name, value in exact.items()}


def noted(epochs: int) -> set[int]:
    """The numbers of epochs, 0, 1, 2, 4, … and all, after which a course of training is noted."""
    return {0, epochs, *(2**power for power in range(epochs.bit_length()))}


def course(arrays: dict[str, torch.Tensor]) -> dict[int, dict[str, torch.Tensor]]:
    """A network's weights by the number of finished epochs, in order; arrays: of its `Result`."""
    states: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in arrays.items():
        epochs, _, weight = name.partition("/")
        states.setdefault(int(epochs), {})[weight] = value
    return dict(sorted(states.items()))


def restored(
    data: Data,
    cell: Cell,
    specification: table.Specification,
    weights: dict[str, torch.Tensor],
    device: torch.device,
) -> nn.Module:
    """A cell's network with the given weights, on a device."""
    network = _built(data, cell, specification, 0)
    network.load_state_dict(weights)
    return network.to(device)


def logits(network: nn.Module, x: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The outputs (N, outputs), on the CPU, of a network on a device for inputs x (N, C, H, W)."""
    return training.logits(network, training.channels_last(x, device)).cpu()
