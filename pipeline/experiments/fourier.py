"""`fourier` (paper 1, §2, figs 1 and 3): test accuracy on D(v) for v along Fourier directions; which can a network separate?

Each different v is trained once: k and −k are the same. Networks without pooling, with strides instead of it and without
skip connections are architectures like any other.
"""

import dataclasses

import torch

from pipeline import datasets
from pipeline.datasets.fourier import fourier, frequencies
from pipeline.params import Training, require
from pipeline.project.shapes import SIDE

COORDINATES = ("k_row", "k_col")
CHANNELS = 1
OUTPUTS = 2
SCHEDULE = "linear"
NEEDS_IMAGES, NEEDS_NADS = False, False


@dataclasses.dataclass(frozen=True)
class Settings:
    """Amplitude ε of the direction and noise σ of all others (paper 1: 1 and 3)."""

    eps: float
    sigma: float

    def __post_init__(self):
        require(self.eps >= 0, f"eps must not be negative, not {self.eps}")
        require(self.sigma > 0, f"sigma must be positive, not {self.sigma}")


@dataclasses.dataclass(frozen=True)
class Plan(Training):
    """One architecture's part of the grid: all frequencies that are multiples of `step` (paper 1: 2)."""

    step: int

    def __post_init__(self):
        super().__post_init__()
        require(
            self.step > 0 and SIDE // 2 % self.step == 0,
            f"step must divide {SIDE // 2}, so that 0 and −{SIDE // 2} are in",
        )


def check(params):
    """Every value that the common rules accept can be run."""


def cells(params):
    """Rows of the grid: architecture, seed, k_row, k_col, eps, sigma."""
    return [
        {
            "architecture": name,
            "seed": params.seed + offset,
            "k_row": row,
            "k_col": column,
            "eps": params.settings.eps,
            "sigma": params.settings.sigma,
        }
        for name, plan in params.grid.networks.items()
        for offset in range(params.grid.seeds)
        for row, column in frequencies(plan.step)
    ]


def directions(params, nads):
    """The Fourier directions of the grid, by '{k_row}_{k_col}'."""
    steps = {plan.step for plan in params.grid.networks.values()}
    return {f"{row}_{column}": fourier(row, column) for step in sorted(steps) for row, column in frequencies(step)}


def uses(cell):
    """v."""
    return [f"{cell['k_row']}_{cell['k_col']}"]


def draw(params, seed, images):
    """Labels (N,) and draws (N, 1, D) of both splits, for one seed; `images` is not used."""
    return datasets.draws(seed, "fourier", params.grid.train_samples, params.grid.test_samples, CHANNELS)


def dataset(cell, split, draw, directions, images):
    """Inputs (N, 1, 32, 32) and class numbers (N,) of a cell's `split`; directions: v alone, (D,)."""
    y, normal, (v,) = draw[f"{split}_labels"], draw[f"{split}_normal"], directions
    x = datasets.linearly_separable(normal[:, 0], y, v, cell["eps"], cell["sigma"])
    return x, torch.as_tensor(y > 0).long()


def test_sets(cell, draw, directions, images):
    """New samples of the same D(v)."""
    yield "all", *dataset(cell, "test", draw, directions, images)


def metrics(tables, directions):
    """Per architecture: mean, lowest and highest accuracy over the map, and the fraction of it above 75 %."""
    summary = {}
    for name, rows in tables["results"].groupby("architecture", sort=False):
        means = rows.groupby(["k_row", "k_col"])["accuracy"].mean()
        summary[name] = {
            "mean": round(float(means.mean()), 4),
            "lowest": round(float(means.min()), 4),
            "highest": round(float(means.max()), 4),
            "fraction_above_75": round(float((means > 0.75).mean()), 4),
        }
    return summary
