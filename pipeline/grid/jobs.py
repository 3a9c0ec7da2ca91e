"""The training of one cell: its job, its result, and its key in the cache."""

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
from pipeline.machine.lanes import align_gradients
from pipeline.project.errors import check_unchanged
from pipeline.training import loop, seeds
from pipeline.training.loop import Labelled, Outcome, Recorder, Training


@dataclasses.dataclass(frozen=True)
class Job:
    """One cell to train, without its data.

    Attributes:
        cell: The cell.
        specification: Its network.
        training: The hyperparameters.
        identity: The parts from which its seeds derive.
        device: Where it is trained.
        key: The name of its entry in the cache.
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

    Attributes:
        tensors: By name, the network's weights if a later stage needs them; its weights
            after some epochs, as '{epochs}/{name}', if the experiment evaluates these;
            else its outputs, (N, outputs), on each test set.
        outcome: The course of the training.
        seconds: Time that the training took. Cells that shared a GPU share the time.
    """

    tensors: dict[str, torch.Tensor]
    outcome: Outcome
    seconds: float


def of_cells(
    plan: Plan,
    data: Data,
    cells: Iterable[Cell],
    device: torch.device,
    engine: str = "eager",
) -> Iterator[Job]:
    """Make the jobs of cells.

    Args:
        plan: The experiment's plan.
        data: Its data sets.
        cells: The cells.
        device: Where they are trained.
        engine: How a GPU trains them, 'eager' or 'recorded'.

    Yields:
        One job per cell. Its key is the digest of everything that decides its tensors.
    """
    experiment = data.experiment
    hardware = name_hardware(device, engine)
    for cell in cells:
        member = plan.members[cell["architecture"]]
        coordinates = [cell[name] for name in experiment.coordinates]
        identity = (
            cell["seed"],
            plan.experiment,
            cell["architecture"],
            *coordinates,
        )
        network = member.specification["network"]
        parts = {
            "cell": cell,
            "specification": member.specification,
            "training": dataclasses.asdict(member.training),
            "experiment": plan.experiment,
            "code": code_of(type(experiment), network, tuple(member.own)),
            "own": member.own,
            "device": hardware,
            "base_noise": _digests_of_noise(data, cell),
            "directions": [
                data.direction_digests[name]
                for name in experiment.direction_names(cell)
            ],
        }
        yield Job(
            cell,
            member.specification,
            member.training,
            identity,
            device,
            store.digest(parts),
        )


def _digests_of_noise(data: Data, cell: Cell) -> dict[str, str]:
    """Return the digests of the arrays of base noise that decide what is kept."""
    digests = {}
    for name, digest in data.noise_digests(cell["seed"]).items():
        # Weights do not depend on test data.
        only_tests = name.startswith("test") and data.experiment.needs_networks
        if data.experiment.depends_on(cell, name) and not only_tests:
            digests[name] = digest
    return digests


@functools.cache
def code_of(
    experiment: type[Experiment], network: str, own: tuple[str, ...]
) -> list[typing.Any]:
    """Return the digest of the code that decides a cell, and versions of libraries.

    Args:
        experiment: The experiment's class.
        network: See `pipeline.networks.version`.
        own: See `pipeline.networks.version`.
    """
    versions = {name: metadata.version(name) for name in ("numpy", "torch")}
    return [
        code.digest(decisive_files(experiment, network)),
        versions,
        networks.version(network, own),
    ]


def decisive_files(experiment: type[Experiment], network: str) -> list[Path]:
    """Return the files that decide a cell: training/, experiment and network.

    tests/grid/test_decisive.py shows that training and testing a cell reach no other,
    except files that hand arguments on, as this one does.
    """
    classes = [
        Path(inspect.getfile(kind)) for kind in experiment.__mro__ if kind is not object
    ]
    return [*code.files_of("training"), *classes, *networks.files(network)]


def rate_key(
    experiment: Experiment, member: Member, device: torch.device, engine: str = "eager"
) -> str:
    """Return the digest of what decides the seconds of a training sample.

    Args:
        experiment: Decides the shape of the inputs.
        member: The architecture, its precision and its batch size.
        device: The device.
        engine: How a GPU trains networks, 'eager' or 'recorded'.
    """
    parts = [
        member.specification,
        experiment.inputs(member.input),
        member.training.precision,
        member.training.batch_size,
        name_hardware(device, engine),
    ]
    return store.digest(parts)


def name_hardware(device: torch.device, engine: str) -> str:
    """Return what a key has of the device: its type and, of a GPU, the engine."""
    return device.type if device.type == "cpu" else f"{device.type} {engine}"


def make_training_set(data: Data, job: Job) -> Labelled:
    """Make the training set of a cell, on the CPU."""
    return data.dataset(job.cell, "train")


class CellTraining:
    """The training of one cell, step by step (see `pipeline.machine.lanes.Task`)."""

    def __init__(
        self,
        data: Data,
        job: Job,
        training_set: Labelled,
        record: Recorder | None = None,
    ) -> None:
        """Make the cell's network.

        Args:
            data: The experiment's data sets.
            job: The cell.
            training_set: See `make_training_set`.
            record: See `pipeline.training.loop.Trainer`.
        """
        self.data = data
        self.job = job
        self.snapshots: dict[str, torch.Tensor] = {}
        seed = seeds.for_weights(*job.identity)
        self.network = _build(data, job.cell, job.specification, seed)
        if record is not None:
            align_gradients(self.network)
        x, y = training_set
        self.trainer = loop.Trainer(
            self.network,
            loop.channels_last(x, job.device),
            y.to(job.device),
            job.training,
            seeds.for_order(*job.identity),
            self._take_snapshot if data.experiment.needs_courses else None,
            record,
        )

    @property
    def finished(self) -> bool:
        """Whether all steps were made."""
        return self.trainer.finished

    @property
    def shareable(self) -> bool:
        """Whether the device can train other networks at the same time."""
        return self.trainer.shareable

    def advance(self) -> None:
        """Make one step."""
        self.trainer.advance()

    def _take_snapshot(self, epochs: int) -> None:
        """Keep the network's weights after some epochs."""
        if epochs in loop.snapshot_epochs(self.job.training.epochs):
            for name, value in _to_cpu(self.network.state_dict()).items():
                self.snapshots[f"{epochs}/{name}"] = value

    def result(self, seconds: float) -> Result:
        """Return what is kept of the trained cell.

        Args:
            seconds: The cell's share of the time since its training began.

        Raises:
            Diverged: The loss of the last epoch is not finite.
        """
        outcome = self.trainer.outcome()
        del self.trainer  # the training set, before the test sets are made
        tensors = self.snapshots or _tensors_to_keep(self.data, self.job, self.network)
        return Result(tensors, outcome, seconds)


def train_cell(data: Data, job: Job) -> Result:
    """Train one cell, in a worker.

    Args:
        data: The experiment's data sets.
        job: The cell.

    Returns:
        What is kept of the trained cell.

    Raises:
        Diverged: The loss of the last epoch is not finite.
    """
    started = time.monotonic()
    cell = CellTraining(data, job, make_training_set(data, job))
    with loop.own_random_numbers(job.device):
        while not cell.finished:
            cell.advance()
    return cell.result(time.monotonic() - started)


def _build(
    data: Data, cell: Cell, specification: networks.Specification, seed: int
) -> nn.Module:
    """Build the untrained network of a cell."""
    channels, *_ = data.experiment.inputs(shape_of(cell))
    network = networks.build(specification, channels, data.outputs, seed)
    check_unchanged()  # the key was made before this process read the network's file
    return network


def _tensors_to_keep(
    data: Data, job: Job, network: nn.Module
) -> dict[str, torch.Tensor]:
    """Return the weights if a later stage needs them, else the outputs by test set."""
    weights = network.state_dict()
    if data.experiment.needs_networks:
        return _to_cpu(weights)
    # Built again, as a network read from a file is: the layout of weights decides the
    # last bits of outputs.
    network = restore(data, job.cell, job.specification, weights, job.device)
    return {
        name: logits(network, x, job.device) for name, x, _ in data.test_sets(job.cell)
    }


def _to_cpu(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Copy tensors so that they share no memory, as a file holds them."""
    copies = {}
    for name, value in tensors.items():
        if value.itemsize == 1 and value.is_floating_point():
            # A float8 cannot be pickled, and float32 holds its values.
            value = value.float()
        copies[name] = value.cpu().clone(memory_format=torch.contiguous_format)
    return copies


def by_epoch(tensors: dict[str, torch.Tensor]) -> dict[int, dict[str, torch.Tensor]]:
    """Sort the tensors of a `Result` by the number of finished epochs, in order."""
    states: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in tensors.items():
        epochs, _, weight = name.partition("/")
        states.setdefault(int(epochs), {})[weight] = value
    return dict(sorted(states.items()))


def restore(
    data: Data,
    cell: Cell,
    specification: networks.Specification,
    weights: dict[str, torch.Tensor],
    device: torch.device,
) -> nn.Module:
    """Build a cell's network with given weights, on a device.

    Args:
        data: The experiment's data sets.
        cell: The cell.
        specification: The cell's network.
        weights: The state of the network, by name.
        device: The device.
    """
    network = _build(data, cell, specification, 0)
    network.load_state_dict(weights)
    return network.to(device)


def logits(network: nn.Module, x: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return the outputs of a network in eval mode.

    Args:
        network: On any device.
        x: Inputs, (N, C, H, W), on any device.
        device: Where the outputs are computed.

    Returns:
        Outputs, (N, outputs), on the CPU.
    """
    return loop.logits(network, loop.channels_last(x, device)).cpu()
