"""Estimates of NADs made by all workers, and their sums in the store.

A killed estimate goes on near where it stopped, and an estimate of more networks from the sums of
fewer.
"""

import dataclasses
import itertools
import time
from collections.abc import Iterator, Sequence

import torch
from tqdm import tqdm

from pipeline import networks
from pipeline.machine import store, workers
from pipeline.machine.claims import Claims
from pipeline.nads.directions import NADs
from pipeline.nads.estimation import Estimation, begun, stopping_count
from pipeline.nads.estimator import NADsPlan
from pipeline.nads.recipe import Recipe, jacobian, key
from pipeline.project.errors import at, notice

KEEP_EVERY = 30
"""Seconds between two times at which the sums of an estimate under way are saved."""


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
        those that this call saved before. Raises the exception of a network that cannot be built or
        run.
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
    has under way is waited for. Raises the exception of a network that cannot be run, once the sums
    so far are saved.
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
