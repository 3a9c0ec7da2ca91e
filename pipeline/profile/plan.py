"""The plan of a profile: how many networks fit into about the given minutes."""

import dataclasses
import json
import math
import os
import sys
import time
import timeit
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pipeline import networks
from pipeline.experiments.nad_sweep import Settings, Sweep
from pipeline.experiments.plan import Member, Plan
from pipeline.machine import store, workers
from pipeline.nads import NADs
from pipeline.nads.estimator import Estimator, NADsPlan, Request, Source
from pipeline.nads.task import make_tasks
from pipeline.networks import Shape, Specification
from pipeline.networks.own import is_installed
from pipeline.networks.registry import reads_own
from pipeline.project.artifacts import file_digest
from pipeline.training import loop
from pipeline.training.loop import BATCH, Training

ESTIMATE = 0.4
"""Part of the time in which NADs are estimated; the rest is for training."""

LARGEST = 4096
"""Number of values of an input up to which all NADs are estimated. The eigenvectors of
a larger matrix take too long."""

FIRST = 100  # NADs of larger inputs, at most
VALUES = 2**25  # numbers in a training set at most (128 MiB)

ERROR = 0.05  # relative error of C at which an estimate stops
UNTRAINED = (8, 10_000)  # untrained networks of an estimate

EPOCHS = (6, 40)
"""Epochs of each training. A network that is not fitted does not show what it misses,
and few samples in many epochs are fitted in fewer steps than many samples."""

SIGMA = 1.0  # noise of D(v)
INDICES = (3, 12)  # NADs along which networks are trained
SEEDS = (1, 3)  # networks along each NAD
SAMPLES = (512, 10_000)  # training samples
TESTS = 4_000  # test samples, at most

REACH = (10_000 / 1023) ** 0.5
"""ε²√(n/(D − 1))/σ² for paper 1's LeNet: n = 10,000 samples, D = 1024, ε = σ = 1."""


@dataclasses.dataclass(frozen=True)
class Sizes:
    """The numbers that decide how long a profile takes, the same for all its networks.

    Attributes:
        estimand: 'secant', as in the papers, or 'gradient', which needs fewer passes.
        untrained: Untrained networks of each architecture, at most.
        indices: NADs along which networks are trained, at most.
        seeds: Networks along each NAD.
        samples: Training samples of each network.
        epochs: Epochs of each training.
    """

    estimand: str
    untrained: int
    indices: int
    seeds: int
    samples: int
    epochs: int


def choose_sizes(
    architectures: Mapping[str, Specification],
    shape: Shape,
    minutes: float,
    device: torch.device,
) -> Sizes:
    """Choose the sizes of a profile that takes about the given time on this machine.

    Args:
        architectures: Specifications by name.
        shape: (C, H, W) of one input.
        minutes: Time for all networks together.
        device: Where the work is done.

    Returns:
        The sizes, which are never below the least at which anything can be said.
    """
    dimension = math.prod(shape)
    slots = workers.count_slots(device)
    seconds = 60 * minutes * slots
    step = sum(
        measure_step(specification, shape, device)
        for specification in architectures.values()
    )
    gradient, adding = measure_estimate(architectures, shape, device)
    estimand = "secant"
    # Two forward passes for each value of an input; a forward pass is a third of a
    # step.
    sampling = 2 * dimension * step / 3
    if UNTRAINED[0] * sampling > ESTIMATE * seconds:
        estimand = "gradient"
        sampling = gradient
    network = max(sampling + adding, slots * adding)
    untrained = _limit(ESTIMATE * seconds / network, UNTRAINED)
    if dimension > LARGEST:  # then up to 8 derivatives of each network stay in memory
        untrained = min(untrained, 512, max(UNTRAINED[0], VALUES // dimension))
    seconds *= 1 - ESTIMATE
    # The tests take as long as an epoch.
    indices = _limit(seconds / (SAMPLES[0] * (EPOCHS[1] + 1) * step), INDICES)
    epochs = _limit(seconds / (indices * SAMPLES[0] * step) - 1, EPOCHS)
    sample = (epochs + 1) * step
    samples = _limit(seconds / (indices * sample), SAMPLES)
    samples = max(1, min(samples, VALUES // dimension) // BATCH) * BATCH
    seeds = _limit(seconds / (indices * samples * sample), SEEDS)
    return Sizes(estimand, untrained, indices, seeds, samples, epochs)


def _limit(value: float, limits: tuple[int, int]) -> int:
    return int(np.clip(value, *limits))


def measure_step(
    specification: Specification, shape: Shape, device: torch.device
) -> float:
    """Measure how long a training step takes.

    Args:
        specification: The network.
        shape: (C, H, W) of one input.
        device: Where it is trained.

    Returns:
        Seconds of a core, or of the GPU, per sample.
    """
    network = networks.build(specification, shape[0], 2, 0)
    x = loop.channels_last(torch.randn(BATCH, *shape), device)
    y = torch.arange(BATCH, device=device) % 2
    training = Training(1, 1e-6, 0.0, 0.0)
    seconds = timeit.repeat(
        lambda: loop.train(network, x, y, training, 0), number=1, repeat=3
    )
    return min(seconds) / BATCH  # the first one takes longer


def measure_estimate(
    architectures: Mapping[str, Specification], shape: Shape, device: torch.device
) -> tuple[float, float]:
    """Measure how long one untrained network of each architecture takes.

    Args:
        architectures: Specifications by name.
        shape: (C, H, W) of one input.
        device: Where networks are run.

    Returns:
        Seconds in which the networks are differentiated (the gradient), and in which
        only this process adds the results to the estimates.
    """
    gradient = 0.0
    adding = 0.0
    plan = plan_nads(architectures, shape, "gradient", UNTRAINED[0], {})
    for task in make_tasks(plan, device):
        started = time.perf_counter()
        jacobian = task.estimation.sampler(0)
        sampled = time.perf_counter()
        task.estimation.add(0, jacobian)
        gradient += sampled - started
        adding += time.perf_counter() - sampled
    return gradient, adding


def load_or_choose(
    path: Path,
    architectures: Mapping[str, Specification],
    shape: Shape,
    minutes: float,
    device: torch.device,
) -> Sizes:
    """Load the sizes of a file, or choose and write them if it is of another request.

    A command that runs again does the same work, so that the cache has it.

    Args:
        path: The file.
        architectures: Specifications by name.
        shape: (C, H, W) of one input.
        minutes: Time for all networks together.
        device: Where the work is done.
    """
    request = {
        "networks": dict(architectures),
        "input": list(shape),
        "minutes": minutes,
        "device": device.type,
        "epochs": list(EPOCHS),  # files of earlier versions lack it
    }
    if path.exists():
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["request"] == request:
            return Sizes(**document["sizes"])
    sizes = choose_sizes(architectures, shape, minutes, device)
    document = {"request": request, "sizes": dataclasses.asdict(sizes)}
    text = json.dumps(document, indent=2) + "\n"
    store.atomically(path, lambda part: part.write_text(text, encoding="utf-8"))
    return sizes


def plan_nads(
    architectures: Mapping[str, Specification],
    shape: Shape,
    estimand: str,
    untrained: int,
    own: Mapping[str, str],
) -> NADsPlan:
    """Plan the estimates.

    Args:
        architectures: Specifications by name.
        shape: (C, H, W) of one input.
        estimand: 'secant' or 'gradient'.
        untrained: Untrained networks of each architecture, at most.
        own: Digests by path of the files of your own networks.
    """
    method = "readout"
    first = None
    if math.prod(shape) > LARGEST:  # many networks tell more than many features of few
        method = "plain"
        first = min(FIRST, untrained)
    point = "normal" if estimand == "secant" else "many"
    estimator = Estimator(estimand, method, 100.0, point, True, False)
    source = Source(untrained, ERROR, shape, first)
    requests = {}
    for name, specification in architectures.items():
        files = dict(own) if reads_own(specification) else {}
        requests[name] = Request(specification, source, files)
    return NADsPlan("profile", 0, estimator, requests)


def plan_sweep(
    estimates: NADsPlan, nads: Mapping[str, NADs], sizes: Sizes, lr: float
) -> Plan:
    """Plan `nad_sweep` with the networks of a plan of NADs.

    Args:
        estimates: The plan of the NADs.
        nads: NADs by architecture.
        sizes: Sizes of the profile.
        lr: Learning rate of the first step.
    """
    training = Training(sizes.epochs, lr, 0.0, 0.0, "linear")
    members: dict[str, Any] = {}
    for name, request in estimates.members.items():
        indices = choose_indices(len(nads[name].directions), sizes.indices)
        members[name] = Member(
            request.specification,
            training,
            Sweep(indices),
            (estimates.estimator.estimand,),
            input=request.source.input,
            own=request.own,
        )
    # Inputs are the same for all networks.
    dimension = math.prod(next(iter(members.values())).input)
    eps = choose_amplitude(dimension, sizes.samples)
    settings = Settings(eps, dict.fromkeys(members, SIGMA))
    tests = max(1, min(TESTS, VALUES // dimension))
    seeds = tuple(range(sizes.seeds))
    return Plan("nad_sweep", "profile", seeds, sizes.samples, tests, settings, members)


def choose_indices(count: int, most: int) -> tuple[int, ...]:
    """Choose indices of the NADs along which networks are trained.

    Half of the indices are evenly spaced on a logarithmic axis, because accuracy often
    drops at low indices. The other half are evenly spaced on a linear axis, because
    most indices are high.

    Args:
        count: Number of NADs.
        most: Number of indices, at most.
    """
    half = INDICES[1] // 2
    logarithmic = np.geomspace(1, count, half) - 1
    linear = np.linspace(0, count - 1, half + 2)
    indices = np.unique(np.rint([*logarithmic, *linear]).astype(int))
    positions = np.linspace(0, len(indices) - 1, min(most, len(indices)))
    return tuple(indices[np.rint(positions).astype(int)].tolist())


def choose_amplitude(dimension: int, samples: int) -> float:
    """Choose the ε at which D(v) is as easy as in paper 1, whatever the input's size.

    After n training samples, the difference of the class means classifies new samples
    correctly with probability Φ(ε²√(n/(D − 1))/σ²) = Φ(3.13) = 99.9 %.

    Args:
        dimension: Number D of values of an input.
        samples: Number n of training samples.
    """
    return SIGMA * (REACH * ((dimension - 1) / samples) ** 0.5) ** 0.5


def digest_own_files(data: Iterable[str]) -> dict[str, str]:
    """Return the sha256, by path, of the files that determine your own networks.

    They are the loaded modules that are not installed, and their data.

    Args:
        data: Paths of the data that the networks read.
    """
    paths = set(data)
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None) or ""
        if name != "__main__" and os.path.isfile(path) and not is_installed(path):
            paths.add(path)
    return {os.path.relpath(path): file_digest(path) for path in sorted(paths)}
