"""The data sets of an experiment's cells, made from its directions and base noise, in
data/datasets/ or in memory."""

import functools
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import torch

from pipeline.experiments.experiment import Cell, Experiment
from pipeline.experiments.plan import Plan
from pipeline.machine import store
from pipeline.project import artifacts
from pipeline.training.loop import Labelled


def count_samples(plan: Plan) -> dict[str, int]:
    """Return the numbers of training and test samples, by split.

    There can be fewer images than planned. Before `generate`, their number is unknown.
    """
    planned = {"train": plan.train_samples, "test": plan.test_samples}
    images = artifacts.read_about_pictures(plan.experiment) or planned
    return {split: min(count, images[split]) for split, count in planned.items()}


class Data:
    """The data sets of an experiment's cells; files are read when they are first
    needed."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment

    def recipe(self) -> Callable[[], "Data"]:
        """Return a function without arguments that makes these data in a worker."""
        return functools.partial(Data, self.experiment)

    @functools.cached_property
    def vectors(self) -> dict[str, np.ndarray]:
        """The experiment's directions by name."""
        return artifacts.read_dataset(self.experiment.name, "directions.npz")

    @functools.cached_property
    def outputs(self) -> int:
        """Number of outputs of the experiment's networks."""
        name = self.experiment.name
        outputs = self.experiment.outputs
        return outputs or len(artifacts.read_about_pictures(name)["classes"])

    def base_noise(self, seed: int) -> dict[str, np.ndarray]:
        """Return the arrays of one seed's base noise."""
        return artifacts.read_base_noise(self.experiment.name, seed)

    @functools.cached_property
    def digests(self) -> dict[str, dict[str, str]]:
        """Digests of arrays: those of 'directions' by name, and those of the base
        noise of each seed, for example 'seed0', by name."""
        digests = {"directions": store.digests(self.vectors)}
        for seed in self.seeds:
            digests[f"seed{seed}"] = store.digests(self.base_noise(seed))
        return digests

    @property
    def seeds(self) -> set[int]:
        """The seeds of the cells."""
        return {cell["seed"] for cell in artifacts.read_cells(self.experiment.name)}

    def cells(self) -> list[Cell]:
        """Return the cells.

        Raises:
            InputError: The data sets were generated from another plan.
        """
        name = self.experiment.name
        artifacts.check_plan(name, artifacts.DATASETS / name, f"generate {name}")
        return artifacts.read_cells(name)

    def directions(self, cell: Cell) -> list[np.ndarray]:
        """Return the directions from which a cell's data sets are made."""
        return [self.vectors[name] for name in self.experiment.direction_names(cell)]

    def dataset(self, cell: Cell, split: str) -> Labelled:
        """Return the inputs and class numbers of a cell's training or test set."""
        return self.experiment.dataset(
            cell, split, self.base_noise(cell["seed"]), self.directions(cell)
        )

    def test_sets(self, cell: Cell) -> Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
        """Yield the name, inputs and class numbers of each test set of a cell."""
        return self.experiment.test_sets(
            cell, self.base_noise(cell["seed"]), self.directions(cell)
        )


class DataInMemory(Data):
    """The data sets of an experiment without images, made without reading files.

    Each worker makes the base noise of the seed that it trains.
    """

    def __init__(
        self, experiment: Experiment, plan: Plan, vectors: Mapping[str, np.ndarray]
    ) -> None:
        """Keep what determines the data sets.

        Args:
            experiment: The experiment.
            plan: Its plan.
            vectors: Its directions by name, as `Experiment.directions` returns them.
        """
        super().__init__(experiment)
        self.plan = plan
        self.vectors = vectors
        self._last_noise = {}

    def recipe(self) -> Callable[[], Data]:
        """Return a function without arguments that makes these data in a worker."""
        return functools.partial(DataInMemory, self.experiment, self.plan, self.vectors)

    def base_noise(self, seed: int) -> dict[str, np.ndarray]:
        """Return the arrays of one seed's base noise; only the last seed's are kept."""
        if seed not in self._last_noise:
            noise = self.experiment.draw_base_noise(self.plan, seed, None)
            self._last_noise = {seed: noise}
        return self._last_noise[seed]

    @property
    def seeds(self) -> set[int]:
        """The seeds of the plan."""
        return set(self.plan.seeds)
