"""Fitted networks, the number of which stands beside the accuracies of several seeds:
the others say nothing about what an architecture prefers.

In both papers every network ends near zero training loss (paper 2, A.1 and A.2).
"""

import pandas as pd

FITTED = 0.99  # training accuracy from which on a network counts as fitted


def fitted(rows: pd.DataFrame) -> pd.Series:
    """Whether each row of a table belongs to a fitted network, by its column
    `train_accuracy`."""
    return rows["train_accuracy"] >= FITTED


def summary(results: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Mean and standard deviation of accuracies over seeds, and the number of fitted
    seeds.

    columns: those of everything but the seed.
    """
    values = {
        "mean": ("accuracy", "mean"),
        "std": ("accuracy", "std"),
        "seeds": ("accuracy", "count"),
        "fitted": ("fitted", "sum"),
        "train_accuracy": ("train_accuracy", "mean"),
    }
    if "best_accuracy" in results:
        values |= {
            "best_mean": ("best_accuracy", "mean"),
            "best_std": ("best_accuracy", "std"),
        }
    over_seeds = results.assign(fitted=fitted(results)).groupby(columns, sort=False)
    return over_seeds.agg(**values).round(6).reset_index()
