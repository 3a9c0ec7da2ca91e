"""Means over seeds as figures show them: accuracies in per cent, and curves over the NAD index."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer

from pipeline.report import style
from pipeline.report.run import over_seeds


def percents(rows: pd.DataFrame, places: Sequence[str], column: str = "accuracy") -> pd.DataFrame:
    """`over_seeds` of fractions, with mean and std in per cent."""
    cells = over_seeds(rows, places, column)
    return cells.assign(**100 * cells[["mean", "std"]])


def over_indices(panel: Axes, cells: pd.DataFrame, **look: Any) -> ErrorbarContainer:
    """Draw means over seeds against NAD index + 1, hollow where not every network was fitted.

    cells: mean, std and fitted by index, as `over_seeds` returns them.
    """
    if len(cells) <= 2:  # between two points far apart a line would tell what was not measured
        look |= {"linewidth": 0}
    x, (mean, std, fitted) = cells.index + 1, (cells[name] for name in ("mean", "std", "fitted"))
    return style.curve(panel, x, mean, fitted, std, **look)
