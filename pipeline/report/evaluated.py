"""What the section of every experiment starts from: the plan that was run, its accuracies, and what figures call its architectures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import pandas as pd

from pipeline import experiments
from pipeline.grid.experiment import Plan
from pipeline.project import artifacts
from pipeline.report.labels import label, of_the_papers

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

    def table(self, name: str) -> pd.DataFrame:
        """Another table of its reports: 'summary', 'boundaries' or 'changes'."""
        return table_of(self.plan.experiment, name)

    def sizes(self, architectures: Iterable[str] | None = None) -> str:
        """The caption of some architectures (all): scale, seeds, training samples, epochs, precision.

        Of images there may be fewer than the plan asks for; said are as many as there are.
        """
        plan = self.plan
        names = list(self.labels if architectures is None else architectures)
        samples = plan.train_samples
        if experiments.find(plan.experiment).needs_images:
            samples = min(samples, artifacts.about_images()["train"])
        seeds = f"{len(plan.seeds)} seed" + ("s" if len(plan.seeds) > 1 else "")
        epochs = [plan.members[name].training.epochs for name in names]
        each = (
            f"{epochs[0]} epochs"
            if len(set(epochs)) == 1
            else "epochs " + ", ".join(f"{count} ({self.labels[name]})" for name, count in zip(names, epochs))
        )
        precision = "" if plan.precision == "float32" else f" · trained in {plan.precision}"
        return f"scale {plan.scale} · {seeds} · {samples:,} training samples · {each}{precision}"

    def of_the_papers(self, published: Mapping[str, Value]) -> dict[str, Value]:
        """What is published of each architecture that is one of the papers' networks as they have it."""
        return of_the_papers({name: self.plan.members[name].specification for name in self.labels}, published)


def evaluated(experiment: str) -> Evaluated:
    """The run of an experiment, read from its plan and its results; raises InputError where either is missing."""
    plan = Plan.read(experiments.find(experiment), artifacts.planned(experiment))
    results = table_of(experiment, "results")
    names = results["architecture"].unique()
    return Evaluated(plan, results, {name: label(plan.members[name].specification) for name in names})


def table_of(experiment: str, name: str) -> pd.DataFrame:
    """One table of an experiment's reports; raises InputError if it is missing."""
    return pd.read_csv(artifacts.present(artifacts.REPORTS / experiment / f"{name}.csv", f"evaluate {experiment}"))
