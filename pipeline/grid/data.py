"""The data sets of an experiment's cells, made of its directions and draws, in
data/datasets/ or in memory."""

import functools
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import torch

from pipeline.experiments.experiment import Cell, Experiment
from pipeline.experiments.plan import Plan
from pipeline.machine import store
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.training.loop import Labelled


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

    def draw(self, seed: int) -> dict[str, np.ndarray]:
        """The arrays of one seed's draw."""
        return artifacts.read_base_noise(self.experiment.name, seed)

    @functools.cached_property
    def digests(self) -> dict[str, dict[str, str]]:
        """The digests, by name, of the arrays of each file: 'directions', 'draw-0' for
        seed 0."""
        digests = {"directions": store.digests(self.vectors)}
        for seed in {
            cell["seed"] for cell in artifacts.read_cells(self.experiment.name)
        }:
            digests[f"draw-{seed}"] = store.digests(self.draw(seed))
        return digests

    def cells(self, plan: Plan) -> list[Cell]:
        """The cells of the plan; raises InputError where the data sets were made for
        others."""
        name = self.experiment.name
        cells = self.experiment.cells(plan)
        if cells != artifacts.read_cells(name):
            raise InputError(
                f"{artifacts.DATASETS / name} is not of the cells that are planned; "
                f"`python -m pipeline.generate {name}` makes it so"
            )
        return cells

    def directions(self, cell: Cell) -> list[np.ndarray]:
        """The directions from which the cell's data sets are made."""
        return [self.vectors[name] for name in self.experiment.direction_names(cell)]

    def dataset(self, cell: Cell, split: str) -> Labelled:
        """Inputs and class numbers of the cell's training or test set."""
        return self.experiment.dataset(
            cell, split, self.draw(cell["seed"]), self.directions(cell)
        )

    def test_sets(self, cell: Cell) -> Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
        """Yields (name, inputs, class numbers) of every test set of the cell's
        network."""
        return self.experiment.test_sets(
            cell, self.draw(cell["seed"]), self.directions(cell)
        )


class DataInMemory(Data):
    """The data sets of an experiment without images, which no file is read for.

    Each worker makes the draw of the seed that it trains.
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
        self._draws = {}

    def recipe(self) -> Callable[[], Data]:
        """Return a function without arguments that makes these data in a worker."""
        return functools.partial(DataInMemory, self.experiment, self.plan, self.vectors)

    def draw(self, seed: int) -> dict[str, np.ndarray]:
        """Return the arrays of one seed's draw, of which only the last is kept."""
        if seed not in self._draws:
            self._draws = {seed: self.experiment.draw_base_noise(self.plan, seed, None)}
        return self._draws[seed]

    @functools.cached_property
    def digests(self) -> dict[str, dict[str, str]]:
        """The digests of the directions and of each seed's draw, by name."""
        digests = {"directions": store.digests(self.vectors)}
        for seed in self.plan.seeds:
            digests[f"draw-{seed}"] = store.digests(self.draw(seed))
        return digests
