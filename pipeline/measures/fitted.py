"""Fitted networks.

A network that does not fit its training set says nothing about what its architecture
prefers, so the number of fitted networks is given with the accuracies of several seeds.
In both papers every network ends near zero training loss (paper 2, A.1 and A.2).
"""

import pandas as pd

FITTED = 0.99
"""Training accuracy from which on a network counts as fitted."""


def fitted(rows: pd.DataFrame) -> pd.Series:
    """Return whether the network of each row is fitted, by `train_accuracy`."""
    return rows["train_accuracy"] >= FITTED


def summary(results: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Summarise accuracies over seeds.

    Args:
        results: A row for each network and test set.
        columns: All coordinates of a row but the seed.

    Returns:
        Mean and standard deviation of the accuracies, and the numbers of seeds and of
        fitted seeds.
    """
    values = {
        "mean": ("accuracy", "mean"),
        "std": ("accuracy", "std"),
        "seeds": ("accuracy", "count"),
        "fitted": ("fitted", "sum"),
        "train_accuracy": ("train_accuracy", "mean"),
    }
    if "best_accuracy" in results:
        values["best_mean"] = ("best_accuracy", "mean")
        values["best_std"] = ("best_accuracy", "std")
    over_seeds = results.assign(fitted=fitted(results)).groupby(columns, sort=False)
    return over_seeds.agg(**values).round(6).reset_index()
