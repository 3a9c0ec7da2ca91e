"""Maps over the spatial frequency of v: their values, both halves of the plane, their axes."""

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

# By architecture: the label of a published map, and its accuracies as `by_direction` gives them.
Published = Mapping[str, tuple[str, pd.DataFrame]]


def sides(rows: pd.DataFrame) -> pd.Series:
    """Height and width of one architecture's inputs: twice the highest frequencies of its grid.

    Of a smaller grid, 32 pixels serve as well: all its frequencies are their own remainders.
    """
    return (2 * rows[DIRECTION].abs().max()).clip(lower=SIDE)


def canonical(rows: pd.DataFrame) -> pd.DataFrame:
    """One architecture's rows with the later of k and −k, which are the same v."""
    k = wrapped(rows[DIRECTION], sides(rows))
    other = wrapped(-k, sides(rows))
    same = other["k_row"] == k["k_row"]
    later = (other["k_row"] > k["k_row"]) | (same & (other["k_col"] > k["k_col"]))
    return rows.assign(**k.where(~later, other))


def by_direction(rows: pd.DataFrame) -> pd.DataFrame:
    """`over_seeds` of one architecture's rows by `DIRECTION`."""
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
    """Rows that have one of each k and −k, completed by the transposes that are missing."""
    turned = canonical(rows.rename(columns=dict(zip(DIRECTION, reversed(DIRECTION)))))
    return pd.concat([rows, turned], ignore_index=True).drop_duplicates(DIRECTION)


def science(run: Evaluated) -> str:
    """ε and σ of D(v), as part of a caption."""
    return f"ε = {run.plan.settings.eps:g}, σ = {run.plan.settings.sigma:g}"


def transposed_text(run: Evaluated) -> str:
    """The part of a caption on the architectures that are trained along half of the directions."""
    halves = [label for name, label in run.labels.items() if is_half(run, name)]
    whose = "" if len(halves) == len(run.labels) else f" ({', '.join(halves)})"
    text = " · one of each v and its transpose, which are alike by symmetry, is trained"
    return text + whose if halves else ""


def plane(rows: pd.DataFrame, column: str) -> tuple[np.ndarray, np.ndarray]:
    """A map: its axis (K,) in ascending order, and its values (K, K) with k_row along the rows.

    rows: k_row, k_col and `column`, one of each k and −k. The axis holds every frequency of the
    rows in either direction and with either sign; −side/2 stands at side/2 as well, since it is the
    same frequency. Where there is no row the value is nan.
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


def frame(panel: Axes, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give a map the frame, ticks and labels that all maps of one side have, whatever their step.

    Returns the first and the last place (K,) of the part of each cell that lies within the frame,
    in units of cells.
    """
    side = max(SIDE, 2 * int(np.abs(axis).max()))
    step = int(np.diff(axis).min()) if len(axis) > 1 else side
    edge = side // 2 + 1  # so that cells of the papers' step, 2, are whole
    place = lambda frequency: (frequency - axis[0]) / step
    limits = place(-edge), place(edge)
    frequencies = range(-(side // 2), side // 2 + 1, side // 4)
    ticks, names = [place(k) for k in frequencies], [number(k, 0) for k in frequencies]
    panel.set(xlim=limits, ylim=limits[::-1])
    panel.set(xticks=ticks, xticklabels=names, yticks=ticks, yticklabels=names)
    panel.tick_params(labelsize=7)
    panel.spines[:].set_visible(False)
    panel.set(xlabel="column frequency $k_c$", ylabel="row frequency $k_r$")
    first, last = (place(np.clip(axis + sign * step / 2, -edge, edge)) for sign in (-1, 1))
    return first, last


def write(
    panel: Axes,
    cells: tuple[np.ndarray, np.ndarray],
    values: np.ndarray,
    black: np.ndarray,
    deviations: np.ndarray | None = None,
) -> None:
    """Write values into the cells of a map, in black or white, with deviations if there are any.

    cells: first and last places, as `frame` returns them.
    """
    middle = sum(cells) / 2
    for r, c in np.argwhere(np.isfinite(values)):
        text = f"{values[r, c]:.0f}"
        if deviations is not None and np.isfinite(deviations[r, c]):
            text += f"\n±{deviations[r, c]:.1f}"
        colour = "black" if black[r, c] else "white"
        look = {"ha": "center", "va": "center", "fontsize": 6, "color": colour}
        panel.text(middle[c], middle[r], text, **look)
