"""`linear_pairs` (paper 2, §3, figs 2 and 4–8): D(v₁) ⊕ D(v₂); which channel is used?

v₁ and v₂ are NADs of the network itself, at every pair of the grid's indices. The first channel has
amplitude ε₁, the second ε₂; both have noise σ and share the label. Indices of NADs begin at 0,
which is a choice, since paper 2 does not say.

With label noise, which paper 2 has not, a channel carries the other label in a part η of the
training samples, drawn for each channel by itself: is the preferred channel still used if it lies?
Test samples have none, so that accuracies say what is used.
"""

import dataclasses
import itertools
import typing

import numpy as np
import torch
from pydantic import Field, NonNegativeFloat, PositiveFloat

from pipeline.cells.seeds import stream
from pipeline.experiments.experiment import SeparableExperiment, shape_of

Rate = typing.Annotated[float, Field(ge=0, le=1)]


@dataclasses.dataclass(frozen=True)
class Settings:
    """Amplitudes of the two channels, the noise of both, and the label noise η of each, at the top
    level of params.yaml."""

    eps1: NonNegativeFloat
    eps2: NonNegativeFloat
    sigma: PositiveFloat
    eta1: Rate = 0.0
    eta2: Rate = 0.0


class LinearPairs(SeparableExperiment):
    """Two linearly separable channels along two NADs."""

    coordinates = ("index_1", "index_2")
    channels = 2
    parts = {"first": slice(0, 1), "second": slice(1, 2)}
    at_top_level = True
    Settings = Settings

    def points(self, member):
        """Every pair of indices."""
        for first, second in itertools.product(member.grid.indices, repeat=2):
            yield {"index_1": first, "index_2": second}

    def draw(self, plan, seed, images):
        """Also a number in [0, 1) for each training sample and channel, where there is label
        noise."""
        arrays = super().draw(plan, seed, images)
        if plan.settings.eta1 or plan.settings.eta2:
            rng = stream(seed, self.name, "label noise")
            arrays["train_numbers"] = rng.random((plan.train_samples, 2))
        return arrays

    def carried(self, cell, split, draw):
        """The samples' labels, in training with the label noise of each channel; ε₁ and ε₂."""
        labels = 2 * [draw[f"{split}_labels"]]
        if split == "train" and "train_numbers" in draw:
            each = zip(labels, draw["train_numbers"].T, (cell["eta1"], cell["eta2"]))
            labels = [np.where(numbers < rate, -y, y) for y, numbers, rate in each]
        return list(zip(labels, (cell["eps1"], cell["eps2"])))

    def plane(self, cell, draw, directions):
        """v₁⊕0 and 0⊕v₂, each (2, H, W)."""
        _, *size = shape_of(cell)
        first, second = torch.zeros(2, *size), torch.zeros(2, *size)
        first[0], second[1] = (torch.as_tensor(v).reshape(size) for v in directions)
        return first, second
