"""Cells of `linear_pairs` trained without the stages: plan and data are made in memory."""

import dataclasses
import functools
import time

from pipeline import experiments, networks
from pipeline.cells import seeds, training
from pipeline.experiments.experiment import Cell
from pipeline.experiments.plan import Plan
from pipeline.grid.data import Data
from pipeline.project import artifacts


class Grid:
    """The cells and the data of a plan, along NADs of data/nads; each worker makes its own."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.experiment = plan, experiments.find("linear_pairs")
        self.cells = self.experiment.cells(plan)
        self.data = Data(self.experiment)
        nads = functools.lru_cache(1)(artifacts.nads)
        self.data.vectors = self.experiment.directions(plan, nads)
        draw = lambda seed: self.experiment.draw(plan, seed, None)
        self.data.draw = functools.lru_cache(1)(draw)

    def train(
        self, cell: Cell, name: str, **changes: object
    ) -> tuple[training.Outcome, dict[str, float], float]:
        """How a cell's training went on the CPU, its test accuracies by test set, and the seconds.

        name: the experiment's, from which the seeds derive; changes: fields of the training that
        are not as planned.
        """
        member = self.plan.members[cell["architecture"]]
        coordinates = (cell[coordinate] for coordinate in self.experiment.coordinates)
        identity = cell["seed"], name, cell["architecture"], *coordinates
        weights, order = (seeds.derive(*identity, part) for part in ("weights", "order"))
        channels, outputs = self.experiment.channels, self.data.outputs
        network = networks.build(member.specification, channels, outputs, weights)
        x, y = self.data.dataset(cell, "train")
        how = dataclasses.replace(member.training, **changes)
        x, started = training.channels_last(x, "cpu"), time.perf_counter()
        outcome = training.train(network, x, y, how, order)
        seconds = time.perf_counter() - started
        accuracies = {
            test_set: training.accuracy(network, training.channels_last(x, "cpu"), y)
            for test_set, x, y in self.data.test_sets(cell)
        }
        return outcome, accuracies, seconds
