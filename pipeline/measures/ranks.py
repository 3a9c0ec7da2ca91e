"""Rank correlation, and the part of a training that counts as early."""

import pandas as pd


def spearman(a, b):
    """Spearman's ρ of two equally long sequences: Pearson's correlation of their average ranks; nan if one is constant."""
    a, b = (pd.Series(list(values), dtype=float).rank() for values in (a, b))
    if a.nunique() < 2 or b.nunique() < 2:
        return float("nan")
    return float(a.corr(b))


def early(losses):
    """The rows of a table of losses (columns architecture, epoch, loss, …) at a third of each architecture's epochs.

    The epoch is rounded and at least 1; loss(early) tells how fast a direction is learned.
    """
    epochs = losses.groupby("architecture")["epoch"].transform("max")
    return losses[losses["epoch"] == (epochs / 3).round().clip(lower=1)]
