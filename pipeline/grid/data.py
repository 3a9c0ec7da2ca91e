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
from pipeline.project.errors import InputError
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
        self._noise_digests: dict[int, dict[str, str]] = {}

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
    def direction_digests(self) -> dict[str, str]:
        """Digests of the directions, by name."""
        return store.digests(self.vectors)

    def noise_digests(self, seed: int) -> dict[str, str]:
        """Return the digests of the arrays of one seed's base noise, by name."""
        if seed not in self._noise_digests:
            self._noise_digests[seed] = store.digests(self.base_noise(seed))
        return self._noise_digests[seed]

    def cells(self, plan: Plan) -> list[Cell]:
        """Return the cells of the plan.

        Raises:
            InputError: The data sets were generated from another plan, or by other
                code.
        """
        name = self.experiment.name
        folder = artifacts.DATASETS / name
        artifacts.check_plan(name, folder, f"generate {name}")
        cells = self.experiment.cells(plan)
        if cells != artifacts.read_cells(name):
            raise InputError(
                f"{folder} does not have the planned cells; run `python -m "
                f"pipeline.generate {name}`",
                "stale",
                path=str(folder),
            )
        return cells

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
