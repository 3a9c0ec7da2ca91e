"""Maps over the spatial frequency k of v: values at k and −k, transposes."""

import numpy as np
import pandas as pd

from pipeline.cells.fourier import wrapped
from pipeline.cells.shapes import SIDE
from pipeline.report import published
from pipeline.report.comparison import number
from pipeline.report.run import Evaluated, Published, over_seeds

DIRECTION = ["k_row", "k_col"]  # the columns that tell directions apart


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


def plane(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """A map: its values (K, K), with k_row along the rows, both in ascending order.

    rows: k_row, k_col and `column`, one of each k and −k. The axes hold every k_row and k_col of
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
    names = [number(k, 0) for k in axis]
    cells = cells.reindex(index=axis, columns=axis).astype(float)
    cells.index = pd.Index(names, name="row frequency $k_r$")
    cells.columns = pd.Index(names, name="column frequency $k_c$")
    return cells


def pair(direction: pd.Series) -> str:
    """The frequency of a direction as text: '(0, −4)'."""
    return "({}, {})".format(*(number(direction[name], 0) for name in DIRECTION))
