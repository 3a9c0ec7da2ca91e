"""Maps over the spatial frequency of v: both halves of the plane, and its axes."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from pipeline.datasets.fourier import wrapped

DIRECTION = ["k_row", "k_col"]
"""The columns that tell directions apart."""

TICKS = 8
"""Ticks along one side of a map, at most."""


def canonical(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with the one of their k and −k, which are the same v, that comes last in order; modulo the side."""
    k = wrapped(rows[DIRECTION])
    other = wrapped(-k)
    turned = (other["k_row"] > k["k_row"]) | (other["k_row"] == k["k_row"]) & (other["k_col"] > k["k_col"])
    return rows.assign(**k.where(~turned, other))


def plane(rows: pd.DataFrame, column: str) -> tuple[np.ndarray, np.ndarray]:
    """One value for each frequency, of rows that have one of each k and −k: (axis (K,), values (K, K)).

    rows: k_row, k_col and `column`. The axis holds, in ascending order, every frequency that the rows name in either
    direction and either sign; the matrix has k_row along its rows and k_col along its columns, nan where there is no row.
    """
    one = pd.DataFrame({"row": wrapped(rows["k_row"]), "column": wrapped(rows["k_col"]), "value": rows[column]})
    other = one.assign(row=wrapped(-one["row"]), column=wrapped(-one["column"]))
    cells = pd.concat([one, other]).drop_duplicates(["row", "column"]).set_index(["row", "column"])["value"].unstack()
    axis = np.union1d(cells.index, cells.columns)
    return axis, cells.reindex(index=axis, columns=axis).to_numpy(float)


def signed(frequency: int) -> str:
    """A frequency with a proper minus sign."""
    return f"{int(frequency)}".replace("-", "−")


def pair(direction: pd.Series) -> str:
    """The frequency of a direction as text: '(0, −4)'."""
    return f"({signed(direction['k_row'])}, {signed(direction['k_col'])})"


def axes_of(panel: Axes, axis: np.ndarray) -> None:
    """Give a map its ticks and labels: every frequency, or as many as `TICKS` allows with zero among them."""
    every = -(-len(axis) // TICKS)
    ticks = [place for place in range(len(axis)) if (place - np.searchsorted(axis, 0)) % every == 0]
    panel.set_xticks(ticks, [signed(axis[place]) for place in ticks])
    panel.set_yticks(ticks, [signed(axis[place]) for place in ticks])
    panel.tick_params(labelsize=7)
    panel.spines[:].set_visible(False)
    panel.set(xlabel="column frequency $k_c$", ylabel="row frequency $k_r$")
