"""The numbers of the pages: each is a call on the tables of the runs, which a template makes.

A run is named by its folder in reports/kept, 'fourier/lenet', which means its results.csv, or by
another of its tables, 'patches/four_networks/spectra.csv'; '../fourier' is of the last `dvc repro`.
Rows are chosen by the values of columns: index=64, index=[1, 64], index=range(16, 1024).
Accuracies are in per cent.
"""

import functools
import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pipeline.measures.fitted import FITTED
from pipeline.measures.ranks import spearman
from pipeline.project.errors import InputError
from pipeline.report import published as papers
from pipeline.report.nads import PUBLISHED_ROWS, published_spectra

KEPT = Path("reports/kept")

Run = str | list[str]
"""A run's folder or table, or those of several runs of the same experiment."""

PLACE = ["index", "k_row", "k_col", "index_1", "index_2"]
"""The columns that say along which direction, or pair of directions, a network was trained."""

IMAGES = "plain", "flipped"
"""As they are, and with their coefficients along the NADs in reverse order."""

FRACTIONS = ["accuracy", "train_accuracy", "best_accuracy", "all", "first", "second"]
"""The columns that are accuracies."""


@functools.cache
def table(path: Path) -> pd.DataFrame:
    """A table of a run, with its accuracies in per cent."""
    rows = pd.read_csv(path)
    return rows.assign(**{name: 100 * rows[name] for name in FRACTIONS if name in rows})


def chosen(table: pd.DataFrame, where: dict[str, Any]) -> pd.DataFrame:
    """The rows with these values; raises InputError where there are none."""
    rows = table
    for name, wanted in where.items():
        rows = rows[rows[name].isin(wanted if isinstance(wanted, list | range) else [wanted])]
    if rows.empty:
        raise InputError(f"a page asks for rows where {where}, and its table has none")
    return rows


def rows(run: Run, **where: Any) -> pd.DataFrame:
    """The rows of the table of a run, or of several together, with these values."""
    paths = [KEPT / name for name in ([run] if isinstance(run, str) else run)]
    tables = [table(path if path.suffix else path / "results.csv") for path in paths]
    return chosen(pd.concat(tables), where)


def mean(run: Run, column: str = "accuracy", **where: Any) -> float:
    """The mean of a column."""
    return float(rows(run, **where)[column].mean())


def std(run: Run, column: str = "accuracy", **where: Any) -> float:
    """The standard deviation of a column."""
    return float(rows(run, **where)[column].std())


def lowest(run: Run, column: str = "accuracy", **where: Any) -> float:
    """The lowest value of a column."""
    return float(rows(run, **where)[column].min())


def highest(run: Run, column: str = "accuracy", **where: Any) -> float:
    """The highest value of a column."""
    return float(rows(run, **where)[column].max())


def count(run: Run, **where: Any) -> int:
    """The number of rows: of networks, or of networks and test sets."""
    return len(rows(run, **where))


def places(table: pd.DataFrame) -> list[str]:
    """The columns of `PLACE` that a table has."""
    return [name for name in PLACE if name in table]


def fitted(run: Run, **where: Any) -> int:
    """The number of rows whose network is fitted."""
    return int(are_fitted(rows(run, **where)).sum())


def are_fitted(rows: pd.DataFrame) -> pd.Series:
    """Whether the network of each row is fitted."""
    return rows["train_accuracy"] >= 100 * FITTED


def with_spread(run: Run, column: str = "accuracy", digits: int = 1, **where: Any) -> str:
    """Mean ± standard deviation as text, or the mean alone of a single row: '69.9 ± 0.8'."""
    values = [mean(run, column, **where)]
    values += [std(run, column, **where)] if count(run, **where) > 1 else []
    return " ± ".join(shown(value, digits) for value in values)


def ends(run: Run, column: str = "accuracy", digits: int = 1, **where: Any) -> str:
    """Lowest to highest as text: '84.6 to 99.8', or one of them if they look alike."""
    values = lowest(run, column, **where), highest(run, column, **where)
    return " to ".join(dict.fromkeys(shown(value, digits) for value in values))


def means(run: Run, **where: Any) -> str:
    """Lowest to highest mean over seeds along one direction, as text."""
    values = along(run, **where)
    return f"{shown(values.min())} to {shown(values.max())}"


def along(run: Run, column: str = "accuracy", **where: Any) -> pd.Series:
    """The mean of a column over seeds, by the columns of `PLACE` that the table has."""
    table = rows(run, **where)
    return table.groupby(places(table))[column].mean()


def rho(run: Run, column: str = "accuracy", **where: Any) -> float:
    """Spearman's ρ of the mean of a column over seeds with the index of the NAD."""
    values = along(run, column, **where)
    return spearman(values.index, values)


def seeds_apart(run: Run, column: str = "accuracy", **where: Any) -> float:
    """The largest difference between seeds along one direction, on one test set."""
    table = rows(run, **where)
    by_place = table.groupby([*places(table), *(table.columns.intersection(["test_set"]))])[column]
    return float((by_place.max() - by_place.min()).max())


def learned(run: str, architecture: str, indices: Iterable[int]) -> str:
    """Cells of a table: the mean accuracy along each NAD, and the mean step after which the
    training set was learned, or whether it was fitted: '99.9 (280) | 89.8 (fitted) | 50.1 (not
    fitted)'; '–' where none was trained."""
    cells, every = [], rows(run, architecture=architecture)
    for index in indices:
        networks = every[every["index"] == index]
        steps = networks["steps"].mean(skipna=False)
        text = "fitted" if np.isnan(steps) else shown(steps, 0)
        text = text if are_fitted(networks).all() else "not fitted"
        accuracy = shown(networks["accuracy"].mean())
        cells.append(f"{accuracy} ({text})" if len(networks) else "–")
    return " | ".join(cells)


def alone(run: str, indices: Iterable[int], **where: Any) -> str:
    """Cells of a table: the mean accuracies with the first and with the second channel alone at
    each pair of these NADs: '100 / 50 | 62 / 55 (not fitted)'."""
    cells = []
    for first, second in itertools.product(indices, repeat=2):
        networks = rows(run, index_1=first, index_2=second, **where)
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


def nads(name: str) -> dict[str, Any]:
    """What is kept of the NADs of a network: their number of networks, error, first value."""
    return json.loads((KEPT / "nads.json").read_text(encoding="utf-8"))[name]


def plan(run: str) -> dict[str, Any]:
    """The plan of a run, from its run.json."""
    return json.loads((KEPT / run / "run.json").read_text(encoding="utf-8"))["plan"]


def rms(differences: Iterable[float]) -> float:
    """The root mean square."""
    return float(np.sqrt(np.mean(np.square(differences))))


def published(experiment: str, column: str, **where: Any) -> float:
    """The mean of a column of a published table, such as nad_sweep's 'lenet'."""
    return float(chosen(papers.table(experiment), where)[column].mean())


def first_value(network: str) -> float:
    """The first singular value that is published of a network's secants."""
    return float(published_spectra()[network][0] * PUBLISHED_ROWS**0.5)


def beside(run: str, column: str, **where: Any) -> pd.DataFrame:
    """Columns ours and published, means over what is repeated, by direction or pair of directions.

    column: of the published table, the name of the network, or in linear_pairs of the test set.
    Directions of waves are put together as in `wave`, without the published row k_row = 0.
    """
    ours, theirs = rows(run, **where), papers.table(run.partition("/")[0])
    if "k_row" in theirs:
        theirs = chosen(theirs, {"k_row": range(-16, 0)})
        place = lambda table: waves(table, mirrored=column != "resnet18")
    else:
        place = places
    means = {"ours": ours.groupby(place(ours))["accuracy"].mean()}
    means["published"] = theirs.groupby(place(theirs))[column].mean()
    return pd.DataFrame(means).dropna()


def apart(run: str, column: str, **where: Any) -> float:
    """Points rms between ours and the published values, see `beside`."""
    both = beside(run, column, **where)
    return rms(both["ours"] - both["published"])


def above(run: str, column: str, **where: Any) -> float:
    """The mean number of points by which ours lies above the published values, see `beside`."""
    both = beside(run, column, **where)
    return float((both["ours"] - both["published"]).mean())


def furthest(run: str, column: str, **where: Any) -> float:
    """The largest number of points between ours and a published value, see `beside`."""
    both = beside(run, column, **where)
    return float((both["ours"] - both["published"]).abs().max())


def waves(table: pd.DataFrame, mirrored: bool) -> list[np.ndarray]:
    """The `wave` of each row, as two columns."""
    k = [wave(*k, mirrored) for k in zip(table["k_row"], table["k_col"])]
    return list(np.transpose(k))


def wave(k_row: int, k_col: int, mirrored: bool) -> tuple[int, int]:
    """The frequency that stands for all that are alike to a network: k, −k and their transposes,
    and where flips change nothing either (`mirrored`), those of any sign."""
    if mirrored:
        return tuple(sorted((abs(k_row), abs(k_col))))
    opposite = [(-k + 16) % 32 - 16 for k in (k_row, k_col)]
    return min((k_row, k_col), (k_col, k_row), tuple(opposite), tuple(reversed(opposite)))


def odd_halves(run: str, network: str, count: int) -> pd.DataFrame:
    """`beside` for waves of which so many of k_row/2 and k_col/2 are odd."""
    both = beside(run, network)
    return both[[sum(k % 4 != 0 for k in frequency) == count for frequency in both.index]]


def above_transpose(network: str) -> pd.Series:
    """By how much the published row k_row = 0 lies above its transpose, by k_col."""
    known = papers.table("fourier").set_index(["k_row", "k_col"])[network]
    # k and −k are the same direction, and the table has no k_row above 0.
    return pd.Series({k: known[0, k] - known[-abs(k), 0] for k in range(-16, 16, 2) if k})


def repeats(network: str) -> float:
    """The standard deviation of published runs along the same wave, k and −k, rms over waves."""
    known = chosen(papers.table("fourier"), {"k_row": [-16, 0]})
    return rms(known.groupby(["k_row", known["k_col"].abs()])[network].std().dropna())


def lost(run: str) -> pd.Series:
    """What flipping the images' coefficients costs a network, in points of accuracy, by seed."""
    plain, flipped = (rows(run, images=name).set_index("seed")["accuracy"] for name in IMAGES)
    return plain - flipped


def steps(run: str) -> pd.Series:
    """The mean number of steps by direction, ∞ where some seed does not learn it."""
    table = rows(run)
    table = table.assign(steps=table["steps"].fillna(np.inf))
    return table.groupby(places(table))["steps"].mean()


def never(run: str) -> int:
    """The number of directions that some seed does not learn."""
    return int(np.isinf(steps(run)).sum())


def sooner(run: str, accuracies: str) -> float:
    """Spearman's ρ of `steps` with the accuracy along the same directions of another run."""
    taken = steps(run)
    return spearman(taken, along(accuracies)[taken.index])


def less_grey(run: str, axis: str) -> str:
    """Accuracy along waves of a colour less that in grey: mean ± standard error over waves."""
    by_axis = rows(run).pivot(index=["k_row", "k_col"], columns="axis", values="accuracy")
    difference = by_axis[axis] - by_axis["grey"]
    return f"{shown(difference.mean())} ± {shown(difference.sem())}"


def times_later(run: Run, earlier: int) -> str:
    """How many times a LeNet's earlier index the later one must be for the earlier NAD to be used,
    though it is in the weaker channel, as text over seeds: '16 to 32'."""
    weaker = rows(run, architecture="lenet", index_2=earlier, test_set=["first", "second"])
    alone = weaker.pivot(index=["seed", "index_1"], columns="test_set", values="accuracy")
    used = alone.query("index_1 > @earlier and second > first").reset_index()
    turns = used.groupby("seed")["index_1"].min() // earlier
    return " to ".join(dict.fromkeys(shown(turn) for turn in (turns.min(), turns.max())))


def responses(images: int) -> pd.DataFrame:
    """The networks of `prediction`, fully trained on so many images: their alignments before
    training, the mean accuracy over seeds, and their family."""
    run = "prediction/seventeen_networks"
    trained = rows(f"{run}/networks.csv", images=images, epochs=range(2, 100))
    accuracy = trained.groupby("network", as_index=False)["accuracy"].mean()
    family = accuracy["network"].str.extract("([^ ,]+)", expand=False)
    return accuracy.assign(family=family).merge(table(KEPT / run / "alignments.csv"))


def among_all(predictor: str, images: int) -> float:
    """Spearman's ρ of a response with accuracy over all networks."""
    found = responses(images)
    return spearman(found[predictor], found["accuracy"])


def between_families(predictor: str, images: int) -> float:
    """Spearman's ρ of a response with accuracy over families, by means, of logs for responses."""
    found = responses(images)
    means = found.assign(log=np.log(found[predictor])).groupby("family")[["log", "accuracy"]].mean()
    return spearman(means["log"], means["accuracy"])


def within_families(predictor: str, images: int) -> float:
    """Spearman's ρ of what both differ by from the mean of a network's family, of two or more."""
    found = responses(images)
    found = found[found.groupby("family")["network"].transform("size") > 1]
    found = found.assign(log=np.log(found[predictor]))[["family", "log", "accuracy"]]
    own = found[["log", "accuracy"]] - found.groupby("family").transform("mean")
    return spearman(own["log"], own["accuracy"])


def convolutional(predictor: str, images: int) -> float:
    """Spearman's ρ of a response with accuracy over the networks of convolutions alone."""
    found = responses(images)
    found = found[found["family"].isin(["LeNet", "VGG-11", "ResNet-18", "ConvMixer"])]
    return spearman(found[predictor], found["accuracy"])


def shown(number: Any, digits: int = 1) -> Any:
    """A number as a page shows it, '−0.7' or '1,369'; anything else as it is."""
    if isinstance(number, float):
        return f"{number:,.{digits}f}".replace("-", "−")
    whole = isinstance(number, int | np.integer)
    return f"{number:,}".replace("-", "−") if whole else number
