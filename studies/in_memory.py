"""Cells trained on the CPU without the stages: plan and data are made in memory."""

import dataclasses
import functools
import time
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn

from pipeline import experiments, networks
from pipeline.experiments.experiment import Cell, Experiment
from pipeline.experiments.plan import Plan
from pipeline.grid.data import Data
from pipeline.project import artifacts
from pipeline.training import loop, seeds


def trained(
    experiment: Experiment,
    plan: Plan,
    cell: Cell,
    x: torch.Tensor,
    y: torch.Tensor,
    outputs: int,
    *,
    name: str | None = None,
    specification: networks.Specification | None = None,
    **changes: Any,
) -> tuple[nn.Module, loop.Outcome, float]:
    """A cell's network, trained as the stage trains it, how its training went, and its
    seconds.

    x (N, C, H, W), y (N,): its training set; name: of the experiment from which the
    seeds derive, if another; specification: of the network, if another; changes: fields
    of its training that are not as planned.
    """
    member = plan.members[cell["architecture"]]
    coordinates = (cell[coordinate] for coordinate in experiment.coordinates)
    identity = cell["seed"], name or experiment.name, cell["architecture"], *coordinates
    weights, order = (seeds.derive(*identity, part) for part in ("weights", "order"))
    specification = specification or member.specification
    network = networks.build(specification, x.shape[1], outputs, weights)
    how = dataclasses.replace(member.training, **changes)
    x = loop.channels_last(x, "cpu")
    started = time.perf_counter()
    outcome = loop.train(network, x, y, how, order)
    return network, outcome, time.perf_counter() - started


class Rows:
    """A table that grows on disk row by row, so that a program that was killed resumes.

    Args:
        path: CSV file, which need not exist yet.
        keys: Number of first columns that identify a row.
    """

    def __init__(self, path: Path, keys: int) -> None:
        self.path = path
        self.keys = keys
        self._rows = pd.read_csv(path).to_dict("records") if path.exists() else []

    def holds(self, *key: Any) -> bool:
        """Whether there is a row with these values in its first columns."""
        # Texts alone compare alike in memory and after reading (an empty one is read as
        # NaN).
        wanted = [self._text(value) for value in key]
        found = ([*map(self._text, row.values())][: self.keys] for row in self._rows)
        return wanted in found

    def add(self, row: dict[str, Any]) -> None:
        """Add a row and write the table, sorted by its first columns."""
        self._rows.append(row)
        table = pd.DataFrame(self._rows)
        table.sort_values([*table.columns[: self.keys]]).to_csv(self.path, index=False)

    @staticmethod
    def _text(value: Any) -> str:
        return "" if value != value or value is None else str(value)


class Grid:
    """The cells and the data of a plan of `linear_pairs`, along NADs of data/nads; each
    worker makes its own."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.experiment = experiments.find("linear_pairs")
        self.cells = self.experiment.cells(plan)
        self.data = Data(self.experiment)
        nads = functools.lru_cache(1)(artifacts.read_nads)
        self.data.vectors = self.experiment.directions(plan, nads)

        def draw(seed):
            return self.experiment.draw_base_noise(plan, seed, None)

        self.data.draw = functools.lru_cache(1)(draw)

    def train(
        self, cell: Cell, name: str, **changes: Any
    ) -> tuple[loop.Outcome, dict[str, float], float]:
        """How a cell's training went, its test accuracies by test set, and the seconds
        (see `trained`)."""
        x, y = self.data.dataset(cell, "train")
        network, outcome, seconds = trained(
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
