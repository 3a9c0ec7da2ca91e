"""The order in which cells are trained: from coarse to fine, so that a run that ends early leaves
coarser figures of the whole grid."""

from collections.abc import Sequence

from pipeline.experiments.experiment import Cell

STEPS = 8, 4, 2, 1
"""Steps of the refinements: every eighth value of each coordinate is trained first."""


def levels(values: Sequence[int]) -> dict[int, int]:
    """The refinement of the grid at which each value of a coordinate is trained, 0 first."""
    ordered = sorted(set(values))
    return {
        value: 0 if value == ordered[-1] else [place % step for step in STEPS].index(0)
        for place, value in enumerate(ordered)
    }


def early_first(cells: Sequence[Cell], coordinates: tuple[str, ...]) -> list[int]:
    """The positions of the cells in the order of training.

    Sorted by seed, then by refinement; otherwise in the given order. Coordinates that are no
    numbers, such as an estimand, do not count.
    """
    axes = {}
    for cell in cells:
        for name in coordinates:
            if isinstance(cell[name], int):
                axes.setdefault((cell["architecture"], name), []).append(cell[name])
    refinements = {axis: levels(values) for axis, values in axes.items()}
    seeds = list(dict.fromkeys(cell["seed"] for cell in cells))

    def turn(position):
        cell = cells[position]
        of_axes = [refinements.get((cell["architecture"], name), {}) for name in coordinates]
        finest = max(level.get(cell[name], 0) for level, name in zip(of_axes, coordinates))
        return seeds.index(cell["seed"]), finest

    return sorted(range(len(cells)), key=turn)
