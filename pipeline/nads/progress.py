"""Estimates of NADs under way, made by all workers and kept on the way.

One that was killed goes on near where it stopped, and one of more networks from the sums of fewer.
"""

import sys
import time
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from tqdm import tqdm

from pipeline import networks
from pipeline.machine import store, workers
from pipeline.machine.claims import Claims
from pipeline.nads.directions import NADs
from pipeline.nads.estimation import Estimation, begun, stopping_count
from pipeline.nads.estimator import Estimator
from pipeline.nads.plan import Request
from pipeline.nads.recipe import Recipe, jacobian, key
from pipeline.project.errors import InputError

KEEP_EVERY = 30
"""Seconds between two states kept of an estimate under way."""


class Task:
    """One estimate under way: whose NADs, by what recipe, how far it is, and its kept sums."""

    def __init__(self, name: str, recipe: Recipe, estimation: Estimation, sums: store.Sums) -> None:
        self.name, self.recipe, self.estimation = name, recipe, estimation
        self.sums, self.started, self.due = sums, 0.0, 0.0
        # Numbers of networks: those that this run went on from, and those that it last kept.
        self.restored, self.kept = 0, None

    @property
    def minutes(self) -> float:
        """Minutes since the first of its networks was asked for."""
        return (time.monotonic() - self.started) / 60

    def restore(self) -> None:
        """Go on from the most networks that were kept and are not beyond this estimate's end."""
        for count in self.sums.counts():
            if count > self.estimation.networks or (state := self.sums.get(count)) is None:
                continue
            stop = stopping_count(state["trace"], self.estimation.target_error)
            if stop is None or stop >= count:
                self.restored = count
                self.estimation.restore(state, count)
                return

    def numbers(self) -> Iterator[int]:
        """The numbers of the networks that are still due; ends when the estimate is finished."""
        estimation = self.estimation  # which is let go of when the estimate has ended
        first, most = estimation.accumulator.count, estimation.networks
        title = f"estimate {self.name}"
        self.bar = tqdm(desc=title, total=most, initial=first, unit="network", disable=None)
        self.started = time.monotonic()
        self.due = self.started + KEEP_EVERY
        for number in range(first, most):
            if estimation.finished:
                return
            yield number

    def take(self, number: int, jacobian: np.ndarray) -> None:
        """Add network `number`, and keep the sums if that is due or the estimate is finished."""
        before = self.estimation.accumulator.count
        self.estimation.add(number, jacobian)
        self.bar.update(self.estimation.accumulator.count - before)
        if self.estimation.finished or time.monotonic() > self.due:
            self.keep()

    def keep(self) -> None:
        """Keep the sums so far in place of those that this run kept before."""
        count = self.estimation.accumulator.count
        if count not in (self.restored, self.kept):
            self.sums.put(count, self.estimation.state())
            if self.kept is not None:
                self.sums.drop(self.kept)
            self.kept = count
        self.due = time.monotonic() + KEEP_EVERY


def task(
    name: str, request: Request, seed: int, estimator: Estimator, device: torch.device
) -> Task:
    """An estimate, not begun yet, whose networks' seeds derive from `seed` and its `name`."""
    specification, source = request.specification, request.source
    symmetry = networks.symmetry(specification) if estimator.symmetry else "none"
    network = networks.build(specification, source.input[0], 1, seed)
    estimator, estimation = begun(network, estimator, source, symmetry, f"{name}: ")
    recipe = Recipe(specification, request.own, source.input, (seed, name), estimator, str(device))
    sums = store.Sums(store.default_folder(), key(recipe, estimation.accumulator))
    return Task(name, recipe, estimation, sums)


def finished(
    tasks: Sequence[Task], device: torch.device, reuse: bool
) -> Iterator[tuple[Task, NADs]]:
    """Yields (task, its NADs) in the order in which the estimates end.

    Those that another run has under way are waited for when there is nothing else to do. The
    failure of one network is raised, after what was done is kept. reuse: go on from kept sums.
    """
    if not tasks:
        return
    with Claims(tasks[0].sums.store) as claims:
        while tasks:
            others = []
            for task, nads in _together(tasks, claims, others, device, reuse):
                claims.release(task.sums.key)
                yield task, nads
            if len(others) == len(tasks):
                # Only here, with no estimate under way that the other run could be waiting for.
                notice = f"notice: another run makes the NADs of {others[0].name}; this one waits"
                print(notice, file=sys.stderr)
                claims.wait(others[0].sums.key)
            tasks = others


def _together(
    tasks: Sequence[Task], claims: Claims, others: list[Task], device: torch.device, reuse: bool
) -> Iterator[tuple[Task, NADs]]:
    asked, under_way = [], []

    def jobs():
        for task in tasks:
            if not claims.take(task.sums.key):  # another run has it under way
                others.append(task)
                continue
            under_way.append(task)
            if reuse:
                task.restore()
            for number in task.numbers():
                asked.append((task, number))
                yield task.recipe, number

    def ended():
        while under_way and under_way[0].estimation.finished:
            task = under_way.pop(0)
            task.bar.close()
            try:
                nads = task.estimation.nads(task.recipe.estimator)
            except InputError as error:
                raise InputError(f"nads.{task.name}: {error}") from None
            task.estimation = None  # the sums of a large input are most of the memory
            yield task, nads

    for position, result in workers.run(jacobian, jobs(), dict, device):
        task, number = asked[position]
        if isinstance(result, Exception):
            for other in under_way:
                other.keep()
            raise result
        if task in under_way:
            task.take(number, result)
        yield from ended()
    yield from ended()
