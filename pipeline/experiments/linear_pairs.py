"""`linear_pairs` (paper 2, §3, figs 2 and 4–8): D(v₁) ⊕ D(v₂), both channels alone suffice; which one is used?

v₁ and v₂ are NADs of the network itself, at every pair of the grid's indices. The first channel has amplitude ε₁, the
second ε₂; both have noise σ and share the label.
"""

import itertools

import torch

from pipeline import datasets
from pipeline.measures.boundaries import mean_tilt
from pipeline.project.shapes import SIDE

COORDINATES = ("index_1", "index_2")
CHANNELS = 2
OUTPUTS = 2
SCHEDULE = "triangular"
NEEDS_IMAGES, NEEDS_NADS = False, True
TEST_SETS = {"first": slice(0, 1), "second": slice(1, 2)}


def check(params):
    """Every value that the common rules accept can be run."""


def cells(params):
    """Rows of the grid: architecture, seed, index_1, index_2, eps_1, eps_2, sigma."""
    return [
        {
            "architecture": name,
            "seed": params.seed + offset,
            "index_1": first,
            "index_2": second,
            "eps_1": params.eps1,
            "eps_2": params.eps2,
            "sigma": params.sigma,
        }
        for name, plan in params.grid.networks.items()
        for offset in range(params.grid.seeds)
        for first, second in itertools.product(plan.indices, repeat=2)
    ]


def directions(params, nads):
    """The NADs of each network at its indices, by '{architecture}-{index}'."""
    return datasets.at_indices(params, nads)


def uses(cell):
    """v₁ and v₂."""
    return [f"{cell['architecture']}-{cell[c]}" for c in COORDINATES]


def draw(params, seed, images):
    """Labels (N,) and draws (N, 2, D) of both splits, for one seed; `images` is not used."""
    return datasets.draws(seed, "linear_pairs", params.grid.train_samples, params.grid.test_samples, CHANNELS)


def dataset(cell, split, draw, directions, images):
    """Inputs (N, 2, 32, 32) and class numbers (N,) of a cell's `split`; directions: v₁ and v₂, (D,) each."""
    y, normal, (v1, v2) = draw[f"{split}_labels"], draw[f"{split}_normal"], directions
    first = datasets.linearly_separable(normal[:, 0], y, v1, cell["eps_1"], cell["sigma"])
    second = datasets.linearly_separable(normal[:, 1], y, v2, cell["eps_2"], cell["sigma"])
    return datasets.direct_sum(first, second), torch.as_tensor(y > 0).long()


def test_sets(cell, draw, directions, images):
    """Both channels, and each alone."""
    return datasets.with_channels_alone(*dataset(cell, "test", draw, directions, images), TEST_SETS)


def plane(cell, directions, draw):
    """The boundary's plane: v₁⊕0 and 0⊕v₂, each (2, 32, 32)."""
    first, second = torch.zeros(2, SIDE, SIDE), torch.zeros(2, SIDE, SIDE)
    first[0], second[1] = (torch.as_tensor(v).reshape(SIDE, SIDE) for v in directions)
    return first, second


def metrics(tables, directions):
    """Per architecture: accuracies at the corners of the grid, where reliance switches, mean tilt.

    `switches_at` is the smallest index of v₁, v₂ at
    the grid's lowest, at which the second channel alone is more accurate than the first alone (null: nowhere).
    """
    summary, boundaries = {}, tables["boundaries"]
    for name, rows in tables["results"].groupby("architecture", sort=False):
        means = rows.groupby(["index_1", "index_2", "test_set"])["accuracy"].mean()
        low, high = rows["index_1"].min(), rows["index_1"].max()
        corners = {"low_low": (low, low), "low_high": (low, high), "high_low": (high, low), "high_high": (high, high)}
        second_wins = [i for i in sorted(rows["index_1"].unique()) if means[i, low, "second"] > means[i, low, "first"]]
        summary[name] = {
            "accuracy": {
                corner: {s: round(means[a, b, s], 4) for s in ("all", *TEST_SETS)} for corner, (a, b) in corners.items()
            },
            "lowest_accuracy_all": round(means.xs("all", level="test_set").min(), 4),
            "switches_at": int(second_wins[0]) if second_wins else None,
            "mean_tilt": mean_tilt(boundaries[boundaries["architecture"] == name]),
        }
    return summary
