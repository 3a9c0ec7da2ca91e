"""The training of cells in a worker: its job, its result, and the cell's key in the
store."""

import dataclasses
import functools
import inspect
import time
import typing
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

import torch
from torch import nn

from pipeline import networks
from pipeline.experiments.experiment import Cell, Experiment, shape_of
from pipeline.experiments.plan import Member, Plan
from pipeline.grid.data import Data
from pipeline.machine import code, store
from pipeline.project.errors import check_unchanged
from pipeline.training import loop, stack
from pipeline.training.loop import Outcome, Training
from pipeline.training.seeds import derive


@dataclasses.dataclass(frozen=True)
class Job:
    """One cell to train, without its data.

    identity: the parts from which its seeds derive; key: the name of its entry in the
    store.
    """

    cell: Cell
    specification: networks.Specification
    training: Training
    identity: tuple[typing.Any, ...]
    device: torch.device
    key: str


@dataclasses.dataclass(frozen=True)
class Result:
    """One trained cell.

    tensors: by name, the network's weights where a later stage needs them, its weights
    after some epochs by '{epochs}/{name}', else its outputs (N, outputs) on each test
    set; outcome: the course of its training; seconds: of the training.
    """

    tensors: dict[str, torch.Tensor]
    outcome: Outcome
    seconds: float


def of_cells(
    plan: Plan, data: Data, cells: Iterable[Cell], device: torch.device
) -> Iterator[Job]:
    """The jobs of cells; a key is the digest of everything that decides its result's
    tensors."""
    experiment = data.experiment
    for cell in cells:
        member = plan.members[cell["architecture"]]
        seed = cell["seed"]
        network = member.specification["network"]
        coordinates = (cell[name] for name in experiment.coordinates)
        identity = (seed, plan.experiment, cell["architecture"], *coordinates)
        # Weights do not depend on test data.
        draw = {
            name: digest
            for name, digest in data.digests[f"draw-{seed}"].items()
            if experiment.depends_on(cell, name)
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
                "directions": [
                    data.digests["directions"][v]
                    for v in experiment.direction_names(cell)
                ],
            }
        )
        yield Job(cell, member.specification, member.training, identity, device, key)


@functools.cache
def code_of(
    experiment: type[Experiment], network: str, own: tuple[str, ...]
) -> list[typing.Any]:
    """The digest of the package's code that decides a cell, and the versions of
    libraries.

    network, own: as in `pipeline.networks.version`.
    """
    versions = {name: metadata.version(name) for name in ("numpy", "torch")}
    return [
        code.digest(decisive_files(experiment, network)),
        versions,
        networks.version(network, own),
    ]


def decisive_files(experiment: type[Experiment], network: str) -> list[Path]:
    """The package's files that decide a cell: training/, the experiment's classes, its
    network's.

    tests/grid/test_decisive.py shows that training and testing a cell reach no other.
    """
    classes = [
        Path(inspect.getfile(kind)) for kind in experiment.__mro__ if kind is not object
    ]
    return [*code.room("training"), *classes, *networks.files(network)]


def rate_key(experiment: Experiment, member: Member, device: torch.device) -> str:
    """Digest of what decides seconds per training sample: network, inputs, precision,
    device."""
    shape = experiment.inputs(member.input)
    precision = member.training.precision
    return store.digest([member.specification, shape, precision, device.type])


def train_group(data: Data, jobs: list[Job]) -> list[Result | Exception]:
    """Train one cell, or several in a stack, in a worker."""
    try:
        return _trained(data, jobs)
    except Exception as error:
        if len(jobs) == 1 or not isinstance(error, torch.OutOfMemoryError):
            return [_freed(error)] * len(jobs)
    # Out of the block, so that what failed is freed before half as many are tried.
    half = len(jobs) // 2
    return train_group(data, jobs[:half]) + train_group(data, jobs[half:])


def _trained(data: Data, jobs: list[Job]) -> list[Result | Exception]:
    started = time.monotonic()
    how = jobs[0].training
    course = {}
    made = [
        _built(data, job.cell, job.specification, derive(*job.identity, "weights"))
        for job in jobs
    ]
    orders = [derive(*job.identity, "order") for job in jobs]
    # Each goes to the device by itself: all of them may be more than the host's memory.
    # None has a name here, which would keep it until the test sets are made.
    sets = (_training_set(data, job) for job in jobs)

    def note(epochs: int) -> None:
        if data.experiment.needs_courses and epochs in noted(how.epochs):
            state = _on_cpu(made[0].state_dict())
            course.update({f"{epochs}/{name}": value for name, value in state.items()})

    if len(jobs) == 1:
        outcomes = [loop.train(*made, *next(sets), how, *orders, note)]
    else:
        outcomes = stack.train(made, sets, how, orders)
    seconds = (time.monotonic() - started) / len(jobs)
    return [
        _freed(outcome)
        if isinstance(outcome, Exception)
        else Result(course or _stored(data, job, network), outcome, seconds)
        for job, network, outcome in zip(jobs, made, outcomes, strict=True)
    ]


def _training_set(data: Data, job: Job) -> loop.Labelled:
    x, y = data.dataset(job.cell, "train")
    return loop.channels_last(x, job.device), y.to(job.device)


def _freed(error: Exception) -> Exception:
    """An exception without its frames, which would keep a cell's data on the GPU."""
    return error.with_traceback(None)


def _built(
    data: Data, cell: Cell, specification: networks.Specification, seed: int
) -> nn.Module:
    channels, *_ = data.experiment.inputs(shape_of(cell))
    network = networks.build(specification, channels, data.outputs, seed)
    check_unchanged()  # the key was made before this process read the network's file
    return network


def _stored(data: Data, job: Job, network: nn.Module) -> dict[str, torch.Tensor]:
    tensors = network.state_dict()
    if not data.experiment.needs_networks:
        # Built anew, as one read from a file is: the layout of weights decides the last
        # bits.
        network = restored(data, job.cell, job.specification, tensors, job.device)
        tensors = {
            name: logits(network, x, job.device)
            for name, x, _ in data.test_sets(job.cell)
        }
    return _on_cpu(tensors)


def _on_cpu(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Copies that share no memory, as a file holds them."""

    # A float8 cannot be pickled; float32 holds its values exactly.
    def small(value):
        return value.itemsize == 1 and value.is_floating_point()

    exact = {
        name: value.float() if small(value) else value
        for name, value in tensors.items()
    }
    plain = {"memory_format": torch.contiguous_format}
    return {name: value.cpu().clone(**plain) for name, value in exact.items()}


def noted(epochs: int) -> set[int]:
    """The numbers of epochs, 0, 1, 2, 4, … and all, after which a course of training is
    noted."""
    return {0, epochs, *(2**power for power in range(epochs.bit_length()))}


def course(tensors: dict[str, torch.Tensor]) -> dict[int, dict[str, torch.Tensor]]:
    """A network's weights by the number of finished epochs, in order; tensors: of its
    `Result`."""
    states: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in tensors.items():
        epochs, _, weight = name.partition("/")
        states.setdefault(int(epochs), {})[weight] = value
    return dict(sorted(states.items()))


def restored(
    data: Data,
    cell: Cell,
    specification: networks.Specification,
    weights: dict[str, torch.Tensor],
    device: torch.device,
) -> nn.Module:
    """A cell's network with the given weights, on a device."""
    network = _built(data, cell, specification, 0)
    network.load_state_dict(weights)
    return network.to(device)


def logits(network: nn.Module, x: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The outputs (N, outputs), on the CPU, of a network on a device for inputs x (N,
    C, H, W)."""
    return loop.logits(network, loop.channels_last(x, device)).cpu()
