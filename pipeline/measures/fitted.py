"""Fitted networks: the other networks say nothing about what an architecture prefers.

In both papers every network ends near zero training loss (paper 2, A.1 and A.2).
"""

import pandas as pd

FITTED = 0.99  # training accuracy from which on a network counts as fitted


def fitted(rows: pd.DataFrame) -> pd.Series:
    """Whether each row of a table belongs to a fitted network, by its column `train_accuracy`."""
    return rows["train_accuracy"] >= FITTED
