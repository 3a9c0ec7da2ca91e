"""What the section of every experiment starts from: the plan that was run, its accuracies, and what figures call its architectures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pandas as pd

from pipeline import experiments
from pipeline.grid.experiment import Member, Plan
from pipeline.measures.fitted import FITTED, fitted
from pipeline.project import artifacts, formats
from pipeline.project.shapes import INPUT
from pipeline.report.labels import label, of_full_width, of_the_papers

Value = TypeVar("Value")


@dataclass(frozen=True)
class Evaluated:
    """One experiment that was run and evaluated.

    plan: what was run; results: reports/{experiment}/results.csv, one row per cell and test set; labels: architecture → what
    figures call it, in the order of the results.
    """

    plan: Plan
    results: pd.DataFrame
    labels: dict[str, str]

    def summary(self, *wanted: str) -> pd.DataFrame:
        """The results as mean and standard deviation over seeds, reports/{experiment}/summary.csv, with the columns `wanted` too."""
        name, coordinates = self.plan.experiment, experiments.find(self.plan.experiment).coordinates
        found = artifacts.evaluated(name, "summary", [*SUMMARY, *coordinates, *wanted])
        keys = ["architecture", *coordinates, "test_set"]
        with artifacts.whole(artifacts.REPORTS / name / "summary.csv", f"evaluate {name}"):
            artifacts.same_cells(found, self.results, keys)
            if found["seeds"].sum() != len(self.results):
                raise ValueError("it is not of as many networks as results.csv")
        return found

    def table(self, name: str, *wanted: str) -> pd.DataFrame:
        """Another table of its reports: 'boundaries', of every cell, or 'changes', of cells whose test inputs are altered."""
        experiment, keys = self.plan.experiment, ["architecture", "seed"]
        if name == "boundaries":
            keys += experiments.find(experiment).coordinates
        found = artifacts.evaluated(experiment, name, [*keys, *wanted])
        with artifacts.whole(artifacts.REPORTS / experiment / f"{name}.csv", f"evaluate {experiment}"):
            artifacts.same_cells(found, self.results, keys)
            if found.groupby(keys).size().nunique() > 1:
                raise ValueError("it does not have as many rows of every network")
        return found

    def sizes(self, architectures: Iterable[str] | None = None) -> str:
        """The caption of some architectures (all): scale, seeds, training samples, epochs, precision.

        Of images there may be fewer than the plan asks for; said are as many as there are.
        """
        plan = self.plan
        names = list(self.labels if architectures is None else architectures)
        samples = plan.train_samples
        if experiments.find(plan.experiment).needs_images:
            samples = min(samples, artifacts.about_images()["train"])
        epochs = [plan.members[name].training.epochs for name in names]
        each = self._each(epochs, names, "epoch")
        precision = "" if plan.precision == "float32" else f" · trained in {plan.precision}"
        return f"scale {plan.scale} · {self.seeds(names)} · {samples:,} training samples · {each}{precision}"

    def seeds(self, architectures: Iterable[str] | None = None) -> str:
        """With how many seeds some architectures (all) were trained, as text."""
        names = list(self.labels if architectures is None else architectures)
        return self._each([self._seeds_of(name) for name in names], names, "seed")

    def deviations(self) -> str:
        """What stands behind ±, as part of a caption; empty where there is one seed, and so no ±."""
        return " · ± standard deviation over seeds" if max(map(self._seeds_of, self.labels)) > 1 else ""

    def _seeds_of(self, name: str) -> int:
        return len(self.plan.seeds[: self.plan.members[name].seeds])

    def _each(self, counts: list[int], names: list[str], what: str) -> str:
        """A number for every architecture as text, said once where all have the same."""
        if len(set(counts)) == 1:
            return f"{counts[0]} {what}" + ("s" if counts[0] > 1 else "")
        return f"{what}s " + ", ".join(f"{count} ({self.labels[name]})" for name, count in zip(names, counts))

    def of_the_papers(self, published: Mapping[str, Value], **arguments: Any) -> dict[str, Value]:
        """What is published of each architecture that is one of the papers' networks as they have it."""
        return of_the_papers(self._specifications(), published, **arguments)

    def beside(self, published: Mapping[str, Value]) -> dict[str, tuple[str, Value]]:
        """What is published of each architecture's network, and what a figure calls it.

        That is 'published' of one of the papers' networks as they have it, and 'published, full width' beside a narrower one.
        """
        own, wide = self.of_the_papers(published), of_full_width(self._specifications(), published)
        return {name: ("published", value) for name, value in own.items()} | {
            name: ("published, full width", value) for name, value in wide.items()
        }

    def _specifications(self) -> dict[str, dict[str, Any]]:
        return {name: described(self.plan.members[name]) for name in self.labels}


def described(member: Member) -> dict[str, Any]:
    """The specification of an architecture's network, with its input where that is not 32×32: nothing is published of those."""
    return member.specification | ({} if member.input == INPUT else {"input": member.input})


RESULTS = ("architecture", "seed", "test_set", "accuracy", "train_accuracy")
SUMMARY = ("architecture", "test_set", "mean", "std", "seeds", "fitted", "train_accuracy")
"""Columns of results.csv and summary.csv, besides an experiment's coordinates."""


def evaluated(experiment: str, *wanted: str) -> Evaluated:
    """The run of an experiment, read from its plan and its results, which have the columns `wanted` too.

    Raises InputError where either is missing or damaged.
    """
    one = experiments.find(experiment)
    plan = Plan.read(one, artifacts.planned(experiment))
    results = artifacts.evaluated(experiment, "results", [*RESULTS, *one.coordinates, *wanted])
    names = results["architecture"].unique()
    with artifacts.whole(artifacts.REPORTS / experiment / "results.csv", f"evaluate {experiment}"):
        formats.lacking(plan.members, names)
    return Evaluated(plan, results, {name: label(described(plan.members[name])) for name in names})


def check(experiment: str) -> None:
    """Raise InputError unless the results of an experiment are of the cells that are planned, all of them and no others.

    They are not where the plan was made anew and the cells were not, or where lines of the table are gone.
    """
    run, one = evaluated(experiment), experiments.find(experiment)
    keys = ["architecture", "seed", *one.coordinates]
    with artifacts.whole(artifacts.REPORTS / experiment / "results.csv", f"evaluate {experiment}"):
        artifacts.same_cells(run.results, pd.DataFrame(one.cells(run.plan)), keys)


def all_fitted(rows: pd.DataFrame, places: Sequence[str]) -> pd.Series:
    """Whether the networks of every seed were fitted: bool, by the columns `places` of rows that have `train_accuracy`."""
    return fitted(rows).groupby([rows[place] for place in places]).all()


def not_fitted(rows: pd.DataFrame, places: Sequence[str], mark: str, what: str) -> str:
    """The part of a caption that says how many of a figure's points were not fitted with every seed, and how they are marked.

    places: the columns of rows that tell points apart; mark: for example 'hollow'; what: what a point is, in the plural.
    """
    found = all_fitted(rows, places)
    if found.all():
        return f"every network fitted (training accuracy at least {100 * FITTED:.0f} %)"
    return f"{mark}: {(~found).sum()} of {len(found)} {what}, where not every network was fitted (training accuracy below {100 * FITTED:.0f} %)"


def training(cell: Mapping[str, Any]) -> str:
    """Training accuracy in per cent of a row of summary.csv, with the number of its networks that were fitted."""
    return f"{100 * cell['train_accuracy']:.1f} ({cell['fitted']:.0f} of {cell['seeds']:.0f})"
