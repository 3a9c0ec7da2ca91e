"""How fast a training set is learned: steps of training, over several seeds."""

from collections.abc import Sequence

import numpy as np
import pandas as pd


def steps_over_seeds(rows: pd.DataFrame, places: Sequence[str]) -> pd.DataFrame:
    """Mean and standard deviation of the steps over seeds, by the coordinates `places`.

    rows: those coordinates and `steps`, which is missing where a training set was never learned
    (see `pipeline.cells.training.Outcome`). Where one seed never learned it, the mean is infinite,
    so that the place comes after all others, and there is no deviation; nor is there with one seed.
    """
    cells = rows.astype({"steps": float}).groupby(list(places), sort=False)["steps"]
    speed = cells.agg(mean="mean", std="std", seeds="size")
    speed.loc[cells.count() < speed["seeds"], ["mean", "std"]] = np.inf, np.nan
    return speed
