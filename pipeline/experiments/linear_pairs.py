"""`linear_pairs` (paper 2, §3, figs 2 and 4–8): D(v₁) ⊕ D(v₂); which channel is used?

v₁ and v₂ are NADs of the network itself, at every pair of the grid's indices. The first
channel has amplitude ε₁, the second ε₂; both have noise σ and share the label. Indices
of NADs begin at 0, which is a choice, since paper 2 does not say.

With label noise, which paper 2 does not have: does a network still use the preferred
channel if it carries wrong labels?
"""

import dataclasses
import itertools

import torch
from pydantic import NonNegativeFloat, PositiveFloat

from pipeline.experiments.experiment import SeparableExperiment, shape_of
from pipeline.experiments.plan import Rate


@dataclasses.dataclass(frozen=True)
class Settings:
    """Amplitudes of the two channels, the noise of both, and the label noise η of each,
    at the top level of params.yaml."""

    eps1: NonNegativeFloat
    eps2: NonNegativeFloat
    sigma: PositiveFloat
    eta1: Rate = 0.0
    eta2: Rate = 0.0


class LinearPairs(SeparableExperiment):
    """Two linearly separable channels along two NADs."""

    coordinates = ("index_1", "index_2")
    channels = 2
    amplitudes = ("eps1", "eps2")
    label_noise = ("eta1", "eta2")
    needs_networks = True
    channel_groups = {"first": slice(0, 1), "second": slice(1, 2)}
    at_top_level = True
    Settings = Settings

    def grid_points(self, member):
        """Yield every pair of indices."""
        for first, second in itertools.product(member.grid.indices, repeat=2):
            yield {"index_1": first, "index_2": second}

    def test_sets(self, cell, base_noise, directions):
        """Yield both channels, each channel by itself, and `conflict`: the channels
        disagree.

        In a conflict the second channel carries the opposite label, so the accuracy is
        the fraction of samples in which the network follows the first channel. Each
        channel is as in training, whereas zeros do not occur there.
        """
        sets = super().test_sets(cell, base_noise, directions)
        name, x, y = next(sets)
        yield name, x, y
        yield from sets
        x = x.clone()
        labels = torch.as_tensor(base_noise["test_labels"]).to(torch.float32)
        v2 = torch.as_tensor(directions[1]).to(torch.float32)
        component = torch.outer(labels, v2).reshape(x[:, 1].shape)
        x[:, 1] -= 2 * cell["eps2"] * component
        yield "conflict", x, y

    def boundary_plane(self, cell, base_noise, directions):
        """Return v₁⊕0 and 0⊕v₂, each (2, H, W)."""
        _, *size = shape_of(cell)
        first = torch.zeros(2, *size)
        second = torch.zeros(2, *size)
        first[0] = torch.as_tensor(directions[0]).reshape(size)
        second[1] = torch.as_tensor(directions[1]).reshape(size)
        return first, second
