"""Estimates of NADs, made by all workers and kept in the cache."""

import dataclasses
import functools
import hashlib
import io
from collections.abc import Iterable, Iterator

import numpy as np
import scipy
import torch

from pipeline import networks
from pipeline.machine import code, lanes, store, workers
from pipeline.nads.directions import NADs
from pipeline.nads.estimation import Estimation, Results, start_estimate
from pipeline.nads.estimator import Estimator, NADsPlan, Request
from pipeline.nads.jacobian import Sampler
from pipeline.project.errors import check_unchanged, prefix_errors

NOT_IN_KEY = (
    "__init__",
    "arguments",
    "call",
    "controversial",
    "directions",
    "gallery",
    "named",
    "task",
)
"""Files of this folder that determine no NAD: they name, draw, compare, read and write
what the other files compute, or serve your own programs."""


def _sample(sampler: Sampler, _: object, number: int) -> np.ndarray:
    return sampler(number)


def run_on_workers(sampler: Sampler, numbers: Iterable[int]) -> Results:
    """Yield each number with its Jacobian, as soon as a worker has computed it.

    See `workers.run`.

    Args:
        sampler: Computes the Jacobian of a network from its number.
        numbers: Numbers of networks.
    """
    device = torch.device(sampler.device)
    if device.type != "cpu":
        return _run_on_accelerator(sampler, numbers)
    return workers.run(functools.partial(_sample, sampler), numbers, dict, device)


def _run_on_accelerator(sampler: Sampler, numbers: Iterable[int]) -> Results:
    """Yield each number with its Jacobian.

    The CPU takes as long to draw the weights of a large network as a GPU for its
    Jacobian, so a thread builds the next network meanwhile.
    """
    for ahead in lanes.prepare_ahead(numbers, sampler.make_network):
        yield ahead.job, sampler.jacobian(ahead.job, ahead.take())


def make_key(request: Request, estimation: Estimation) -> str:
    """Return the digest of everything that determines an estimate.

    Args:
        request: The network, its files and the source.
        estimation: The empty estimate.
    """
    specification = request.specification
    source = request.source
    sampler = estimation.sampler
    network = specification["network"]
    estimator = sampler.estimator
    files = [file for file in code.files_of("nads") if file.stem not in NOT_IN_KEY]
    files += [code.PACKAGE / "training/seeds.py", *networks.files(network)]
    versions = [
        torch.__version__,
        np.__version__,
        scipy.__version__,
        networks.version(network, request.own),
    ]
    return store.digest(
        {
            "code": code.digest(files),
            "own": request.own,
            "versions": versions,
            "weights": _digest_weights(request),
            "specification": specification,
            "fields": [field.name for field in dataclasses.fields(NADs)],
            "source": dataclasses.asdict(source),
            "identity": sampler.identity,
            "estimator": [
                estimator.estimand,
                estimator.method,
                estimator.step,
                estimator.point,
            ],
            "device": torch.device(sampler.device).type,
            "symmetry": [estimation.accumulator.symmetry, estimation.channels],
        }
    )


def _digest_weights(request: Request) -> str:
    """Return the digest of the weights under one seed.

    It tells every way of drawing them apart.
    """
    channels = request.source.input[0]
    network = networks.build(request.specification, channels, 1, 0)
    state = hashlib.sha256()
    for value in network.state_dict().values():
        state.update(value.contiguous().view(-1).view(torch.uint8).numpy())
    return state.hexdigest()


@dataclasses.dataclass(frozen=True)
class Task:
    """One estimate of NADs to make.

    Attributes:
        name: Name of its file in data/nads.
        estimation: The empty estimate.
        key: Key of its entry in the cache.
    """

    name: str
    estimation: Estimation
    key: str

    def nads(self) -> NADs:
        """Return the NADs, from the cache or from networks that all workers sample.

        Raises:
            InputError: As `Estimation.nads`.
            Exception: Of a network that cannot be run.
        """
        cache = store.Store(store.default_folder())
        if contents := cache.contents(self.key):
            return NADs.load(io.BytesIO(contents[0]["npz"].numpy()))
        with prefix_errors(f"nads.{self.name}: "):
            self.estimation.run(run_on_workers, f"estimate {self.name}")
            nads = self.estimation.nads()
        check_unchanged()  # the key was made before the networks were
        file = io.BytesIO()
        nads.save(file)
        content = torch.frombuffer(file.getbuffer(), dtype=torch.uint8)
        cache.put(self.key, {"npz": content}, {})
        return nads


def make_tasks(plan: NADsPlan, device: torch.device) -> Iterator[Task]:
    """Yield the estimates that a plan asks for, not started yet.

    Args:
        plan: The plan.
        device: Where networks run.

    Raises:
        InputError: For an estimate that cannot be made; it names the architecture.
    """
    for name, request in plan.members.items():
        if request.source.file is not None:
            continue
        for estimator in request.source.estimators(plan.estimator):
            # Seeds derive from the name, so two estimates share no networks and no
            # errors.
            full_name = name
            if estimator is not plan.estimator:
                full_name = f"{name}.{estimator.estimand}"
            identity = (plan.seed, full_name)
            with prefix_errors(f"nads.{name}: "):
                task = _make_task(request, estimator, identity, device)
            yield task


def _make_task(
    request: Request,
    estimator: Estimator,
    identity: tuple[int, str],
    device: torch.device,
) -> Task:
    """Return one estimate; its identity is the plan's seed and its name."""
    specification = request.specification
    source = request.source
    _, name = identity
    build = functools.partial(networks.build, specification, source.input[0], 1)
    symmetry = networks.symmetry_of_inputs(specification, source.input)
    if not estimator.symmetry:
        symmetry = networks.Symmetry()
    sampler = Sampler(build, source.input, identity, estimator, str(device))
    estimation = start_estimate(sampler, source, symmetry, f"{name}: ")
    return Task(name, estimation, make_key(request, estimation))
