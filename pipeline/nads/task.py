"""Estimates of NADs, made by all workers and kept in the store."""

import dataclasses
import functools
import hashlib
import io
from collections.abc import Iterable, Iterator

import numpy as np
import torch

from pipeline import networks
from pipeline.machine import code, store, workers
from pipeline.nads.directions import NADs
from pipeline.nads.estimation import Estimation, begun
from pipeline.nads.estimator import NADsPlan, Request
from pipeline.nads.jacobian import Sampler
from pipeline.project.errors import check_unchanged, prefix_errors

SHOWN_AND_KEPT = ("__init__", "controversial", "directions", "gallery", "named", "task")
"""Files of this room that decide no NAD: they name, show, compare, read and store what
the others make."""


def _sampled(sampler: Sampler, _: object, number: int) -> np.ndarray:
    return sampler(number)


def by_workers(
    sampler: Sampler, numbers: Iterable[int]
) -> Iterator[tuple[int, np.ndarray | Exception]]:
    """Yield each number with its Jacobian, as soon as a worker has made it (see
    `workers.run`)."""
    function = functools.partial(_sampled, sampler)
    device = torch.device(sampler.device)
    return workers.run(function, numbers, dict, device)


def key(request: Request, estimation: Estimation) -> str:
    """The digest of everything that determines an estimate."""
    specification = request.specification
    source = request.source
    sampler = estimation.sampler
    network = specification["network"]
    estimator = sampler.estimator
    files = [file for file in code.room("nads") if file.stem not in SHOWN_AND_KEPT]
    files += [code.PACKAGE / "training/seeds.py", *networks.files(network)]
    # The weights under one seed tell every way of drawing them apart.
    drawn = networks.build(specification, source.input[0], 1, 0).state_dict()
    flat = (value.contiguous().view(-1) for value in drawn.values())
    weights = b"".join(value.view(torch.uint8).numpy() for value in flat)
    return store.digest(
        {
            "code": code.digest(files),
            "own": request.own,
            "versions": [
                torch.__version__,
                np.__version__,
                networks.version(network, request.own),
            ],
            "weights": hashlib.sha256(weights).hexdigest(),
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


@dataclasses.dataclass(frozen=True)
class Task:
    """One estimate of NADs to make; key: of its entry in the store."""

    name: str
    estimation: Estimation
    key: str

    def nads(self) -> NADs:
        """The NADs, from the store, else of networks that all workers sample.

        Raises the exception of a network that cannot be run, and InputError as
        `Estimation.nads`.
        """
        kept = store.Store(store.default_folder())
        estimation = self.estimation
        if contents := kept.contents(self.key):
            return NADs.load(io.BytesIO(contents[0]["npz"].numpy()))
        with prefix_errors(f"nads.{self.name}: "):
            estimation.fill(
                by_workers, desc=f"estimate {self.name}", total=estimation.networks
            )
            nads = estimation.nads()
        check_unchanged()  # the key was made before the networks were
        file = io.BytesIO()
        nads.save(file)
        kept.put(
            self.key, {"npz": torch.frombuffer(file.getbuffer(), dtype=torch.uint8)}, {}
        )
        return nads


def tasks(plan: NADsPlan, device: torch.device) -> Iterator[Task]:
    """The estimates that a plan asks for, not begun yet; raises InputError, which names
    one."""
    for name, request in plan.members.items():
        specification = request.specification
        source = request.source
        build = functools.partial(networks.build, specification, source.input[0], 1)
        for asked in source.estimators(plan.estimator) if source.file is None else ():
            # Seeds derive from the name, so two estimates share no networks and no
            # errors.
            full_name = name if asked is plan.estimator else f"{name}.{asked.estimand}"
            with prefix_errors(f"nads.{name}: "):
                stated = networks.symmetry_of_inputs(specification, source.input)
                symmetry = stated if asked.symmetry else networks.Symmetry()
                sampler = Sampler(
                    build, source.input, (plan.seed, full_name), asked, str(device)
                )
                estimation = begun(sampler, source, symmetry, f"{full_name}: ")
            yield Task(full_name, estimation, key(request, estimation))
