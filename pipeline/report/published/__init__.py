"""The papers' published values as tables; README.md beside them states the sources."""

from pathlib import Path

import pandas as pd


def read_published(name: str) -> pd.DataFrame:
    """Read a published table such as 'nad_sweep', with accuracies in per cent."""
    return pd.read_csv(Path(__file__).parent / f"{name}.csv")
