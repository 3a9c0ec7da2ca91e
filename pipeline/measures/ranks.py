"""Rank correlation."""

from collections.abc import Sequence

import numpy as np


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    """Compute Spearman's ρ of two sequences.

    Args:
        a: Numbers.
        b: As many numbers.

    Returns:
        ρ, or NaN if one sequence is constant.
    """
    from scipy.stats import spearmanr  # which takes a second to import

    if len(np.unique(a)) < 2 or len(np.unique(b)) < 2:
        return float("nan")
    return float(spearmanr(a, b).statistic)
