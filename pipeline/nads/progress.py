"""Estimates of NADs made by all workers, whose sums are kept on the way.

An estimate that was killed goes on near where it stopped, and one of more networks from the sums of
fewer.
"""

import dataclasses
import math
import sys
import time
from collections.abc import Iterator, Sequence

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


@dataclasses.dataclass
class Task:
    """One estimate: its name, the recipe of its networks, the estimate so far, its kept sums, and
    the minutes that this run has sampled networks for it."""

    name: str
    recipe: Recipe
    estimation: Estimation
    sums: store.Sums
    minutes: float = 0.0

    def restore(self) -> None:
        """Go on from the most networks that were kept and are not beyond this estimate's end."""
        for count in self.sums.counts():
            if count > self.estimation.networks or (state := self.sums.get(count)) is None:
                continue
            stop = stopping_count(state["trace"], self.estimation.target_error)
            if stop is None or stop >= count:
                self.estimation.restore(state, count)
                return

    def sample(self, device: torch.device, least: int = 0, limit: float = math.inf) -> None:
        """Add untrained networks until the estimate is finished, or until the time `limit` of
        `time.monotonic` once `least` are asked for.

        The sums are kept now and then, and however this ends; they replace what this call kept
        before. Raises what building or running a network raised.
        """
        estimation, accumulator = self.estimation, self.estimation.accumulator
        first, kept, started = accumulator.count, accumulator.count, time.monotonic()
        keep_next = started + KEEP_EVERY

        def jobs() -> Iterator[tuple[Recipe, int]]:
            for number in range(first, estimation.networks):
                if estimation.finished or (number >= least and time.monotonic() > limit):
                    return
                yield self.recipe, number

        def keep() -> None:
            nonlocal kept, keep_next
            if accumulator.count > kept:
                self.sums.put(accumulator.count, estimation.state())
                if kept > first:
                    self.sums.drop(kept)
            kept, keep_next = accumulator.count, time.monotonic() + KEEP_EVERY

        title, most = f"estimate {self.name}", estimation.networks
        with tqdm(desc=title, total=most, initial=first, unit="network", disable=None) as bar:
            try:
                for position, result in workers.run(jacobian, jobs(), dict, device):
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
    """Yields (task, its NADs), one estimate after another; reuse: go on from kept sums.

    An estimate that another run has under way comes last, when that run has ended it. Raises what a
    network raised, once the sums so far are kept.
    """
    if not tasks:
        return
    others = []
    with Claims(tasks[0].sums.store) as claims:
        for task in tasks:
            if claims.take(task.sums.key):
                yield task, _nads(task, device, reuse)
                claims.release(task.sums.key)
            else:
                others.append(task)
        # Only here, with no estimate under way that the other run could be waiting for.
        for task in others:
            if not claims.take(task.sums.key):
                notice = f"notice: another run makes the NADs of {task.name}; this one waits"
                print(notice, file=sys.stderr)
                claims.wait(task.sums.key)
            yield task, _nads(task, device, reuse)
            claims.release(task.sums.key)


def _nads(task: Task, device: torch.device, reuse: bool) -> NADs:
    if reuse:
        task.restore()
    task.sample(device)
    try:
        nads = task.estimation.nads(task.recipe.estimator)
    except InputError as error:
        raise InputError(f"nads.{task.name}: {error}") from None
    task.estimation = None  # the sums of a large input are most of the memory
    return nads
