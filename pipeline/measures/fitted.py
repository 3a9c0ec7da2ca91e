"""Fitted networks: the other networks say nothing about what an architecture prefers.

In both papers every network ends near zero training loss (paper 2, A.1 and A.2).
"""

import pandas as pd

FITTED = 0.99  # training accuracy from which on a network counts as fitted


def fitted(rows: pd.DataFrame) -> pd.Series:
    """Whether each row of a table belongs to a fitted network, by its column `train_accuracy`."""
    return rows["train_accuracy"] >= FITTED


def counts(cells: pd.DataFrame) -> dict[str, int]:
    """The number of cells and of fitted cells in a table with one row a cell."""
    return {"cells": len(cells), "fitted": int(fitted(cells).sum())}


def switches_at(results: pd.DataFrame, index: str, one: str, other: str) -> int | None:
    """The smallest index at which fitted networks do better on the test set `other` than on `one`.

    index: the column of the indices. The accuracies are means over seeds; None where `one` is
    better at every index.
    """
    rows = results[fitted(results) & results["test_set"].isin([one, other])]
    means = rows.groupby([index, "test_set"])["accuracy"].mean().unstack()
    return next((int(i) for i, row in means.iterrows() if row[other] > row[one]), None)
