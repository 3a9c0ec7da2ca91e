"""How fast a training set is learned: steps of training, over several seeds."""

from collections.abc import Sequence

import numpy as np
import pandas as pd


def steps_over_seeds(rows: pd.DataFrame, places: Sequence[str]) -> pd.DataFrame:
    """Mean and standard deviation of the steps over seeds, by the coordinates `places`.

    rows: a row for each network, with these coordinates and `steps`, which is missing where the
    network never learned its training set (see `pipeline.cells.training.Outcome`). If one seed of a
    place did not, the mean is infinite, so that the place comes last, and the deviation is nan.
    """
    cells = rows.astype({"steps": float}).groupby(list(places), sort=False)["steps"]
    speed = cells.agg(mean="mean", std="std", seeds="size")
    speed.loc[cells.count() < speed["seeds"], ["mean", "std"]] = np.inf, np.nan
    return speed
