"""The order in which a grid is trained: a run that ends early leaves whole, coarser figures."""

from collections.abc import Sequence

from pipeline.experiments.experiment import Cell

COARSEST = 8
"""The coarsest grid that is trained first takes every eighth value of each coordinate, the next
every fourth, and so on."""


def levels(values: Sequence[int]) -> dict[int, int]:
    """The refinement of the grid at which each value of a coordinate is trained, 0 first."""
    ordered = sorted(set(values))
    found = {}
    for place, value in enumerate(ordered):
        step, found[value] = COARSEST, 0
        while place % step and value != ordered[-1]:
            step //= 2
            found[value] += 1
    return found


def early_first(cells: Sequence[Cell], coordinates: tuple[str, ...]) -> list[int]:
    """The positions of the cells in the order in which they are trained.

    One seed after another, in each the coarse grid of all architectures before the finer one; else
    as they are, heaviest architectures first. Coordinates that are no numbers, such as an estimand,
    are all there from the start.
    """
    axes = {}
    for cell in cells:
        for name in coordinates:
            if isinstance(cell[name], int):
                axes.setdefault((cell["architecture"], name), []).append(cell[name])
    found = {axis: levels(values) for axis, values in axes.items()}
    seeds = {
        seed: place for place, seed in enumerate(dict.fromkeys(cell["seed"] for cell in cells))
    }

    def place(position):
        cell = cells[position]
        of = [
            found[axis][cell[name]]
            for name in coordinates
            if (axis := (cell["architecture"], name)) in found
        ]
        return seeds[cell["seed"]], max(of, default=0)

    return sorted(range(len(cells)), key=place)
