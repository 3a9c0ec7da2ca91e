"""Rank correlation, and the part of a training that counts as early."""

from collections.abc import Sequence

import numpy as np
import pandas as pd


def spearman(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Spearman's ρ of two sequences and its two-sided p-value; nan if one is constant."""
    from scipy.stats import spearmanr  # which takes a second to import

    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if len(np.unique(a)) < 2 or len(np.unique(b)) < 2:
        return float("nan"), float("nan")
    statistic, p_value = spearmanr(a, b)
    return float(statistic), float(p_value)


def early(losses: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table of losses at a third of each architecture's epochs.

    The epoch is rounded and at least 1. The loss there tells how fast a direction is learned.
    """
    epochs = losses.groupby("architecture")["epoch"].transform("max")
    return losses[losses["epoch"] == (epochs / 3).round().clip(lower=1)]
