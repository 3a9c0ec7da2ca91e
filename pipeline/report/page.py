"""The sections of the report, and its page of Markdown."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from pipeline.measures.fitted import FITTED
from pipeline.report.run import Evaluated

Table = Sequence[Sequence[Any]]  # the rows of a table, its header first
Numbers = tuple[Table, list[str]]  # a table, and the sentences of the findings


@dataclass(frozen=True)
class Picture:
    """A figure: the name of its files, its alternative text, and what one sees in it."""

    name: str
    figure: Figure
    text: str
    sees: str


@dataclass(frozen=True)
class Section:
    """One part of the report.

    title, question: for readers who do not know the papers; findings: sentences with numbers, their
    spread and n; explorer: data of its script in index.html.
    """

    title: str
    question: str
    caption: str
    table: Table
    pictures: Sequence[Picture]
    findings: Sequence[str]
    explorer: Any = None


def of_folder(name: str, section: Section, records: Mapping[str, Evaluated]) -> Section:
    """The section of one of several folders, which may hold a variant of its experiment.

    name: of the folder, such as fourier_logreg; records: of all folders, in order. What a variant's
    name adds to its experiment's ends its title and the names of its figures; it has no explorer,
    and only the first folder of an experiment asks the question. The folder's about.txt, if there
    is one, says in a sentence what else the run has of its own.
    """
    record = records[name]
    experiment, question = record.plan.experiment, section.question
    if name != next(key for key in records if records[key].plan.experiment == experiment):
        question = f"The same of {', '.join(record.labels.values())}: {record.sizes()}."
    if (about := Path(record.folder, "about.txt")).exists():
        question += f" {about.read_text(encoding='utf-8').strip()}"
    section = dataclasses.replace(section, question=question)
    if name == experiment:
        return section
    suffix = name.removeprefix(experiment)
    network = next((network for network in record.labels if suffix.startswith(f"_{network}")), "")
    words = suffix.removeprefix(f"_{network}").replace("_", " ").strip()
    title = f"{section.title} ({', '.join(filter(None, (record.labels.get(network), words)))})"
    pictures = [
        dataclasses.replace(picture, name=picture.name.removesuffix(f"_{network}") + suffix)
        for picture in section.pictures
    ]
    if experiment == "linear_pairs" and (record.results["test_set"] == "all").sum() <= 4:
        pictures = []  # the table has all numbers of so few networks
    return dataclasses.replace(section, title=title, pictures=pictures, explorer=None)


def again(name: str) -> str:
    """The command that makes a section again; name: 'nads' or the name of an experiment."""
    return f"dvc repro {'estimate' if name == 'nads' else f'evaluate@{name}'} render"


HEAD = """\
# Report of this run

Written by the stage `render`; every number comes from the tables beside it. `index.html` shows the
same for looking around, in any browser and without a network."""

# How the numbers of all sections are to be read.
LEGEND = (
    "Behind ± stands the standard deviation over seeds, unless another error is named. Fitted is a "
    f"network whose training accuracy was at least\n{100 * FITTED:g} %, and a place in a figure or "
    "table whose networks all were; what others do says nothing about what a network prefers."
)


def page(sections: Mapping[str, Section], notice: str | None) -> str:
    """The report as Markdown; sections: in order, by 'nads' or the name of an experiment."""
    parts = [HEAD, *([f"**{notice}**"] if notice else []), "## What was found", LEGEND]
    findings = [f"- {text}" for section in sections.values() for text in section.findings]
    parts.append("\n".join(findings))
    for name, section in sections.items():
        header, *rows = section.table
        rows = [header, ["---"] * len(header), *rows]
        parts += [f"## {name}: {section.title}", section.question, section.caption]
        parts.append(f"Made again by `{again(name)}`.")
        parts.append("\n".join(f"| {' | '.join(map(str, row))} |" for row in rows))
        parts += [f"![{one.text}](figures/{one.name}.png)" for one in section.pictures]
    return "\n\n".join(parts) + "\n"
