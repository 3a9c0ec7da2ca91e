"""Numbers as the report writes them: accuracies, p-values, our values beside published ones."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd


def number(value: float, digits: int) -> str:
    """A number with `digits` decimals, a true minus sign, and no minus sign before zero."""
    return f"{value:z,.{digits}f}".replace("-", "−")


def mean_text(mean: float, deviation: float, digits: int = 1) -> str:
    """A mean with its standard deviation, which is nan for a single value and then left out."""
    spread = "" if np.isnan(deviation) else f" ± {number(deviation, digits)}"
    return number(mean, digits) + spread


def percent(mean: float, deviation: float) -> str:
    """An accuracy in per cent with its standard deviation over seeds."""
    return mean_text(100 * mean, 100 * deviation)


def accuracy(row: Mapping[str, Any]) -> str:
    """`percent` of a row with the columns mean and std."""
    return percent(row["mean"], row["std"])


def training(row: Mapping[str, Any]) -> str:
    """Training accuracy in per cent of a row of summary.csv, and the number of fitted networks."""
    return f"{100 * row['train_accuracy']:.1f} ({row['fitted']:.0f} of {row['seeds']:.0f})"


def basis(rows: pd.DataFrame) -> str:
    """What a sentence on rows of summary.csv rests on: '(2 seeds, 5 of 8 networks fitted)'."""
    seeds = int(rows["seeds"].max())
    fitted = f"{rows['fitted'].sum():.0f} of {rows['seeds'].sum():.0f} networks fitted"
    return f"({seeds} seed{'s' if seeds > 1 else ''}, {fitted})"


def rms_text(ours: pd.Series, published: pd.Series) -> str:
    """Root mean square difference of two series at their common keys, and the number of these."""
    difference = (ours - published).dropna()
    return f"{(difference**2).mean() ** 0.5:.1f} ({len(difference)})" if len(difference) else "–"
