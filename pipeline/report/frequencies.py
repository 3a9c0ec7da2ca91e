"""Maps over the spatial frequency k of v: values at k and −k, transposes, axes, numbers."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.text import Text

from pipeline.cells.fourier import wrapped
from pipeline.cells.shapes import SIDE
from pipeline.report import published
from pipeline.report.comparison import number
from pipeline.report.run import Evaluated, Published, over_seeds

DIRECTION = ["k_row", "k_col"]  # the columns that tell directions apart
NUMBERED = 9  # frequencies along one side of the largest map in which numbers are written


def sides(rows: pd.DataFrame) -> pd.Series:
    """Height and width of one architecture's inputs: twice its highest frequencies, or 32."""
    return (2 * rows[DIRECTION].abs().max()).clip(lower=SIDE)


def canonical(rows: pd.DataFrame) -> pd.DataFrame:
    """One architecture's rows, each with the later of k and −k, which are the same v."""
    k = wrapped(rows[DIRECTION], sides(rows))
    other = wrapped(-k, sides(rows))
    same = other["k_row"] == k["k_row"]
    later = (other["k_row"] > k["k_row"]) | (same & (other["k_col"] > k["k_col"]))
    return rows.assign(**k.where(~later, other))


def by_direction(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracies of one architecture over seeds, a row for each direction: see `over_seeds`."""
    return over_seeds(canonical(rows), DIRECTION).reset_index()


def published_maps(run: Evaluated) -> Published:
    """By architecture, the label of its network's published map, and the map as `by_direction`."""
    table = published.table("fourier")
    maps = {
        network: by_direction(table[DIRECTION].assign(accuracy=table[network] / 100))
        for network in table.columns.drop(DIRECTION)
    }
    return run.beside(maps)


def completed(run: Evaluated, name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of an architecture's whole map, with the transposes that it is not trained along."""
    if run.plan.members[name].grid.transposes:
        return rows
    turned = canonical(rows.rename(columns=dict(zip(DIRECTION, reversed(DIRECTION)))))
    return pd.concat([rows, turned], ignore_index=True).drop_duplicates(DIRECTION)


def transposed_text(run: Evaluated) -> str:
    """The part of a caption on the architectures that are trained along half of the directions."""
    members = run.plan.members
    halves = [label for name, label in run.labels.items() if not members[name].grid.transposes]
    whose = "" if len(halves) == len(run.labels) else f" ({', '.join(halves)})"
    text = f" · one of each v and its transpose, which are alike by symmetry, is trained{whose}"
    return text if halves else ""


def plane(rows: pd.DataFrame, column: str) -> tuple[np.ndarray, np.ndarray]:
    """A map: its axis (K,) in ascending order, and its values (K, K) with k_row along the rows.

    rows: k_row, k_col and `column`, one of each k and −k. The axis holds every k_row and k_col of
    the rows with both signs. The frequency −side/2 equals side/2, and its values stand at both.
    A frequency without a row has the value nan.
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
    """Give a map the frame, ticks and labels that all maps of inputs of one side share.

    Returns the edges (K,) and (K,) of its cells, in units of cells and cut off at the frame.
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
    panel.set(xlabel="column frequency $k_c$", ylabel="row frequency $k_r$")
    panel.tick_params(labelsize=7)
    panel.spines[:].set_visible(False)
    return tuple(place(np.clip(axis + sign * step / 2, -edge, edge)) for sign in (-1, 1))


def write(
    panel: Axes,
    edges: tuple[np.ndarray, np.ndarray],
    values: np.ndarray,
    black: np.ndarray,
    deviations: np.ndarray | None = None,
) -> dict[tuple[int, int], Text]:
    """Write values into the cells of a map that is not too large, with their deviations, if any.

    Returns the texts by (row, column) of their cells. edges: of the cells, from `frame`; black:
    (K, K), whether a text is black, not white.
    """
    middle, texts = sum(edges) / 2, {}
    for r, c in np.argwhere(np.isfinite(values)) if len(values) <= NUMBERED else ():
        text = f"{values[r, c]:.0f}"
        if deviations is not None and np.isfinite(deviations[r, c]):
            text += f"\n±{deviations[r, c]:.1f}"
        colour = "black" if black[r, c] else "white"
        look = {"ha": "center", "va": "center", "fontsize": 6, "color": colour}
        texts[r, c] = panel.text(middle[c], middle[r], text, **look)
    return texts
