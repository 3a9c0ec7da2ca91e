"""Rank correlation."""

from collections.abc import Sequence

import numpy as np


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    """Spearman's ρ of two sequences; nan if one is constant."""
    from scipy.stats import spearmanr  # which takes a second to import

    several = min(len(np.unique(a)), len(np.unique(b))) > 1
    return float(spearmanr(a, b).statistic) if several else float("nan")
