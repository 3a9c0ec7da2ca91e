"""Maps over the spatial frequency of v: both halves of the plane, and its axes."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from pipeline.datasets.fourier import wrapped
from pipeline.grid.experiment import Amplitude, Plan
from pipeline.grid.frequencies import Frequencies
from pipeline.project.shapes import SIDE

DIRECTION = ["k_row", "k_col"]
"""The columns that tell directions apart."""


def sides(rows: pd.DataFrame) -> pd.DataFrame:
    """The sides of the inputs, by the names of `DIRECTION`, for every row: twice the highest frequency of its architecture.

    A whole grid reaches it. Where it is below that of 32 pixels, 32 serves as well: frequencies are then their own remainders.
    """
    highest = rows[DIRECTION].abs()
    highest = (
        highest.groupby(rows["architecture"]).transform("max")
        if "architecture" in rows
        else highest * 0 + highest.max()
    )
    return (2 * highest).clip(lower=SIDE)


def canonical(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with the one of their k and −k, which are the same v, that comes last in order; modulo the sides."""
    modulo = sides(rows)
    k = wrapped(rows[DIRECTION], modulo)
    other = wrapped(-k, modulo)
    turned = (other["k_row"] > k["k_row"]) | (other["k_row"] == k["k_row"]) & (other["k_col"] > k["k_col"])
    return rows.assign(**k.where(~turned, other))


def with_transposes(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows that have one of each k and −k, and beside them a row for the transpose of each that is not there, of the same values."""
    turned = canonical(rows.rename(columns=dict(zip(DIRECTION, reversed(DIRECTION)))))
    return pd.concat([rows, turned], ignore_index=True).drop_duplicates(DIRECTION)


def halves_of(plan: Plan[Amplitude, Frequencies]) -> list[str]:
    """The architectures of a plan that are trained along one of each direction and its transpose."""
    return [name for name, member in plan.members.items() if not member.grid.transposes]


def transposed_text(plan: Plan[Amplitude, Frequencies], labels: Mapping[str, str]) -> str:
    """What a caption says of a plan's `halves_of`, by their names; nothing where there are none."""
    if not (halves := halves_of(plan)):
        return ""
    whose = "" if len(halves) == len(labels) else f" ({', '.join(labels[name] for name in halves)})"
    return f" · one of each v and its transpose, which are alike by symmetry, is trained{whose}"


def plane(rows: pd.DataFrame, column: str) -> tuple[np.ndarray, np.ndarray]:
    """One value for each frequency, of rows that have one of each k and −k: (axis (K,), values (K, K)).

    rows: k_row, k_col and `column`. The axis holds, in ascending order, every frequency that the rows name in either
    direction and either sign, −side/2 as side/2 too, which is the same; the matrix has k_row along its rows and k_col along its
    columns, nan where there is no row.
    """
    modulo = sides(rows)
    k = wrapped(rows[DIRECTION], modulo)
    shown = pd.concat([k, wrapped(-k, modulo)]).assign(value=[*rows[column]] * 2)
    for name in DIRECTION:
        edge = shown[shown[name] == -modulo[name].max() // 2]
        shown = pd.concat([shown, edge.assign(**{name: -edge[name]})])
    cells = shown.drop_duplicates(DIRECTION).set_index(DIRECTION)["value"].unstack()
    axis = np.union1d(cells.index, cells.columns)
    return axis, cells.reindex(index=axis, columns=axis).to_numpy(float)


def signed(frequency: int) -> str:
    """A frequency with a proper minus sign."""
    return f"{int(frequency)}".replace("-", "−")


def pair(direction: pd.Series) -> str:
    """The frequency of a direction as text: '(0, −4)'."""
    return f"({signed(direction['k_row'])}, {signed(direction['k_col'])})"


def side_of(axis: np.ndarray) -> int:
    """The side of the inputs whose frequencies an axis holds, at least 32: twice its highest one."""
    return max(SIDE, 2 * int(np.abs(axis).max()))


def edge_of(axis: np.ndarray) -> int:
    """Frequency at which a map ends, so that maps of different steps have one scale: cells of the papers' step, 2, are whole."""
    return side_of(axis) // 2 + 1


def step_of(axis: np.ndarray) -> int:
    """The distance between neighbours of an axis."""
    return int(np.diff(axis).min()) if len(axis) > 1 else side_of(axis)


def inside(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the part of each cell lies that is within the frame: its first and its last place, in units of cells."""
    edge = edge_of(axis)
    ends = [np.clip(axis + sign * step_of(axis) / 2, -edge, edge) for sign in (-1, 1)]
    first, last = ((end - axis[0]) / step_of(axis) for end in ends)
    return first, last


def axes_of(panel: Axes, axis: np.ndarray) -> None:
    """Give a map, which is drawn in units of cells, its frame, ticks and labels: those of all maps of one side, whatever their steps."""
    place = lambda frequency: (frequency - axis[0]) / step_of(axis)
    edge, side = edge_of(axis), side_of(axis)
    ticks = range(-(side // 2), side // 2 + 1, side // 4)
    panel.set(xlim=(place(-edge), place(edge)), ylim=(place(edge), place(-edge)))
    panel.set_xticks([place(tick) for tick in ticks], [signed(tick) for tick in ticks])
    panel.set_yticks([place(tick) for tick in ticks], [signed(tick) for tick in ticks])
    panel.tick_params(labelsize=7)
    panel.spines[:].set_visible(False)
    panel.set(xlabel="column frequency $k_c$", ylabel="row frequency $k_r$")
