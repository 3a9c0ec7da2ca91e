"""Numbers as the report writes them: accuracies, spreads, and distances from the
published values."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from pipeline.measures.fitted import fitted


def format_number(value: float, digits: int) -> str:
    """Format a number with a true minus sign, and zero without any sign.

    Args:
        value: The number.
        digits: Number of decimals.
    """
    return f"{value:z,.{digits}f}".replace("-", "−")


def format_mean(mean: float, deviation: float, digits: int = 1) -> str:
    """Format a mean ± its standard deviation.

    Args:
        mean: The mean.
        deviation: The standard deviation; nan, for a single value, is left out.
        digits: Number of decimals.
    """
    text = format_number(mean, digits)
    if np.isnan(deviation):
        return text
    return f"{text} ± {format_number(deviation, digits)}"


def format_percent(mean: float, deviation: float) -> str:
    """Format a fraction in per cent with its standard deviation."""
    return format_mean(100 * mean, 100 * deviation)


def format_accuracy(row: Mapping[str, Any]) -> str:
    """Format the accuracy in a row with the columns mean and std."""
    return format_percent(row["mean"], row["std"])


def format_share(cell: Mapping[str, float]) -> str:
    """Format the mean of a cell in per cent, such as '99.9 %'."""
    rounded = round(cell["mean"], 4)  # as in summary.csv
    return f"{format_number(rounded, 1)} %"


def format_training(row: Mapping[str, Any]) -> str:
    """Format the training accuracy and the number of fitted networks in a row of
    summary.csv."""
    percent = 100 * row["train_accuracy"]
    return f"{percent:.1f} ({row['fitted']:.0f} of {row['seeds']:.0f})"


def describe_basis(rows: pd.DataFrame, *cells: Mapping[str, float]) -> str:
    """Describe the basis of a finding: '± 0.1; 2 seeds, 5 of 8 networks fitted'.

    Args:
        rows: Results of the networks that the finding is about, one row each.
        cells: The cells whose means the finding quotes, in per cent.
    """
    spreads = [
        format_number(cell["std"], 1) for cell in cells if not np.isnan(cell["std"])
    ]
    spread = f"± {', '.join(spreads)}; " if spreads else ""
    count = rows["seed"].nunique()
    seeds = "1 seed" if count == 1 else f"{count} seeds"
    return f"{spread}{seeds}, {fitted(rows).sum()} of {len(rows)} networks fitted"


def format_rms(ours: pd.Series, published: pd.Series) -> str:
    """Format the root mean square difference of two series.

    Args:
        ours: Our values.
        published: The published values.

    Returns:
        The difference at the keys of both series, and the number of these keys.
    """
    difference = (ours - published).dropna()
    if difference.empty:
        return "–"
    return f"{(difference**2).mean() ** 0.5:.1f} ({len(difference)})"
