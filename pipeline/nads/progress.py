"""Estimates of NADs made by all workers, their sums in the store, and the keys of these sums.

A killed estimate goes on near where it stopped, one of more networks from the sums of fewer.
"""

import dataclasses
import functools
import hashlib
import itertools
import time
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from tqdm import tqdm

from pipeline import networks
from pipeline.machine import code, store, workers
from pipeline.machine.claims import Claims
from pipeline.nads.directions import NADs
from pipeline.nads.estimation import Estimation, begun, stopping_count
from pipeline.nads.estimator import Estimator, NADsPlan
from pipeline.nads.jacobian import jacobian_of_untrained
from pipeline.project.errors import at, notice

KEEP_EVERY = 30  # seconds between two times at which the sums of an estimate under way are saved


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Everything but its number that determines an untrained network of one estimate.

    specification: the network's place and its arguments; own: sha256 by path of the files of a
    person's own network; shape: (C, H, W) of one input; identity: (seed, name of the estimate),
    from which the networks' seeds derive; device: 'cpu' or 'cuda'.
    """

    specification: networks.Specification
    own: dict[str, str]
    shape: tuple[int, ...]
    identity: tuple[int, str]
    estimator: Estimator
    device: str


def jacobian(_: object, work: tuple[Recipe, int]) -> np.ndarray:
    """The Jacobian J (F, D) of one untrained network, which a worker makes of recipe and number."""
    recipe, number = work
    build = functools.partial(networks.build, recipe.specification, recipe.shape[0], 1)
    return jacobian_of_untrained(
        build, recipe.shape, number, recipe.identity, recipe.estimator, recipe.device
    )


def key(recipe: Recipe, estimation: Estimation) -> str:
    """The digest of everything that determines an estimate's sums but the number of networks."""
    place, estimator = recipe.specification["network"], recipe.estimator
    files = [file for file in code.room("nads") if file.stem != "gallery"]  # a picture
    files += [code.PACKAGE / "cells/seeds.py", *networks.files(place)]
    # The weights under one seed tell every way of drawing them apart.
    drawn = networks.build(recipe.specification, recipe.shape[0], 1, 0).state_dict()
    weights = b"".join(value.numpy().tobytes() for value in drawn.values())
    return store.digest(
        {
            "code": code.digest(files),
            "own": recipe.own,
            "versions": [torch.__version__, np.__version__, networks.version(place, recipe.own)],
            "weights": hashlib.sha256(weights).hexdigest(),
            "specification": recipe.specification,
            "input": recipe.shape,
            "identity": recipe.identity,
            "estimator": [estimator.estimand, estimator.method, estimator.step, estimator.point],
            "device": torch.device(recipe.device).type,
            "kind": type(estimation.accumulator).__name__,
            "symmetry": [estimation.accumulator.symmetry, estimation.channels],
        }
    )


@dataclasses.dataclass
class Task:
    """One estimate of NADs, made by the workers.

    name: the architecture's; recipe: of its networks; estimation: the estimate so far; sums: the
    sums in the store; minutes: how long this run has sampled networks.
    """

    name: str
    recipe: Recipe
    estimation: Estimation
    sums: store.Sums
    minutes: float = 0.0

    def restore(self) -> None:
        """Go on from the sums in the store of the most networks that this estimate may have."""
        for count in self.sums.counts():
            if count > self.estimation.networks or (state := self.sums.get(count)) is None:
                continue
            stop = stopping_count(state["trace"], self.estimation.target_error)
            if stop is None or stop >= count:
                self.estimation.restore(state, count)
                return

    def sample(self, device: torch.device) -> None:
        """Add untrained networks until the estimate is finished.

        The sums are saved every `KEEP_EVERY` seconds and at the end, also of a failure, in place of
        those that this call saved before. Raises the exception of a network that cannot be run.
        """
        estimation, accumulator = self.estimation, self.estimation.accumulator
        first, kept, started = accumulator.count, accumulator.count, time.monotonic()
        keep_next = started + KEEP_EVERY

        def keep() -> None:
            nonlocal kept, keep_next
            if accumulator.count > kept:
                self.sums.put(accumulator.count, estimation.state())
                if kept > first:
                    self.sums.drop(kept)
            kept, keep_next = accumulator.count, time.monotonic() + KEEP_EVERY

        title, most = f"estimate {self.name}", estimation.networks
        jobs = ((self.recipe, number) for number in range(first, most))
        jobs = itertools.takewhile(lambda _: not estimation.finished, jobs)
        with tqdm(desc=title, total=most, initial=first, unit="network", disable=None) as bar:
            try:
                for position, result in workers.run(jacobian, jobs, dict, device):
                    if isinstance(result, Exception):
                        raise result
                    estimation.add(first + position, result)
                    bar.update(accumulator.count - bar.n)
                    if estimation.finished:
                        break
                    if time.monotonic() > keep_next:
                        keep()
            finally:
                keep()
        self.minutes = (time.monotonic() - started) / 60


def tasks(plan: NADsPlan, device: torch.device) -> Iterator[Task]:
    """The estimates that a plan asks for, not begun yet; raises InputError, which names one."""
    for name, request in plan.members.items():
        specification, source = request.specification, request.source
        for asked in source.estimators(plan.estimator) if source.file is None else ():
            # Seeds derive from the name, so two estimates share no networks and no errors.
            full_name = name if asked is plan.estimator else f"{name}.{asked.estimand}"
            with at(f"nads.{name}: "):
                stated = networks.symmetry_of_inputs(specification, source.input)
                symmetry = stated if asked.symmetry else "none"
                network = networks.build(specification, source.input[0], 1, plan.seed)
                estimator, estimation = begun(network, asked, source, symmetry, f"{full_name}: ")
            identity, shape = (plan.seed, full_name), source.input
            recipe = Recipe(specification, request.own, shape, identity, estimator, str(device))
            sums = store.Sums(store.default_folder(), key(recipe, estimation))
            yield Task(full_name, recipe, estimation, sums)


def finished(
    tasks: Sequence[Task], device: torch.device, reuse: bool
) -> Iterator[tuple[Task, NADs]]:
    """Yields (task, its NADs), one estimate after another.

    reuse: whether an estimate goes on from the sums in the store, for which one that another run
    has under way is waited for. Raises the exception of `Task.sample`.
    """
    for task in tasks:
        with Claims(task.sums.store) as claims:
            if not claims.take(task.sums.key):
                notice(f"another run makes the NADs of {task.name}; this one waits")
                claims.wait(task.sums.key)
            if reuse:
                task.restore()
            task.sample(device)
            with at(f"nads.{task.name}: "):
                nads = task.estimation.nads(task.recipe.estimator)
            task.estimation = None  # the sums of a large input are most of the memory
            yield task, nads
