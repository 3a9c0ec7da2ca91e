"""Maps over the spatial frequency of v: values by direction, both halves of the plane, the map's
axes."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from pipeline.cells.fourier import wrapped
from pipeline.cells.shapes import SIDE
from pipeline.report import published
from pipeline.report.comparison import number
from pipeline.report.run import Evaluated, over_seeds

DIRECTION = ["k_row", "k_col"]  # the columns that tell directions apart
NUMBERED = 9  # frequencies along one side of the largest map in which numbers are written

# By architecture what a published map is called, and what `by_direction` gives of it.
Published = Mapping[str, tuple[str, pd.DataFrame]]


def sides(rows: pd.DataFrame) -> pd.Series:
    """Height and width of one architecture's inputs: twice its highest frequencies.

    A whole grid reaches them. Where they are below 16, those of 32 pixels serve as well:
    frequencies are then their own remainders.
    """
    return (2 * rows[DIRECTION].abs().max()).clip(lower=SIDE)


def canonical(rows: pd.DataFrame) -> pd.DataFrame:
    """One architecture's rows by the one of k and −k, the same v, that comes last in order."""
    k = wrapped(rows[DIRECTION], sides(rows))
    other = wrapped(-k, sides(rows))
    same = other["k_row"] == k["k_row"]
    later = (other["k_row"] > k["k_row"]) | (same & (other["k_col"] > k["k_col"]))
    return rows.assign(**k.where(~later, other))


def by_direction(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracy over seeds by `DIRECTION`, as `over_seeds` gives it, of one architecture's rows."""
    return over_seeds(canonical(rows), DIRECTION).reset_index()


def published_maps(run: Evaluated) -> Published:
    """The published maps of the architectures' networks."""
    table = published.table("fourier")
    maps = {
        network: by_direction(table[DIRECTION].assign(accuracy=table[network] / 100))
        for network in table.columns.drop(DIRECTION)
    }
    return run.beside(maps)


def is_half(run: Evaluated, name: str) -> bool:
    """Whether an architecture is trained along one of each direction and its transpose."""
    return not run.plan.members[name].grid.transposes


def with_transposes(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows that have one of each k and −k, with one more for each transpose that is not there."""
    turned = canonical(rows.rename(columns=dict(zip(DIRECTION, reversed(DIRECTION)))))
    return pd.concat([rows, turned], ignore_index=True).drop_duplicates(DIRECTION)


def science(run: Evaluated) -> str:
    """What D(v) is, as part of a caption."""
    return f"ε = {run.plan.settings.eps:g}, σ = {run.plan.settings.sigma:g}"


def transposed_text(run: Evaluated) -> str:
    """What a caption says of the architectures that `is_half`."""
    halves = [label for name, label in run.labels.items() if is_half(run, name)]
    whose = "" if len(halves) == len(run.labels) else f" ({', '.join(halves)})"
    text = " · one of each v and its transpose, which are alike by symmetry, is trained"
    return text + whose if halves else ""


def plane(rows: pd.DataFrame, column: str) -> tuple[np.ndarray, np.ndarray]:
    """One value for each frequency: (axis (K,), values (K, K)), k_row along the rows.

    rows: k_row, k_col and `column`, one of each k and −k. The axis holds, in ascending order, every
    frequency that the rows name in either direction and either sign, −side/2 as side/2 too, which
    is the same; nan stands where there is no row.
    """
    modulo = sides(rows)
    k = wrapped(rows[DIRECTION], modulo)
    shown = pd.concat([k, wrapped(-k, modulo)]).assign(value=[*rows[column]] * 2)
    for name in DIRECTION:
        edge = shown[shown[name] == -modulo[name] // 2]
        shown = pd.concat([shown, edge.assign(**{name: -edge[name]})])
    cells = shown.drop_duplicates(DIRECTION).set_index(DIRECTION)["value"].unstack()
    axis = np.union1d(cells.index, cells.columns)
    return axis, cells.reindex(index=axis, columns=axis).to_numpy(float)


def pair(direction: pd.Series) -> str:
    """The frequency of a direction as text: '(0, −4)'."""
    return "({}, {})".format(*(number(direction[name], 0) for name in DIRECTION))


class Frame:
    """The frame of a map, in units of cells: the same for all maps of one side, of any step.

    axis: the map's frequencies, in order.
    """

    def __init__(self, axis: np.ndarray) -> None:
        self.axis = axis
        self.side = max(SIDE, 2 * int(np.abs(axis).max()))
        self.step = int(np.diff(axis).min()) if len(axis) > 1 else self.side
        # Cells of the papers' step, 2, are whole.
        self.edge = self.side // 2 + 1

    def place(self, frequency: np.ndarray) -> np.ndarray:
        """Where a frequency stands."""
        return (frequency - self.axis[0]) / self.step

    def inside(self) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last place of the part of each cell that is within the frame."""
        ends = (self.axis + sign * self.step / 2 for sign in (-1, 1))
        first, last = (self.place(np.clip(end, -self.edge, self.edge)) for end in ends)
        return first, last

    def draw(self, panel: Axes) -> None:
        """Give a map its frame, ticks and labels."""
        ends = self.place(-self.edge), self.place(self.edge)
        ticks = range(-(self.side // 2), self.side // 2 + 1, self.side // 4)
        places, names = [self.place(tick) for tick in ticks], [number(tick, 0) for tick in ticks]
        panel.set(xlim=ends, ylim=ends[::-1])
        panel.set(xticks=places, xticklabels=names, yticks=places, yticklabels=names)
        panel.tick_params(labelsize=7)
        panel.spines[:].set_visible(False)
        panel.set(xlabel="column frequency $k_c$", ylabel="row frequency $k_r$")

    def number(
        self, panel: Axes, values: np.ndarray, black: np.ndarray, deviations: np.ndarray
    ) -> None:
        """Write values into their cells, in black or white, with the deviations that there are."""
        middle = sum(self.inside()) / 2
        for (r, c), value in np.ndenumerate(values):
            if np.isfinite(value):
                spread = "" if np.isnan(deviations[r, c]) else f"\n±{deviations[r, c]:.1f}"
                colour = "black" if black[r, c] else "white"
                look = {"ha": "center", "va": "center", "fontsize": 6, "color": colour}
                panel.text(middle[c], middle[r], f"{value:.0f}{spread}", **look)
