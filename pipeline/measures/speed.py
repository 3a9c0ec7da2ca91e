"""How fast a training set is learned: steps of training, over several seeds."""

from collections.abc import Sequence

import numpy as np
import pandas as pd


def steps_over_seeds(rows: pd.DataFrame, places: Sequence[str]) -> pd.DataFrame:
    """Mean and standard deviation of the steps over seeds, by the coordinates `places`.

    rows: those coordinates and `steps`, which is missing where a training set was never learned
    (see `pipeline.training.Outcome`). Where a seed never learned it, the mean is infinite and there
    is no deviation: in the order of speed such a place comes after all others. With one seed there
    is no deviation either (nan).
    """
    cells = rows.assign(steps=rows["steps"].astype(float)).groupby(list(places), sort=False)[
        "steps"
    ]
    found = cells.agg(mean="mean", std="std", seeds="size")
    never = cells.count() < found["seeds"]
    found.loc[never, ["mean", "std"]] = np.inf, np.nan
    return found
