"""Rank correlation."""

from collections.abc import Sequence

import numpy as np


def spearman(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Spearman's ρ of two sequences and its two-sided p-value; nan if one is constant."""
    from scipy.stats import spearmanr  # which takes a second to import

    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if len(np.unique(a)) < 2 or len(np.unique(b)) < 2:
        return float("nan"), float("nan")
    statistic, p_value = spearmanr(a, b)
    return float(statistic), float(p_value)
