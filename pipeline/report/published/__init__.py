"""The papers' published values as tables: facts read from their public material, each with its
source in README.md beside them."""

from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).parent


def table(name: str) -> pd.DataFrame:
    """A published table by the name of its file, such as 'nad_sweep'; accuracies in per cent,
    columns as in its README."""
    return pd.read_csv(FOLDER / f"{name}.csv")


def curve(name: str, network: str) -> pd.Series:
    """One network's column of a table over NAD indices ('nad_sweep', 'singular_values', 'poison'),
    by index."""
    return table(name).set_index("index")[network]
