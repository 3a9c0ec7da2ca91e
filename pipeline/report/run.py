"""The run that the report shows, and the parts of captions that its figures share."""

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
from pipeline.nads import NADs
from pipeline.nads.estimator import NADsPlan
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.report.labels import full_width, label, papers_network
from pipeline.training.shapes import INPUT

NETWORK = "lenet"
"""The architecture that findings are about, if the run has it."""


class PublishedValues(NamedTuple):
    """Published values of a network at full width, for comparison with an architecture.

    Attributes:
        name: Name of the network in pickers, such as 'ResNet-18, published'.
        width: ', full width' if the architecture is narrower, otherwise empty.
        values: The values.
    """

    name: str
    width: str
    values: Any

    @property
    def label(self) -> str:
        """The label in figures."""
        return f"published{self.width}"

    @property
    def curve(self) -> dict[str, Any]:
        """The values by NAD index, as the page draws them behind a curve."""
        return {"called": self.label, "values": self.values.dropna().to_dict()}


Published = Mapping[str, PublishedValues]
"""Published values by architecture."""


@dataclass(frozen=True)
class Record:
    """The plan and the tables of one experiment that was run.

    Attributes:
        folder: Folder of the tables, relative to reports/.
        plan: The plan.
        results: The table results.csv.
        summary: The table summary.csv.
        images: The contents of data/images/about.json; empty without images.
        files: By architecture, the file with its NADs, if they were not estimated.
        title: Networks of a kept run.
        says: What a kept run shows, in one sentence.
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
        """Labels of the networks, by architecture in the order of the results."""
        labels = {}
        for name in self.results["architecture"].unique():
            member = self.plan.members[name]
            labels[name] = label(member.specification, member.input)
            if member.training.optimiser == "adamw":
                labels[name] += ", AdamW"
        return labels

    def select_results(self, architecture: str, **values: Any) -> pd.DataFrame:
        """Select results of one architecture.

        Args:
            architecture: The architecture.
            values: Values that a row must have, by column.
        """
        rows = self.results[self.results["architecture"] == architecture]
        for column, value in values.items():
            rows = rows[rows[column] == value]
        return rows

    def select_summary(self, architecture: str) -> pd.DataFrame:
        """Select the summary of one architecture."""
        return self.summary[self.summary["architecture"] == architecture]

    def describe_sizes(
        self, architectures: Sequence[str] = (), spread: bool = True
    ) -> str:
        """Describe scale, seeds, samples, epochs, precision and imported NADs.

        Args:
            architectures: The architectures of a figure. All of them by default.
            spread: Whether the figure shows standard deviations over seeds.
        """
        plan = self.plan
        names = architectures or list(self.labels)
        experiment = experiments.find(plan.experiment)
        samples = plan.train_samples
        if experiment.needs_images:  # a set of images may have fewer
            samples = min(samples, self.images["train"])
        epochs = {name: plan.members[name].training.epochs for name in names}
        seeds = self.describe_seeds(names)
        parts = [f"scale {plan.scale}", seeds, f"{samples:,} training samples"]
        parts.append(self._describe_counts(epochs, "epoch"))
        if plan.precision != "float32":
            parts.append(f"trained in {plan.precision}")
        if spread and seeds != "1 seed":
            parts.append("± standard deviation over seeds")
        if experiment.needs_nads:
            parts.extend(self._describe_files(names))
        return " · ".join(parts)

    def describe_seeds(self, architectures: Sequence[str] = ()) -> str:
        """Describe the number of seeds, of all architectures by default."""
        counts = {}
        for name in architectures or self.labels:
            counts[name] = len(self.plan.seeds[: self.plan.members[name].seeds])
        return self._describe_counts(counts, "seed")

    def describe_problem(self, architectures: Sequence[str] = ()) -> str:
        """Describe ε and σ of D(v), of all architectures by default."""
        settings = self.plan.settings
        sigmas = {}
        for name in architectures or self.labels:
            sigmas[name] = self.sigma(name)
        return f"ε = {settings.eps:g}, σ = {self._describe_values(sigmas)}"

    def sigma(self, architecture: str) -> float:
        """The noise σ of D(v) for an architecture."""
        sigma = self.plan.settings.sigma
        return sigma[architecture] if isinstance(sigma, dict) else sigma

    def _describe_files(self, architectures: Iterable[str]) -> list[str]:
        labels_by_file: dict[str, list[str]] = {}
        for name in architectures:
            if name in self.files:
                labels = labels_by_file.setdefault(self.files[name], [])
                labels.append(self.labels[name])
        return [
            f"NADs of {' and '.join(labels)} from {file}"
            for file, labels in labels_by_file.items()
        ]

    def _describe_counts(self, counts: Mapping[str, int], noun: str) -> str:
        text = self._describe_values(counts)
        if len(set(counts.values())) > 1:
            return f"{noun}s {text}"
        return f"{text} {noun}" if text == "1" else f"{text} {noun}s"

    def _describe_values(self, values: Mapping[str, float]) -> str:
        """The common value of all architectures, or the value of each of them."""
        parts = {f"{value:g}" for value in values.values()}
        if len(parts) > 1:
            parts = [f"{value:g} ({self.labels[k]})" for k, value in values.items()]
        return ", ".join(parts)

    def find_nads(self, nads: Mapping[str, Any], architecture: str) -> str | None:
        """Find the NADs of an architecture or of its network at full width.

        Args:
            nads: NADs by name of an architecture or network.
            architecture: The architecture.

        Returns:
            The name in `nads`; None if it has neither.
        """
        network = papers_network(self._full_width(architecture))
        for name in (architecture, network):
            if name in nads:
                return name
        return None

    def _full_width(self, architecture: str) -> dict[str, Any]:
        """The network at full width, with its input if the papers have another one."""
        member = self.plan.members[architecture]
        specification = full_width(member.specification)
        if member.input != INPUT:
            specification["input"] = member.input
        return specification

    def find_published(self, tables: Mapping[str, Any]) -> dict[str, PublishedValues]:
        """Find the published values of each architecture's network.

        Args:
            tables: Values by the network's name in `NETWORKS`.

        Returns:
            Values by architecture; none for images other than the papers' CIFAR-10.
        """
        if experiments.find(self.plan.experiment).needs_images and self.notice:
            return {}
        published = {}
        for architecture in self.labels:
            wide = self._full_width(architecture)
            network = papers_network(wide)
            if network in tables:
                width = ", full width"
                if wide == self.plan.members[architecture].specification:
                    width = ""
                name = f"{label(wide)}, published"
                published[architecture] = PublishedValues(name, width, tables[network])
        return published


@dataclass(frozen=True)
class Report:
    """All that the report shows.

    Attributes:
        plan: The plan of the NADs; None for kept runs.
        nads: The NADs by architecture.
        experiments: The record of each experiment, by its name.
    """

    plan: NADsPlan | None
    nads: Mapping[str, NADs]
    experiments: Mapping[str, Record]

    @property
    def notice(self) -> str | None:
        """The line in every figure that names images other than CIFAR-10."""
        return next(iter(self.experiments.values())).notice

    @property
    def labels(self) -> dict[str, str]:
        """The labels in figures of the architectures that have NADs."""
        return {
            name: label(request.specification, request.source.input)
            for name, request in self.plan.members.items()
        }

    def choose_network(self, experiment: str) -> tuple[Record, str, str]:
        """Choose the architecture that the finding of an experiment is about.

        Args:
            experiment: Name of the experiment.

        Returns:
            The experiment's record, the architecture and its label. The architecture
            is `NETWORK`, or else the first with a fitted network, or else the first.
        """
        record = self.experiments[experiment]
        names = record.results["architecture"]
        candidates = [*names[fitted(record.results)], *names]
        name = NETWORK if NETWORK in record.labels else candidates[0]
        return record, name, record.labels[name]


def read_run(names: Iterable[str]) -> Report:
    """Read the run of the experiments of these names from data/ and reports/."""
    nads_plan = artifacts.read_plan("nads", NADsPlan)
    images = artifacts.read_about_images()
    nads = {}
    files = {}
    for name, request in nads_plan.members.items():
        nads[name] = NADs.load(artifacts.find_nads(name))
        if request.source.file:
            files[name] = request.source.file
    records = {}
    for name in names:
        plan = Plan.read(experiments.find(name))
        folder = artifacts.REPORTS / name
        evaluated = artifacts.read_results(name, "run.json")["plan"]
        if evaluated != json.loads(json.dumps(dataclasses.asdict(plan))):
            raise InputError(
                f"{folder} is not of the present plan; run `dvc repro`, or the stages "
                f"from `python -m pipeline.generate {name}` on",
                "stale",
                path=str(folder),
            )
        records[name] = read_record(name, plan, images, files)
    return Report(nads_plan, nads, records)


def read_descriptions(folder: Path) -> dict[Path, dict[str, Any]]:
    """Read all run.json in a folder.

    Args:
        folder: A folder with {experiment}/, or {experiment}/{variant}/ where an
            experiment has several runs.

    Returns:
        The contents by the folder that they describe. A run of a program that is no
        experiment has no `plan`.

    Raises:
        InputError: If there is none.
    """
    paths = sorted([*folder.glob("*/run.json"), *folder.glob("*/*/run.json")])
    if not paths:
        raise InputError(
            f"no folder in {folder} has a run.json beside its tables; name a folder "
            "of runs, such as reports/",
            "missing-file",
            path=str(folder),
        )
    return {path.parent: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def read_folder(folder: Path, order: Sequence[str]) -> dict[str, Record]:
    """Read the experiments in a folder of kept runs.

    Args:
        folder: The folder.
        order: Names of the experiments in their order.

    Returns:
        Records by the name of their folder, such as 'fourier/lenet'. The largest run of
        an experiment comes first.
    """
    images = json.loads((folder / "images.json").read_text(encoding="utf-8"))
    records = {}
    for path, description in read_descriptions(folder).items():
        if "plan" in description:
            name = path.relative_to(folder).as_posix()
            records[name] = _read_kept_record(path, description, images)

    def sort_key(name: str) -> tuple[int, int]:
        record = records[name]
        return order.index(record.plan.experiment), -len(record.results)

    return {name: records[name] for name in sorted(records, key=sort_key)}


def _read_kept_record(
    folder: Path, description: Mapping[str, Any], images: Mapping[str, Any]
) -> Record:
    experiment = experiments.find(description["plan"]["experiment"])
    adapter = pydantic.TypeAdapter(Plan[experiment.Settings, experiment.Grid])
    plan = adapter.validate_json(json.dumps(description["plan"]))
    files = {}
    for name, source in description.get("nads", {}).items():
        if isinstance(source, dict) and "file" in source:
            files[name] = source["file"]
    record = dataclasses.replace(
        read_record(str(folder.resolve()), plan, images, files),
        title=description.get("title", ""),
        says=description.get("says", ""),
    )
    further = description.get("further_seeds", [])
    return pool_seeds(record, [folder.parent / name for name in further])


def pool_seeds(record: Record, folders: Iterable[Path]) -> Record:
    """Add the results of runs whose plans differ from that of a record only in seeds.

    Args:
        record: The record.
        folders: Folders of the other runs.
    """
    tables = [pd.read_csv(folder / "results.csv") for folder in folders]
    results = pd.concat([record.results, *tables], ignore_index=True)
    coordinates = experiments.find(record.plan.experiment).coordinates
    columns = ["architecture", *coordinates, "test_set"]
    seeds = tuple(sorted(results["seed"].unique()))
    return dataclasses.replace(
        record,
        plan=dataclasses.replace(record.plan, seeds=seeds),
        results=results,
        summary=summary(results, columns),
    )


def read_record(
    folder: str, plan: Plan, images: Mapping[str, Any], files: Mapping[str, str]
) -> Record:
    """Read the tables of one experiment.

    Args:
        folder: Folder of the tables, relative to reports/.
        plan: The plan.
        images: The contents of data/images/about.json.
        files: By architecture, the file with its NADs, if they were not estimated.
    """
    results = artifacts.read_results(folder, "results.csv")
    table = artifacts.read_results(folder, "summary.csv")
    return Record(folder, plan, results, table, images, files)


def average_over_seeds(
    rows: pd.DataFrame, columns: Sequence[str], value: str = "accuracy"
) -> pd.DataFrame:
    """Average a column over seeds.

    Args:
        rows: One row per network.
        columns: The columns that tell cells apart.
        value: The column to average.

    Returns:
        The columns mean, std and fitted (whether all networks are fitted; nan for rows
        without train_accuracy, as published ones), indexed by `columns`.
    """
    done = fitted(rows) if "train_accuracy" in rows else np.nan
    cells = rows.assign(done=done).groupby(columns)
    return cells.agg(mean=(value, "mean"), std=(value, "std"), fitted=("done", "min"))


def average_percent(
    rows: pd.DataFrame, columns: Sequence[str], value: str = "accuracy"
) -> pd.DataFrame:
    """`average_over_seeds` of fractions, with mean and std in per cent."""
    cells = average_over_seeds(rows, columns, value)
    cells[["mean", "std"]] *= 100
    return cells


def explain_unfitted(mark: str) -> str:
    """Explain the mark of points where not every network was fitted."""
    limit = f"{100 * FITTED:g} %"
    return f"{mark}: not every network was fitted (training accuracy below {limit})"
