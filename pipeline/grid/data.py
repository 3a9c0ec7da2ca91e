"""One experiment's data sets, from what the stage `generate` laid down: its directions, and one draw per seed."""

import functools
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import torch

from pipeline.grid.experiment import Cell, Experiment, Labelled
from pipeline.machine import store
from pipeline.project import artifacts
from pipeline.project.errors import InputError


def digests_of(draw: dict[str, np.ndarray]) -> dict[str, str]:
    """The digests of the arrays of a draw, by name; those whose names begin with `test` decide no training set."""
    return {name: store.digest(array) for name, array in sorted(draw.items())}


class Data:
    """What the data sets of an experiment's cells are built from, read when first asked for and then kept.

    `functools.partial(Data, experiment)` is the recipe by which a worker makes its own.
    """

    def __init__(self, experiment: Experiment) -> None:
        self.experiment, self.draws = experiment, {}

    @staticmethod
    def reads(experiment: Experiment) -> list[Path]:
        """The folders that the data of an experiment are read from."""
        return [artifacts.DATASETS / experiment.name]

    @functools.cached_property
    def vectors(self) -> dict[str, np.ndarray]:
        """The experiment's directions by name."""
        return artifacts.directions(self.experiment.name)

    def check(self, cells: Collection[Cell]) -> None:
        """Raise InputError unless what `generate` left is whole and holds all that these cells' data are made of."""
        name = self.experiment.name
        artifacts.check_shared(name, {direction for cell in cells for direction in self.experiment.uses(cell)})
        for seed in dict.fromkeys(cell["seed"] for cell in cells):
            noted, draw = artifacts.draw_digests(name, seed), artifacts.check_draw(name, seed)
            if noted is not None and noted != digests_of(draw):
                raise InputError(
                    f"data/datasets/{name}/draw-{seed}.npz is not what was drawn; `python -m pipeline.generate {name}` makes it again"
                )

    def draw(self, seed: int) -> dict[str, np.ndarray]:
        """The arrays of one seed's draw."""
        if seed not in self.draws:
            # One seed at a time: the cells of a seed follow each other, and a draw at paper scale is 250 MB.
            self.draws = {seed: artifacts.draw(self.experiment.name, seed)}
        return self.draws[seed]

    def digests(self, seed: int) -> dict[str, str]:
        """The digests of all arrays of one seed's draw: as they were noted when it was drawn, else made now."""
        noted = artifacts.draw_digests(self.experiment.name, seed)
        # Earlier versions noted none of the test's.
        return noted if noted is not None and "test_labels" in noted else digests_of(self.draw(seed))

    def directions(self, cell: Cell) -> list[np.ndarray]:
        """The directions that the cell's data sets are made of."""
        return [self.vectors[name] for name in self.experiment.uses(cell)]

    def dataset(self, cell: Cell, split: str) -> Labelled:
        """Inputs and class numbers of the cell's training or test set."""
        return self.experiment.dataset(cell, split, self.draw(cell["seed"]), self.directions(cell))

    def test_sets(self, cell: Cell) -> Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
        """Yields (name, inputs, class numbers) of everything that the cell's network is tested on."""
        return self.experiment.test_sets(cell, self.draw(cell["seed"]), self.directions(cell))

    def plane(self, cell: Cell) -> tuple[torch.Tensor, torch.Tensor] | None:
        """The two directions that span the plane of the cell's boundary, where it has one."""
        return self.experiment.plane(cell, self.draw(cell["seed"]), self.directions(cell))

    @functools.cached_property
    def outputs(self) -> int:
        """Number of outputs of the experiment's networks."""
        return self.experiment.outputs or len(artifacts.about_pictures(self.experiment.name)["classes"])
