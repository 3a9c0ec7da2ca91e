"""Our values beside published ones in numbers, and p-values, as the report writes them."""

import numpy as np
import pandas as pd


def rms(ours: pd.Series, published: pd.Series) -> tuple[float, int]:
    """Root mean square difference of two series at the keys that both have, and how many these are; nan where there is none."""
    difference = (ours - published).dropna()
    return float(np.sqrt((difference**2).mean())), len(difference)


def rms_text(ours: pd.Series, published: pd.Series) -> str:
    """`rms` of two series in per cent as text, for example '1.9 (66)': points, and at how many keys."""
    points, count = rms(ours, published)
    return f"{points:.1f} ({count})" if count else "–"


def indices_text(count: int) -> str:
    """A number of indices as text."""
    return "1 index" if count == 1 else f"{count} indices"


def p_text(p: float) -> str:
    """A p-value as text: 'p = 0.12', 'p < 0.001'."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def number(value: float, digits: int) -> str:
    """A number with so many digits after the point and a proper minus sign; none stands before zero."""
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")
