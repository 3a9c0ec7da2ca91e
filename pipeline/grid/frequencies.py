"""A grid over spatial frequencies: D(v) for v along each different vector of the Fourier basis (paper 1, §2)."""

import dataclasses

from pipeline.datasets.fourier import fourier, frequencies
from pipeline.grid.experiment import Amplitude, OfDirections
from pipeline.project.shapes import SIDE


@dataclasses.dataclass(frozen=True)
class Frequencies:
    """One architecture's part of the grid: all frequencies that are multiples of `step` (paper 1: 2)."""

    step: int

    def __post_init__(self) -> None:
        if self.step <= 0 or SIDE // 2 % self.step:
            raise ValueError(f"step must divide {SIDE // 2}, so that 0 and −{SIDE // 2} are in")


class OfFrequencies(OfDirections):
    """An experiment on one linearly separable channel along each vector of the Fourier basis.

    Each different v is trained once: k and −k are the same.
    """

    coordinates = ("k_row", "k_col")
    schedule = "linear"
    needs_nads = False
    Settings = Amplitude
    Grid = Frequencies

    def places(self, member):
        """One of each k and −k."""
        for row, column in frequencies(member.grid.step):
            yield {"k_row": row, "k_col": column}

    def values(self, plan, architecture):
        """ε and σ."""
        return {"eps": plan.settings.eps, "sigma": plan.settings.sigma}

    def directions(self, plan, nads):
        """The Fourier directions of the grid, by '{k_row}_{k_col}'."""
        steps = sorted({member.grid.step for member in plan.members.values()})
        return {f"{row}_{column}": fourier(row, column) for step in steps for row, column in frequencies(step)}

    def uses(self, cell):
        """v."""
        return [f"{cell['k_row']}_{cell['k_col']}"]
