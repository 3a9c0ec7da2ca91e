"""Estimates of NADs under way, of several architectures after one another: made by all workers, and kept on the way.

An estimate that was killed goes on near where it stopped, and one of more networks goes on from the sums of fewer.
"""

import dataclasses
import functools
import sys
import time
import typing
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import torch
from tqdm import tqdm

from pipeline import networks
from pipeline.machine import closure, store, workers
from pipeline.machine.claims import Claims
from pipeline.nads.covariance import Covariance
from pipeline.nads.directions import NADs
from pipeline.nads.estimation import FIRST_CHECK, Estimation, stopping_count
from pipeline.nads.estimator import Estimator
from pipeline.nads.jacobian import jacobian_of_untrained
from pipeline.nads.leading import Leading
from pipeline.project.errors import InputError

KEEP_EVERY = 30
"""Seconds between two states kept of an estimate under way; more where writing one takes over a tenth of that."""


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What a worker needs for each untrained network of one estimate, besides its number.

    specification: the network's place and its arguments; shape: (C, H, W) of one input; identity: (seed, name of the
    estimate), from which the networks' seeds derive; device: as text, 'cpu' or 'cuda'.
    """

    specification: dict[str, typing.Any]
    shape: tuple[int, ...]
    identity: tuple[int, str]
    estimator: Estimator
    device: str


def jacobian(_: object, work: tuple[Recipe, int]) -> np.ndarray:
    """The Jacobian of one network of a recipe, as a worker makes it from (recipe, number)."""
    recipe, number = work
    build = functools.partial(networks.build, recipe.specification, recipe.shape[0], 1)
    return jacobian_of_untrained(build, recipe.shape, number, recipe.identity, recipe.estimator, recipe.device)


def decisive(network: str, accumulator: Covariance | Leading) -> list:
    """The code from which all that decides an estimate's sums is reached: worker's, network's and accumulator's."""
    kept = [getattr(accumulator, name) for name in ("add", "state", "restore", "error")]
    return [jacobian, network, (Estimation, "add"), *kept]


def key(recipe: Recipe, accumulator: Covariance | Leading) -> str:
    """The digest of everything that decides the sums of an estimate, code included, but the number of networks."""
    return store.digest(
        {
            "code": closure.digest(*decisive(recipe.specification["network"], accumulator)),
            "specification": recipe.specification,
            "input": recipe.shape,
            "identity": recipe.identity,
            "estimator": {f: getattr(recipe.estimator, f) for f in ("estimand", "method", "step", "point")},
            "device": torch.device(recipe.device).type,
            "kind": type(accumulator).__name__,
            "symmetry": accumulator.symmetry,
        }
    )


class Task:
    """One estimate under way: by what recipe, how far it is, and where its sums are kept.

    name: whose NADs; sums: the store's `Sums` of this estimate; minutes: how long it has taken, once it has begun; limit: the
    time of `time.monotonic` at which it shall end with the networks that are done by then, at least `FIRST_CHECK`; or None.
    """

    def __init__(
        self, name: str, recipe: Recipe, estimation: Estimation, sums: store.Sums, limit: float | None = None
    ) -> None:
        self.name, self.recipe, self.estimation, self.sums, self.limit = name, recipe, estimation, sums, limit
        self.bar, self.kept, self.started, self.due = None, None, 0.0, 0.0
        # How many networks there were when the first of this run had come, and when that was.
        self.first = None
        self.damaged = set()

    @property
    def claim(self) -> str:
        """The name of this estimate among the claims of the runs that share a store."""
        return store.digest(self.sums.key)

    @property
    def minutes(self) -> float:
        """Minutes since the first of its networks was asked for."""
        return (time.monotonic() - self.started) / 60

    def restore(self) -> None:
        """Go on from the largest number of networks that was kept and is not beyond the end of this estimate."""
        for count in self.sums.counts():
            if count > self.estimation.networks:
                continue
            if (state := self.sums.get(count)) is None:
                self.damaged.add(count)
                continue
            stop = stopping_count(state["trace"], self.estimation.target_error)
            if stop is None or stop >= count:
                self.estimation.restore(state, count)
                return

    def numbers(self) -> Iterator[int]:
        """The numbers of the networks that are still due; ends when the estimate is finished."""
        estimation = self.estimation  # which is let go of when the estimate has ended
        first = estimation.accumulator.count
        self.bar = tqdm(
            desc=f"estimate {self.name}",
            total=estimation.expected_networks(),
            initial=first,
            unit="network",
            disable=None,
        )
        self.started = time.monotonic()
        self.due = self.started + KEEP_EVERY
        for number in range(first, estimation.networks):
            if estimation.finished:
                return
            if self._time_is_up(number):
                estimation.networks = number
                if estimation.finished:
                    self.keep()
                return
            yield number

    def _time_is_up(self, number: int) -> bool:
        """Whether network `number` would not be done by the limit, as fast as they came since the first, for which workers start."""
        if self.limit is None or number < FIRST_CHECK:
            return False
        now, count = time.monotonic(), self.estimation.accumulator.count
        came, at = self.first or (count, now)
        each = (now - at) / (count - came) if count > came else 0.0
        return now + each * (number + 1 - count) > self.limit

    def take(self, number: int, jacobian: np.ndarray) -> None:
        """Add network `number`, show how far the estimate is, and keep it if that is due or it is finished."""
        before = self.estimation.accumulator.count
        self.estimation.add(number, jacobian)
        self.first = self.first or (before + 1, time.monotonic())
        self.bar.total = self.estimation.expected_networks()
        if self.estimation.trace:
            self.bar.set_postfix(error=f"{self.estimation.trace[-1][1]:.3f}", refresh=False)
        self.bar.update(self.estimation.accumulator.count - before)
        if self.estimation.finished or time.monotonic() > self.due:
            self.keep()

    def keep(self) -> None:
        """Keep the sums so far in place of those that this run kept before."""
        started, count = time.monotonic(), self.estimation.accumulator.count
        if count and (count not in self.sums.counts() or count in self.damaged):
            self.damaged.discard(count)
            self.sums.put(count, self.estimation.state())
            if self.kept is not None:
                self.sums.drop(self.kept)
            self.kept = count
        self.due = time.monotonic() + max(KEEP_EVERY, 10 * (time.monotonic() - started))


def finished(tasks: Sequence[Task], device: torch.device, reuse: bool) -> Iterator[tuple[Task, NADs]]:
    """Yields (task, its NADs) as the estimates end, in their order; but those that another run has under way are left to it,
    and waited for when there is nothing else to do.

    tasks: of one store. The failure of one network is raised, after what was done is kept. reuse: go on from the sums that were
    kept, rather than from none.
    """
    due, others = list(tasks), []
    if not due:
        return
    with Claims(due[0].sums.store) as claims:

        def mine(task):
            if not (taken := claims.take(task.claim)):
                others.append(task)
            return taken

        while due:
            for task, nads in _together(filter(mine, due), device, reuse):
                claims.release(task.claim)
                yield task, nads
            if len(others) == len(due):
                # Only here, with no estimate under way that the other run could be waiting for.
                tqdm.write(
                    f"notice: another run makes the NADs of {others[0].name}; this one waits for them", file=sys.stderr
                )
                claims.wait(others[0].claim)
            due = others.copy()
            others.clear()


def _together(tasks: Iterable[Task], device: torch.device, reuse: bool) -> Iterator[tuple[Task, NADs]]:
    """Yields (task, its NADs) as the estimates end, in their order; tasks: asked for the next one when its turn comes."""
    owners, unfinished = [], []

    def work():
        for task in tasks:
            unfinished.append(task)
            if reuse:
                task.restore()
            for number in task.numbers():
                owners.append((task, number))
                yield task.recipe, number

    def ended():
        # In the order of the tasks; the sums are let go, since those of a large input are most of the memory.
        while unfinished and unfinished[0].bar is not None and unfinished[0].estimation.finished:
            task = unfinished.pop(0)
            task.bar.close()
            try:
                nads, task.estimation = task.estimation.nads(task.recipe.estimator), None
            except InputError as error:
                raise InputError(f"nads.{task.name}: {error}") from None
            yield task, nads

    for position, result in workers.run(jacobian, work(), dict, device):
        task, number = owners[position]
        if isinstance(result, Exception):
            for other in unfinished:
                other.keep()
            raise result
        if task in unfinished:
            task.take(number, result)
        yield from ended()
    yield from ended()
