"""The numbers of the pages: each is a call on the tables of the runs, which a template makes.

A run is named by its folder in reports/kept, 'fourier/lenet', which means its results.csv, or by
another of its tables, 'patches/four_networks/spectra.csv'; '../fourier' is of the last `dvc repro`.
Rows are chosen by the values of columns: index=64, index=[1, 64], index=range(16, 1024).
Accuracies are in per cent.
"""

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pipeline.measures.fitted import FITTED
from pipeline.measures.ranks import spearman
from pipeline.project.errors import InputError
from pipeline.report import published as papers

KEPT = Path("reports/kept")
PLACE = ["index", "k_row", "k_col", "index_1", "index_2"]
"""The columns that say along which direction, or pair of directions, a network was trained."""


@functools.cache
def table(path: Path) -> pd.DataFrame:
    """A table of a run, with its accuracies in per cent."""
    rows = pd.read_csv(path)
    return rows.assign(**{name: 100 * rows[name] for name in rows if "accuracy" in name})


def chosen(table: pd.DataFrame, where: dict[str, Any]) -> pd.DataFrame:
    """The rows with these values; raises InputError where there are none."""
    rows = table
    for name, wanted in where.items():
        rows = rows[rows[name].isin(wanted if isinstance(wanted, list | range) else [wanted])]
    if rows.empty:
        raise InputError(f"a page asks for rows where {where}, and its table has none")
    return rows


def rows(run: str, **where: Any) -> pd.DataFrame:
    """The rows of a run's table with these values."""
    path = KEPT / run
    return chosen(table(path if path.suffix else path / "results.csv"), where)


def mean(run: str, column: str = "accuracy", **where: Any) -> float:
    """The mean of a column."""
    return float(rows(run, **where)[column].mean())


def std(run: str, column: str = "accuracy", **where: Any) -> float:
    """The standard deviation of a column."""
    return float(rows(run, **where)[column].std())


def lowest(run: str, column: str = "accuracy", **where: Any) -> float:
    """The lowest value of a column."""
    return float(rows(run, **where)[column].min())


def highest(run: str, column: str = "accuracy", **where: Any) -> float:
    """The highest value of a column."""
    return float(rows(run, **where)[column].max())


def count(run: str, **where: Any) -> int:
    """The number of rows: of networks, or of networks and test sets."""
    return len(rows(run, **where))


def fitted(run: str, **where: Any) -> int:
    """The number of rows whose network is fitted."""
    return int((rows(run, **where)["train_accuracy"] >= 100 * FITTED).sum())


def with_spread(run: str, column: str = "accuracy", digits: int = 1, **where: Any) -> str:
    """Mean ± standard deviation as text, or the mean alone of a single row: '69.9 ± 0.8'."""
    values = [mean(run, column, **where)]
    values += [std(run, column, **where)] if count(run, **where) > 1 else []
    return " ± ".join(shown(value, digits) for value in values)


def ends(run: str, column: str = "accuracy", digits: int = 1, **where: Any) -> str:
    """Lowest to highest as text: '84.6 to 99.8', or one of them if they look alike."""
    values = lowest(run, column, **where), highest(run, column, **where)
    return " to ".join(dict.fromkeys(shown(value, digits) for value in values))


def along(run: str, column: str = "accuracy", **where: Any) -> pd.Series:
    """The mean of a column over seeds, by the columns of `PLACE` that the table has."""
    table = rows(run, **where)
    return table.groupby([name for name in PLACE if name in table])[column].mean()


def rho(run: str, column: str = "accuracy", **where: Any) -> float:
    """Spearman's ρ of the mean of a column over seeds with the index of the NAD."""
    values = along(run, column, **where)
    return spearman(values.index, values)[0]


def seeds_apart(run: str, column: str = "accuracy", **where: Any) -> float:
    """The largest difference between seeds along one direction."""
    table = rows(run, **where)
    by_place = table.groupby([name for name in PLACE if name in table])[column]
    return float((by_place.max() - by_place.min()).max())


def published(name: str, column: str, **where: Any) -> float:
    """The mean of a column of a published table, such as nad_sweep's 'lenet'."""
    return float(chosen(papers.table(name), where)[column].mean())


def rms(differences: Iterable[float]) -> float:
    """The root mean square."""
    return float(np.sqrt(np.mean(np.square(differences))))


def shown(number: Any, digits: int = 1) -> Any:
    """A number as a page shows it, '−0.7' or '1,369'; anything else as it is."""
    if isinstance(number, float):
        return f"{number:,.{digits}f}".replace("-", "−")
    return f"{number:,}".replace("-", "−") if isinstance(number, int) else number
