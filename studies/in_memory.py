"""Cells trained on the CPU without the stages: plan and data are made in memory."""

import dataclasses
import functools
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

from pipeline import experiments, networks
from pipeline.experiments.experiment import Cell, Experiment
from pipeline.experiments.plan import Plan
from pipeline.grid.data import DataInMemory
from pipeline.machine import workers
from pipeline.project import artifacts
from pipeline.training import loop, seeds


def train(
    experiment: Experiment,
    plan: Plan,
    cell: Cell,
    x: torch.Tensor,
    y: torch.Tensor,
    outputs: int,
    *,
    name: str | None = None,
    specification: networks.Specification | None = None,
    callback: Callable[[nn.Module, int], None] | None = None,
    **changes: Any,
) -> tuple[nn.Module, loop.Outcome, float]:
    """Train a cell's network as the stage trains it.

    Args:
        experiment: The cell's experiment.
        plan: Its plan.
        cell: The cell.
        x: Inputs of its training set, (N, C, H, W).
        y: Class numbers, (N,).
        outputs: Number of outputs of the network.
        name: Name of the experiment from which the seeds derive, if another.
        specification: The network, if another.
        callback: Called with the network and the number of finished epochs, before the
            first step and after each epoch.
        changes: Fields of its training that are not as planned.

    Returns:
        The trained network, the course of its training, and its seconds.
    """
    member = plan.members[cell["architecture"]]
    coordinates = (cell[coordinate] for coordinate in experiment.coordinates)
    identity = cell["seed"], name or experiment.name, cell["architecture"], *coordinates
    specification = specification or member.specification
    seed = seeds.for_weights(*identity)
    network = networks.build(specification, x.shape[1], outputs, seed)
    how = dataclasses.replace(member.training, **changes)
    x = loop.channels_last(x, "cpu")
    started = time.perf_counter()
    after_epoch = functools.partial(callback, network) if callback else None
    outcome = loop.train(network, x, y, how, seeds.for_order(*identity), after_epoch)
    return network, outcome, time.perf_counter() - started


def learn_direction(
    experiment: Experiment, plan: Plan, cell: Cell, v: np.ndarray, **how: Any
) -> tuple[loop.Outcome, float]:
    """Train a cell's network on D(v) and test it.

    Args:
        experiment: The cell's experiment, with one channel.
        plan: Its plan.
        cell: The cell.
        v: Unit vector (D,) in place of the cell's own direction.
        how: Further arguments of `train`.

    Returns:
        The course of the training, and the test accuracy.
    """
    noise = experiment.draw_base_noise(plan, cell["seed"], None)
    x, y = experiment.dataset(cell, "train", noise, [v])
    outputs = experiment.outputs
    network, outcome, _ = train(experiment, plan, cell, x, y, outputs, **how)
    x, y = experiment.dataset(cell, "test", noise, [v])
    return outcome, loop.accuracy(network, loop.channels_last(x, "cpu"), y)


def learn_images(
    experiment: Experiment,
    plan: Plan,
    cell: Cell,
    images: dict[str, Any],
    change: Callable[[torch.Tensor], torch.Tensor],
) -> tuple[loop.Outcome, float]:
    """Train a cell's network on changed images and test it on such images.

    Args:
        experiment: `flip`, or an experiment that has pictures and classes as it has.
        plan: Its plan.
        cell: The cell.
        images: The image set, as `artifacts.read_images` reads it.
        change: Takes images (N, C, H, W) and returns as many.

    Returns:
        The course of the training, and the test accuracy.
    """
    noise = experiment.draw_base_noise(plan, cell["seed"], images)
    x = change(experiment.normalised_pictures("train", noise))
    y = experiment.classes("train", noise)
    network, outcome, _ = train(experiment, plan, cell, x, y, len(images["classes"]))
    x = change(experiment.normalised_pictures("test", noise))
    y = experiment.classes("test", noise)
    return outcome, loop.accuracy(network, loop.channels_last(x, "cpu"), y)


def collect(function: Callable, jobs: list[Any], context: Any) -> list[dict[str, Any]]:
    """Collect the rows that workers make of jobs.

    Args:
        function: Makes the rows of a job; called with the context and the job.
        jobs: The jobs.
        context: What all jobs need.
    """
    rows = []
    for _, result in _work(function, jobs, context):
        if isinstance(result, Exception):
            raise result
        rows += result
    return rows


def complete(
    path: Path, function: Callable, jobs: Mapping[tuple, Any], context: Any
) -> pd.DataFrame:
    """Complete a table by workers, so that a program that was killed resumes.

    Args:
        path: CSV file, which need not exist yet, nor its folder. Each row is added as
            soon as it is made.
        function: Makes the row of a job; called with the context and the job.
        jobs: Jobs by the values in the first columns of their rows.
        context: What all jobs need.

    Returns:
        The table, whose rows are in the order in which they were made.
    """
    keys = len(next(iter(jobs)))
    made = set()
    if path.exists():
        # An empty text is no missing value.
        columns = pd.read_csv(path, keep_default_na=False).iloc[:, :keys]
        made = set(columns.itertuples(index=False, name=None))
    lacking = [job for key, job in jobs.items() if key not in made]
    path.parent.mkdir(parents=True, exist_ok=True)
    for _, row in _work(function, lacking, context):
        if isinstance(row, Exception):
            raise row
        line = pd.DataFrame([row])
        header = not path.exists()
        line.to_csv(path, mode="a", header=header, index=False, float_format="%.5g")
        print(line.to_string(header=False, index=False), flush=True)
    return pd.read_csv(path)


def _work(
    function: Callable, jobs: list[Any], context: Any
) -> Iterator[tuple[Any, Any]]:
    """Yield each job with its result, from one worker per core."""
    return workers.run(function, jobs, lambda: context, torch.device("cpu"))


class LinearPairs:
    """The cells and the data of a plan of `linear_pairs`, along NADs of data/nads; each
    worker makes its own."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.experiment = experiments.find("linear_pairs")
        self.cells = self.experiment.cells(plan)
        read_nads = functools.lru_cache(1)(artifacts.read_nads)
        vectors = self.experiment.directions(plan, read_nads)
        self.data = DataInMemory(self.experiment, plan, vectors)

    def train(
        self, cell: Cell, name: str, **changes: Any
    ) -> tuple[loop.Outcome, dict[str, float], float]:
        """How a cell's training went, its test accuracies by test set, and the seconds
        (see `train`)."""
        x, y = self.data.dataset(cell, "train")
        network, outcome, seconds = train(
            self.experiment,
            self.plan,
            cell,
            x,
            y,
            self.data.outputs,
            name=name,
            **changes,
        )
        accuracies = {
            test_set: loop.accuracy(network, loop.channels_last(x, "cpu"), y)
            for test_set, x, y in self.data.test_sets(cell)
        }
        return outcome, accuracies, seconds
