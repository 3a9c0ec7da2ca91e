"""The papers' published values as tables; README.md beside them tells the source of
each."""

from pathlib import Path

import pandas as pd


def table(name: str) -> pd.DataFrame:
    """The published table of this name, such as 'nad_sweep', with accuracies in per
    cent."""
    return pd.read_csv(Path(__file__).parent / f"{name}.csv")
