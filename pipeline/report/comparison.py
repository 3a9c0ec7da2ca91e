"""Numbers as the report writes them: accuracies, what they rest on, ours beside
published ones."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from pipeline.measures.fitted import fitted


def number(value: float, digits: int) -> str:
    """A number with `digits` decimals, a true minus sign, and no minus sign before
    zero."""
    return f"{value:z,.{digits}f}".replace("-", "−")


def mean_text(mean: float, deviation: float, digits: int = 1) -> str:
    """A mean with its standard deviation, which is nan for a single value and then left
    out."""
    spread = "" if np.isnan(deviation) else f" ± {number(deviation, digits)}"
    return number(mean, digits) + spread


def percent(mean: float, deviation: float) -> str:
    """An accuracy in per cent with its standard deviation over seeds."""
    return mean_text(100 * mean, 100 * deviation)


def accuracy(row: Mapping[str, Any]) -> str:
    """`percent` of a row with the columns mean and std."""
    return percent(row["mean"], row["std"])


def share(cell: Mapping[str, float]) -> str:
    """The mean of a cell in per cent, which is rounded as in summary.csv: '99.9 %'."""
    return f"{number(round(cell['mean'], 4), 1)} %"


def training(row: Mapping[str, Any]) -> str:
    """Training accuracy in per cent of a row of summary.csv, and the number of fitted
    networks."""
    return (
        f"{100 * row['train_accuracy']:.1f} ({row['fitted']:.0f} of {row['seeds']:.0f})"
    )


def basis(rows: pd.DataFrame, *quoted: Mapping[str, Any]) -> str:
    """What a sentence on rows of results.csv rests on, one row a network.

    '± 0.1, 0.2; 2 seeds, 5 of 8 networks fitted', of quoted cells in per cent.
    """
    spreads = [number(cell["std"], 1) for cell in quoted if not np.isnan(cell["std"])]
    spread = f"± {', '.join(spreads)}; " if spreads else ""
    seeds = rows["seed"].nunique()
    networks = f"{fitted(rows).sum()} of {len(rows)} networks fitted"
    return f"{spread}{seeds} seed{'s' if seeds > 1 else ''}, {networks}"


def rms_text(ours: pd.Series, published: pd.Series) -> str:
    """Root mean square difference of two series at their common keys, and the number of
    these."""
    difference = (ours - published).dropna()
    return (
        f"{(difference**2).mean() ** 0.5:.1f} ({len(difference)})"
        if len(difference)
        else "–"
    )
