"""Which networks were fitted to their training set: the others say nothing about what an architecture prefers.

Both papers say that every network ends near zero training loss (paper 2, A.1 and A.2).
"""

import pandas as pd

FITTED = 0.99
"""Training accuracy from which on a network counts as fitted."""


def fitted(rows: pd.DataFrame) -> pd.Series:
    """Which rows of a table with the column `train_accuracy` belong to fitted networks: bool, with the table's index."""
    return rows["train_accuracy"] >= FITTED
