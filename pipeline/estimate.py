"""Stage `estimate`: the NADs of every architecture that the scale uses -> data/nads/{architecture}.npz.

With `estimator.compare`, those of the other estimand too -> data/nads/{architecture}.{estimand}.npz. A run that was killed
goes on near where it stopped, and more networks go on from those that were done.
"""

import dataclasses
import functools
import sys
import time

import numpy as np
import psutil
import threadpoolctl
from tqdm import tqdm

from pipeline import artifacts, networks, params
from pipeline.machine import closure, store, workers
from pipeline.nads import anisotropy, derivatives
from pipeline.project.errors import InputError, one_sentence

KEEP_EVERY = 30
"""Seconds between two states kept of an estimate in progress; more where writing one takes over a tenth of that."""

WORKER = 600e6
"""Bytes that one worker process takes besides its share of the estimate: torch, a network and one batch."""


class Task:
    """One estimate in progress: whose NADs, by which estimator, to which file, and how far it is."""

    def __init__(self, name, part, source, specification, estimator, estimation, sums):
        self.name, self.part, self.source, self.specification = name, part, source, specification
        self.estimator, self.estimation, self.sums = estimator, estimation, sums
        self.bar, self.kept, self.started, self.due = None, None, 0.0, 0.0

    def restore(self):
        """Go on from the largest number of networks that was kept and is not beyond the end of this estimate."""
        for count in self.sums.counts():
            trace = self.sums.get(count, ["trace"])
            if count > self.estimation.networks or trace is None:
                continue
            stop = anisotropy.stops(trace["trace"], self.estimation.enough)
            if (stop is None or stop >= count) and (state := self.sums.get(count)) is not None:
                self.estimation.restore(state, count)
                return

    def recipes(self, seed, device):
        """What a worker needs for each network that is still due; ends when the estimate is finished."""
        estimation = self.estimation
        first = estimation.covariance.count
        self.bar = tqdm(
            desc=f"estimate {self.name}{self.part}",
            total=estimation.expected(),
            initial=first,
            unit="network",
            disable=None,
        )
        self.started = time.monotonic()
        self.due = self.started + KEEP_EVERY
        for number in range(first, estimation.networks):
            if estimation.finished:
                return
            yield {
                "specification": networks.resolved(self.specification),
                "shape": self.source.input,
                "number": number,
                # The other estimand's networks are others, so that no sampling error is shared by what is compared.
                "identity": (seed, self.name + self.part),
                "estimator": self.estimator,
                "device": device,
            }

    def take(self, number, root):
        """Add the sample of network `number`, show how far the estimate is, and keep it if that is due or it is finished."""
        before = self.estimation.covariance.count
        self.estimation.add(number, root)
        self.bar.total = self.estimation.expected()
        if self.estimation.trace:
            self.bar.set_postfix(error=f"{self.estimation.trace[-1][1]:.3f}", refresh=False)
        self.bar.update(self.estimation.covariance.count - before)
        if self.estimation.finished or time.monotonic() > self.due:
            self.keep()

    def keep(self):
        """Keep the sums so far in place of those that this run kept before."""
        started, count = time.monotonic(), self.estimation.covariance.count
        if count and count not in self.sums.counts():
            self.sums.put(count, self.estimation.state())
            if self.kept is not None:
                self.sums.drop(self.kept)
            self.kept = count
        self.due = time.monotonic() + max(KEEP_EVERY, 10 * (time.monotonic() - started))


def sample(_, recipe):
    """One network's sample; runs in a worker."""
    recipe = dict(recipe)
    build = functools.partial(networks.made, recipe.pop("specification"), recipe["shape"][0], 1)
    return anisotropy.sample(build, **recipe)


def tasks_of(chosen, device):
    """The estimates that are asked for, each restored from what was kept of it, in the order in which they are made.

    Raises InputError if one of them does not fit into memory.
    """
    tasks = []
    free = psutil.virtual_memory().available - WORKER * (workers.cores() if device.type == "cpu" else 1)
    for name, source in chosen.nads.items():
        if source.file is not None:
            continue
        specification = chosen.architectures[name]
        network = networks.build(specification, source.input[0], 1, chosen.seed)
        estimators = {"": chosen.estimator}
        if chosen.estimator.compare and source.first is None:
            estimators["." + chosen.estimator.other().estimand] = chosen.estimator.other()
        for part, estimator in estimators.items():
            estimator, reason = derivatives.usable(network, estimator, source.input)
            if reason and not part:
                print(f"notice: {name}: {reason}; its NADs use `plain`, which needs far more networks", file=sys.stderr)
            symmetry = networks.symmetry(specification) if estimator.symmetry else "none"
            rows = anisotropy.rows_of(network, estimator, source.input)
            try:
                holder = anisotropy.holder(source.input, rows, source.networks, source.first, symmetry, free)
            except InputError as error:
                raise InputError(f"nads.{name}: {error}") from None
            key = store.digest(
                {
                    "specification": (place := networks.resolved(specification)),
                    "code": closure.digest(
                        sample,
                        place["network"],
                        anisotropy.Estimation.add,
                        holder.add,
                        holder.state,
                        holder.restore,
                        holder.error,
                    ),
                    "input": source.input,
                    "kind": type(holder).__name__,
                    "identity": [chosen.seed, name + part],
                    "estimator": {f: getattr(estimator, f) for f in ("estimand", "method", "step", "point")},
                    "symmetry": symmetry,
                    "device": device.type,
                }
            )
            estimation = anisotropy.Estimation(holder, source.networks, source.error)
            sums = store.Sums(store.default_folder(), key)
            tasks.append(Task(name, part, source, specification, estimator, estimation, sums))
    return tasks


def finished(tasks, chosen, device):
    """Yield (task, NADs) as the estimates end; a failure of one network ends the stage, and what was done is kept."""
    owners, open_tasks = [], list(tasks)

    def recipes():
        for task in tasks:
            if chosen.reuse:
                task.restore()
            for recipe in task.recipes(chosen.seed, str(device)):
                owners.append((task, recipe["number"]))
                yield recipe

    def ended():
        # In the order of the tasks; the sums are let go, since those of a large input are most of the memory.
        while open_tasks and open_tasks[0].bar is not None and open_tasks[0].estimation.finished:
            task = open_tasks.pop(0)
            task.bar.close()
            nads, task.estimation = task.estimation.nads(task.estimator), None
            yield task, nads

    for position, result in workers.run(sample, recipes(), dict, device):
        task, number = owners[position]
        if isinstance(result, Exception):
            for other in open_tasks:
                if other.bar is not None:
                    other.keep()
            raise result
        if task in open_tasks and not task.estimation.finished:
            task.take(number, result)
        yield from ended()
    yield from ended()


def rounded(number, digits):
    """A number for metrics: `digits` significant digits, None where it is not known."""
    return float(f"{number:.{digits}g}") if np.isfinite(number) else None


def main():
    """Estimate or import, and write the NADs, architecture by architecture."""
    chosen = params.load()
    device = workers.device_of(chosen.device)
    networks.check(chosen.architectures, {n: {(s.input, 1)} for n, s in chosen.nads.items() if s.file is None})
    files = {}
    for name, source in chosen.nads.items():
        if source.file is not None:
            try:
                files[name] = anisotropy.imported(artifacts.rows_of(source.file), source.input, source.file)
            except InputError as error:
                raise InputError(f"nads.{name}: {error}") from None
    tasks = tasks_of(chosen, device)
    folder = artifacts.fresh(artifacts.NADS)
    for name, nads in files.items():
        np.savez(folder / f"{name}.npz", **dataclasses.asdict(nads))
        print(f"{name}: {len(nads.directions)} NADs from {chosen.nads[name].file}")
    metrics = {}
    for task, nads in finished(tasks, chosen, device):
        np.savez(folder / f"{task.name}{task.part}.npz", **dataclasses.asdict(nads))
        first = np.sqrt(nads.eigenvalues[0])
        metrics[task.name + task.part] = {
            "error": rounded(nads.error, 3),
            "split_half": rounded(nads.split_half, 3),
            "networks": nads.networks,
            "first_singular_value": rounded(first, 4),
            "overlap_of_first_10": rounded(nads.overlap[min(9, len(nads.overlap) - 1)], 3),
        }
        print(
            f"{task.name}: NADs ({nads.estimand}) from {nads.networks} networks, averaged over {nads.symmetry}, "
            f"relative error of C {nads.error:.3f}, first singular value {first:.4g}; "
            f"{(time.monotonic() - task.started) / 60:.1f} min"
        )
    artifacts.write_json(artifacts.REPORTS / "nads.json", metrics)


if __name__ == "__main__":
    # One thread each for the decompositions too: the cores are the workers', and the last bits must not depend on how many.
    with one_sentence(), threadpoolctl.threadpool_limits(1):
        main()
