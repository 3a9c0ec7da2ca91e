"""Which networks were fitted to their training set: the others say nothing about what an architecture prefers.

Both papers say that every network ends near zero training loss (paper 2, A.1 and A.2).
"""

import pandas as pd

FITTED = 0.99
"""Training accuracy from which on a network counts as fitted."""


def fitted(rows: pd.DataFrame) -> pd.Series:
    """Which rows of a table with the column `train_accuracy` belong to fitted networks: bool, with the table's index."""
    return rows["train_accuracy"] >= FITTED


def counts(cells: pd.DataFrame) -> dict[str, int]:
    """How many cells there are and how many of their networks were fitted, of a table with one row for each: `cells`, `fitted`."""
    return {"cells": len(cells), "fitted": int(fitted(cells).sum())}
