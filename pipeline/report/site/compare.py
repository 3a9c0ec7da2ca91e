"""This run beside kept ones and the published tables, row by row."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from pipeline import experiments
from pipeline.project import artifacts
from pipeline.report import papers, runs
from pipeline.report.evaluated import Evaluated, evaluated
from pipeline.report.frequencies import DIRECTION, canonical
from pipeline.report.page import Table, percent

PLACE = ["architecture", "place", "test_set"]
"""The columns that tell the rows of one experiment apart."""


def kept() -> list[runs.Run]:
    """The runs that are kept in folders of reports/, such as reports/overnight: those that hold an experiment's tables."""
    folders = sorted(path for path in artifacts.REPORTS.iterdir() if path.is_dir())
    return [
        runs.of_folder(folder)
        for folder in folders
        if any((folder / name / "results.csv").exists() for name in experiments.names())
    ]


def placed(rows: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """Rows with their coordinates as text; of a frequency and its negative, which are one direction, always the same one."""
    coordinates = list(experiments.find(experiment).coordinates)
    if set(DIRECTION) <= set(coordinates):
        rows = canonical(rows)
    return runs.placed(rows, experiment, coordinates)


def summary(run: runs.Run, experiment: str) -> pd.DataFrame:
    """Another run's summary.csv of an experiment; raises InputError where it cannot be read."""
    wanted = ["architecture", *experiments.find(experiment).coordinates, "test_set", "mean", "std", "seeds"]
    return run.table(f"{experiment}/summary.csv", wanted)


def accuracies(rows: pd.DataFrame, experiment: str) -> pd.Series:
    """A summary's accuracies as text, mean and standard deviation in per cent with the number of seeds, by `PLACE`."""
    text = [f"{percent(row['mean'], row['std'])} ({row['seeds']})" for row in rows.to_dict("records")]
    return placed(rows, experiment).assign(text=text).set_index(PLACE)["text"]


def called(run: runs.Run, experiment: str) -> str:
    """What a column calls a kept run: its folder and its scale."""
    return f"{run.name} (scale {run.json(f'{experiment}/metrics.json', runs.Metrics)['scale']})"


def published(run: Evaluated, experiment: str) -> pd.Series:
    """The published accuracies beside this run's architectures, as text in per cent, by `PLACE`."""
    empty = pd.Series([], pd.MultiIndex.from_arrays([[], [], []], names=PLACE), dtype=object)
    if experiment not in papers.PUBLISHED:
        return empty
    pictures = artifacts.checked_pictures(experiment)
    if pictures and pictures["name"] != "CIFAR-10":
        return empty
    table = placed(papers.results(experiment), experiment).dropna(subset="accuracy")
    found = []
    for name, (called, network) in run.beside({network: network for network in table["architecture"].unique()}).items():
        theirs = table[table["architecture"] == network].drop_duplicates(PLACE)
        width = called.removeprefix("published")
        found.append(
            theirs.assign(architecture=name, text=[f"{100 * value:.1f}{width}" for value in theirs["accuracy"]])
        )
    return pd.concat(found).set_index(PLACE)["text"] if found else empty


def table(experiment: str, others: Sequence[runs.Run]) -> Table | None:
    """The rows that this run shares with another or with the papers; None where there is none."""
    run = evaluated(experiment)
    here = accuracies(run.summary(), experiment)
    theirs = {
        called(other, experiment): accuracies(summary(other, experiment), experiment)
        for other in others
        if experiment in other.experiments
    }
    theirs["published"] = published(run, experiment)
    columns = {"this run": here} | {
        name: values for name, values in theirs.items() if len(here.index.intersection(values.index))
    }
    if len(columns) == 1:
        return None
    beside = pd.concat(columns, axis=1).reindex(here.index)
    beside = beside[beside.drop(columns="this run").notna().any(axis=1)].fillna("–")
    rows = [
        [run.labels.get(name, name), place, test, *row]
        for (name, place, test), row in zip(beside.index, beside.to_numpy())
    ]
    return Table(["network", "where", "test set", *beside.columns], rows)


def tables(sections: Mapping[str, Any], others: Sequence[runs.Run] = ()) -> dict[str, Table]:
    """`table` of every experiment that has one, among the page's sections; others: runs besides those that are kept."""
    others = [*others, *kept()]
    found = {name: table(name, others) for name in sections if name in experiments.names()}
    return {name: some for name, some in found.items() if some is not None}
