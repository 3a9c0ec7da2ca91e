"""The run that the report shows, read once, and the parts of captions that its figures
share."""

import dataclasses
import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pydantic

from pipeline import experiments
from pipeline.experiments.plan import Plan
from pipeline.measures.fitted import FITTED, fitted, summary
from pipeline.nads.estimator import NADsPlan
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.report.labels import label, papers_network, without_width
from pipeline.training.shapes import INPUT

NETWORK = (
    "lenet"  # the architecture whose numbers are watched, and of which findings speak
)


class Beside(NamedTuple):
    """Published values of a network at full width, to stand beside those of an
    architecture.

    name: as in pickers, 'ResNet-18, published'; width: ', full width' of a narrower
    architecture.
    """

    name: str
    width: str
    values: Any

    @property
    def called(self) -> str:
        """Its label in figures."""
        return f"published{self.width}"

    @property
    def curve(self) -> dict[str, Any]:
        """What stands behind a curve of the page, by index."""
        return {"called": self.called, "values": self.values.dropna().to_dict()}


Published = Mapping[str, Beside]  # by architecture


@dataclass(frozen=True)
class Evaluated:
    """One experiment that was run: its plan and its tables.

    folder: of the tables, seen from reports/; results, summary: results.csv and
    summary.csv; images: data/images/about.json, empty where there are none; files:
    those of NADs made elsewhere, by architecture; title, says: of a run that is kept,
    which networks it is of, and in a sentence what it says.
    """

    folder: str
    plan: Plan
    results: pd.DataFrame
    summary: pd.DataFrame
    images: Mapping[str, Any]
    files: Mapping[str, str]
    title: str = ""
    says: str = ""

    @property
    def notice(self) -> str | None:
        """The line in every figure that names images other than CIFAR-10."""
        name = self.images.get("name", "CIFAR-10")
        return None if name == "CIFAR-10" else f"images of this run: {name}"

    @functools.cached_property
    def labels(self) -> dict[str, str]:
        """The networks' labels in figures, by architecture in the order of the results."""
        labels = {}
        for name in self.results["architecture"].unique():
            member = self.plan.members[name]
            optimiser = ", AdamW" if member.training.optimiser == "adamw" else ""
            labels[name] = label(member.specification, member.input) + optimiser
        return labels

    def of(self, name: str, **values: Any) -> pd.DataFrame:
        """The results of one architecture, or of them the rows with these values."""
        rows = self.results[self.results["architecture"] == name]
        for column, value in values.items():
            rows = rows[rows[column] == value]
        return rows

    def summary_of(self, name: str) -> pd.DataFrame:
        """The summary of one architecture."""
        return self.summary[self.summary["architecture"] == name]

    def sizes(self, architectures: Iterable[str] | None = None) -> str:
        """Scale, seeds, samples, epochs, precision, NADs' files of these architectures,
        or all."""
        plan = self.plan
        names = list(architectures or self.labels)
        experiment = experiments.find(plan.experiment)
        samples = plan.train_samples
        if experiment.needs_images:  # of which there may be fewer
            samples = min(samples, self.images["train"])
        epochs = {name: plan.members[name].training.epochs for name in names}
        precision = (
            "" if plan.precision == "float32" else f" · trained in {plan.precision}"
        )
        spread = (
            ""
            if self.seeds(names) == "1 seed"
            else " · ± standard deviation over seeds"
        )
        of = {
            n: self.files[n] for n in names if n in self.files and experiment.needs_nads
        }
        each = {
            f: " and ".join(self.labels[n] for n in of if of[n] == f)
            for f in of.values()
        }
        nads = (f" · NADs of {labels} from {file}" for file, labels in each.items())
        return (
            f"scale {plan.scale} · {self.seeds(names)} · {samples:,} training samples"
            f" · {self._counts(epochs, 'epoch')}{precision}{spread}{''.join(nads)}"
        )

    def seeds(self, architectures: Iterable[str] | None = None) -> str:
        """The number of seeds of these architectures, by default of all, as text."""
        plan = self.plan
        names = architectures or self.labels
        counts = {name: len(plan.seeds[: plan.members[name].seeds]) for name in names}
        return self._counts(counts, "seed")

    def science(self, architectures: Iterable[str] | None = None) -> str:
        """ε and σ of D(v) of these architectures, by default of all, as part of a
        caption."""
        sigma = self.plan.settings.sigma
        names = architectures or self.labels
        each = {
            name: sigma[name] if isinstance(sigma, dict) else sigma for name in names
        }
        return f"ε = {self.plan.settings.eps:g}, σ = {self._each(each)}"

    def nads_in(self, nads: Mapping[str, Any], name: str) -> str | None:
        """The name in `nads` of an architecture, or else of its network at full width."""
        either = name, papers_network(self._wide(name))
        return next((each for each in either if each in nads), None)

    def _wide(self, name: str) -> dict[str, Any]:
        """An architecture at full width, with its input if that is not the papers'
        1×32×32."""
        member = self.plan.members[name]
        other = {} if member.input == INPUT else {"input": member.input}
        return without_width(member.specification) | other

    def _counts(self, counts: Mapping[str, int], what: str) -> str:
        text = self._each(counts)
        if len(set(counts.values())) > 1:
            return f"{what}s {text}"
        return f"{text} {what}" if text == "1" else f"{text} {what}s"

    def _each(self, values: Mapping[str, float]) -> str:
        if len(set(values.values())) == 1:
            return f"{next(iter(values.values())):g}"
        return ", ".join(
            f"{value:g} ({self.labels[name]})" for name, value in values.items()
        )

    def beside(self, published: Mapping[str, Any]) -> dict[str, Beside]:
        """The published values of each architecture's network.

        published: by the network's name in `NETWORKS`; those of CIFAR-10 stand beside
        no other images.
        """
        beside = {}
        needs_images = experiments.find(self.plan.experiment).needs_images
        for name in {} if needs_images and self.notice else self.labels:
            wide = self._wide(name)
            if (network := papers_network(wide)) in published:
                width = (
                    ""
                    if wide == self.plan.members[name].specification
                    else ", full width"
                )
                beside[name] = Beside(
                    f"{label(wide)}, published", width, published[network]
                )
        return beside

    def with_other_seeds(self) -> "Evaluated":
        """The record with the results of the folders beside its own whose plan is the
        same but for seeds: of lenet/ those of lenet_seed_1/."""
        folder = Path(self.folder)
        paths = sorted(folder.parent.glob(f"{folder.name}_seed_*/results.csv"))
        results = pd.concat([self.results, *map(pd.read_csv, paths)], ignore_index=True)
        keys = [
            "architecture",
            *experiments.find(self.plan.experiment).coordinates,
            "test_set",
        ]
        plan = dataclasses.replace(
            self.plan, seeds=tuple(sorted(results["seed"].unique()))
        )
        return dataclasses.replace(
            self, plan=plan, results=results, summary=summary(results, keys)
        )


@dataclass(frozen=True)
class Report:
    """All that the report shows.

    plan, nads: the plan of the NADs, None in a run that is kept, of which there are
    tables alone; and the fields of `pipeline.nads.NADs` by architecture.
    """

    plan: NADsPlan | None
    nads: Mapping[str, Mapping[str, np.ndarray]]
    experiments: Mapping[str, Evaluated]

    @property
    def notice(self) -> str | None:
        """The line in every figure that names images other than CIFAR-10."""
        return next((each.notice for each in self.experiments.values()), None)

    @property
    def labels(self) -> dict[str, str]:
        """The labels in figures of the architectures that have NADs."""
        return {
            name: label(request.specification, request.source.input)
            for name, request in self.plan.members.items()
        }

    def shown(self, name: str) -> tuple[Evaluated, str, str]:
        """An experiment, and the architecture that its finding is about, with its
        label: `NETWORK`, or else the first of which a network was fitted, or else the
        first."""
        experiment = self.experiments[name]
        names = experiment.results["architecture"]
        first = [*names[fitted(experiment.results)], *names][0]
        shown = NETWORK if NETWORK in experiment.labels else first
        return experiment, shown, experiment.labels[shown]


def read(names: Iterable[str]) -> Report:
    """The run of the experiments of these names."""
    plan = artifacts.read_plan("nads", NADsPlan)
    images = artifacts.read_about_images()
    nads = {name: artifacts.read_nads(name) for name in plan.members}
    files = {
        name: each.source.file
        for name, each in plan.members.items()
        if each.source.file
    }
    plans = {name: Plan.read(experiments.find(name)) for name in names}
    return Report(
        plan, nads, {n: evaluated(n, each, images, files) for n, each in plans.items()}
    )


def abouts(folder: Path) -> dict[Path, dict[str, Any]]:
    """The contents of run.json by the folder that it describes: {experiment}/ below
    `folder`, and of several runs of one experiment {experiment}/{variant}/.

    Raises InputError where there is none. Tables of a program that is no experiment
    have no plan.
    """
    paths = sorted([*folder.glob("*/run.json"), *folder.glob("*/*/run.json")])
    if not paths:
        raise InputError(
            f"none of the folders in {folder} has a run.json beside its tables"
        )
    return {path.parent: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def read_folder(folder: Path, order: Sequence[str]) -> dict[str, Evaluated]:
    """The experiments in a folder, by the name of the folder of their tables:
    'fourier', or 'fourier/lenet' of several.

    order: names of the experiments; of several runs of one experiment the largest comes
    first.
    """
    images = json.loads((folder / "images.json").read_text(encoding="utf-8"))
    records = {}
    for path, about in abouts(folder).items():
        if "plan" in about:
            experiment = experiments.find(about["plan"]["experiment"])
            planned = pydantic.TypeAdapter(Plan[experiment.Settings, experiment.Grid])
            plan = planned.validate_json(json.dumps(about["plan"]))
            sources = {
                n: s for n, s in about.get("nads", {}).items() if isinstance(s, dict)
            }
            files = {
                name: source["file"]
                for name, source in sources.items()
                if "file" in source
            }
            words = (about.get(key, "") for key in ("title", "says"))
            name = path.relative_to(folder).as_posix()
            record = evaluated(str(path.resolve()), plan, images, files, *words)
            records[name] = record.with_other_seeds()

    def size(name):
        return (order.index(records[name].plan.experiment), -len(records[name].results))

    return {name: records[name] for name in sorted(records, key=size)}


def evaluated(folder: str, plan: Plan, *about: Any) -> Evaluated:
    """One experiment with all else `about` it; raises InputError unless its results are
    of the cells that are planned."""
    experiment = experiments.find(plan.experiment)
    results = artifacts.read_results(folder, "results.csv")
    keys = ["architecture", "seed", *experiment.coordinates]
    tables = results, pd.DataFrame(experiment.cells(plan))
    trained, planned = (
        set(rows[keys].itertuples(index=False, name=None)) for rows in tables
    )
    if trained != planned:
        raise InputError(
            f"{artifacts.REPORTS / folder} is not of the cells that are planned; `dvc repro` makes "
            f"it so, or `python -m pipeline.evaluate {plan.experiment}`"
        )
    return Evaluated(
        folder, plan, results, artifacts.read_results(folder, "summary.csv"), *about
    )


def over_seeds(
    rows: pd.DataFrame, places: Sequence[str], column: str = "accuracy"
) -> pd.DataFrame:
    """Mean and std of a column over seeds, by the columns `places`, and whether all
    were `fitted`.

    rows: of single networks; without train_accuracy, as published ones are, their
    `fitted` is nan.
    """
    done = fitted(rows) if "train_accuracy" in rows else np.nan
    cells = rows.assign(done=done).groupby(places)
    return cells.agg(mean=(column, "mean"), std=(column, "std"), fitted=("done", "min"))


def percents(
    rows: pd.DataFrame, places: Sequence[str], column: str = "accuracy"
) -> pd.DataFrame:
    """`over_seeds` of fractions, with mean and std in per cent."""
    cells = over_seeds(rows, places, column)
    return cells.assign(**100 * cells[["mean", "std"]])


def not_fitted(mark: str) -> str:
    """The part of a caption on points where not every network was fitted; mark: how
    they look."""
    return f"{mark}: not every network was fitted (training accuracy below {100 * FITTED:g} %)"
