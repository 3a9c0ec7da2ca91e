"""A grid over spatial frequencies: D(v) for v along each different vector of the Fourier basis (paper 1, §2)."""

import dataclasses

from pipeline.datasets.fourier import fourier, frequencies
from pipeline.grid.experiment import Amplitude, OfDirections, Part, pixels
from pipeline.project.shapes import Input, as_text

UNCHANGED = ("transposition", "square")
"""The symmetries that a network's class may state of which transposition is one."""


@dataclasses.dataclass(frozen=True)
class Frequencies(Part):
    """One architecture's part of the grid: all frequencies that are multiples of `step` (paper 1: 2).

    transposes: whether (k_row, k_col) and (k_col, k_row) are both trained. They are alike to a network whose law transposition
    leaves unchanged; of such a one, a map may show a direction's accuracy at its transpose too.
    """

    step: int
    transposes: bool = True

    def check(self, pixels: Input) -> None:
        """The sides are even, and the step leads to 0 and to the highest frequencies, which are half the sides."""
        for side in pixels:
            if side % 2:
                raise ValueError(f"frequencies go up to half of each side, so give it inputs of even sides, not {side}")
            if self.step <= 0 or side // 2 % self.step:
                raise ValueError(f"step must divide {side // 2}, so that 0 and −{side // 2} are in")
        if not self.transposes and pixels[0] != pixels[1]:
            raise ValueError(f"only inputs as high as they are wide can do without transposes, not {as_text(pixels)}")


class OfFrequencies(OfDirections):
    """An experiment on one linearly separable channel along each vector of the Fourier basis.

    Each different v is trained once: k and −k are the same.
    """

    coordinates = ("k_row", "k_col")
    schedule = "linear"
    needs_nads = False
    Settings = Amplitude
    Grid = Frequencies

    def check_networks(self, plan, symmetry):
        """Those that do without transposes state a law that transposition leaves unchanged."""
        for name, member in plan.members.items():
            if not member.grid.transposes and symmetry(member.specification) not in UNCHANGED:
                raise ValueError(
                    f"{name} has transposes: false, but its class states no symmetry under transposition; train both"
                )

    def places(self, member):
        """One of each k and −k, and of each transpose unless both are wanted."""
        for row, column in frequencies(member.grid.step, member.input, member.grid.transposes):
            yield {"k_row": row, "k_col": column}

    def values(self, plan, architecture):
        """ε and σ."""
        return {"eps": plan.settings.eps, "sigma": plan.settings.sigma}

    def directions(self, plan, nads):
        """The Fourier directions of the grid, by the pixels of the inputs and '{k_row}_{k_col}'."""
        parts = sorted({(member.input, member.grid.step) for member in plan.members.values()})
        return {
            _name(pixels, row, column): fourier(row, column, pixels)
            for pixels, step in parts
            for row, column in frequencies(step, pixels)
        }

    def uses(self, cell):
        """v."""
        return [_name(pixels(cell), cell["k_row"], cell["k_col"])]


def _name(pixels: Input, row: int, column: int) -> str:
    """What the direction of a frequency is called, for example '32x32_0_-4'."""
    return f"{pixels[0]}x{pixels[1]}_{row}_{column}"
