"""The numbers of the pages: each is a call on the tables of the runs, which a template makes.

A run is named by its folder in reports/kept, 'fourier/lenet', which means its results.csv, or by
another of its tables, 'patches/four_networks/spectra.csv'; '../fourier' is of the last `dvc repro`.
Rows are chosen by the values of columns: index=64, index=[1, 64], index=range(16, 1024).
Accuracies are in per cent.
"""

import functools
import itertools
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
    return int(are_fitted(rows(run, **where)).sum())


def are_fitted(rows: pd.DataFrame) -> pd.Series:
    """Whether the network of each row is fitted."""
    return rows["train_accuracy"] >= 100 * FITTED


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


def learned(run: str, architecture: str, indices: Iterable[int]) -> str:
    """Cells of a table: the mean accuracy along each NAD, and the mean step after which the
    training set was learned: '99.9 (280) | 50.1 (not fitted)'."""
    cells = []
    for index in indices:
        networks = rows(run, architecture=architecture, index=index)
        steps = shown(networks["steps"].mean(), 0) if are_fitted(networks).all() else "not fitted"
        cells.append(f"{shown(networks['accuracy'].mean())} ({steps})")
    return " | ".join(cells)


def alone(run: str, indices: Iterable[int]) -> str:
    """Cells of a table: the mean accuracies with the first and with the second channel alone at
    each pair of these NADs: '100 / 50 | 62 / 55 (not fitted)'."""
    cells = []
    for first, second in itertools.product(indices, repeat=2):
        networks = rows(run, index_1=first, index_2=second)
        accuracy = networks.groupby("test_set")["accuracy"].mean()
        cell = f"{shown(accuracy['first'], 0)} / {shown(accuracy['second'], 0)}"
        cells.append(cell if are_fitted(networks).all() else f"{cell} (not fitted)")
    return " | ".join(cells)


def along_waves(run: str, repeating: bool, patch: int = 4) -> str:
    """The lowest and the highest accuracy along the waves that repeat in each patch×patch pixels
    of a square of 32×32, or along the others: '49.2 to 52.7 (14 of 14 fitted)'."""
    every = rows(run)
    repeats = (every[["k_row", "k_col"]] % (32 // patch) == 0).all(axis=1)
    networks = every[repeats == repeating]
    low, high = (shown(networks["accuracy"].agg(end)) for end in ("min", "max"))
    return f"{low} to {high} ({are_fitted(networks).sum()} of {len(networks)} fitted)"


def leading_nads(network: str) -> str:
    """Cells of a table on a network of patches of p×p pixels: its weights; the number of untrained
    networks, and the error of their C; √λ along NADs p² − 1, p² and 1000 in per cent of that along
    NAD 0, of the networks that chose the directions and of others; the wave to which it responds
    least, and how much."""
    (about,) = rows("patches/four_networks/networks.csv", network=network).itertuples()
    spectrum = rows("patches/four_networks/spectra.csv", network=network).set_index("index")
    spectrum = spectrum[["value", "held_out"]]
    cells = [f"{about.weights:,}", f"{about.networks} ({about.error:.3f})"]
    for index in (about.patch**2 - 1, about.patch**2, 1000):
        both = 100 * spectrum.loc[index] / spectrum.loc[0]
        cells.append("{:.3g}; {:.3g}".format(*both))
    cells.append(f"({about.k_row}, {about.k_col}), {about.least:.2g}".replace("-", "−"))
    return " | ".join(cells)


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
