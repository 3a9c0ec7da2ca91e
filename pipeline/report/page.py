"""The sections of the report, and its page of Markdown."""

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from pipeline.measures.fitted import FITTED
from pipeline.report.run import Evaluated

Table = Sequence[Sequence[Any]]  # the rows of a table, its header first


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

    title, question: for readers who do not know the papers; finding: a sentence about one network,
    with at most two numbers, their spread and n; explorer: data of its script in index.html.
    """

    title: str
    question: str
    caption: str
    table: Table
    pictures: Sequence[Picture]
    finding: str
    explorer: Any = None

    @classmethod
    def of(
        cls, name: str, caption: str, table: Table, pictures: Sequence[Picture], *others: Any
    ) -> "Section":
        """The section whose words.toml has the title, the question, and under the keys that are
        the pictures' `sees` what one sees in them; others: its finding, and an explorer."""
        text = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
        words = {key: " ".join(value.split()) for key, value in text[name].items()}
        told = [dataclasses.replace(picture, sees=words[picture.sees]) for picture in pictures]
        return cls(words["title"], words["question"], caption, table, told, *others)


def table_of(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The table of rows that are values by the names of their columns; '–' where one has none."""
    header = list(dict.fromkeys(column for row in rows for column in row))
    return [header, *([row.get(column, "–") for column in header] for row in rows)]


def of_folder(name: str, section: Section, records: Mapping[str, Evaluated]) -> Section:
    """The section of one of several runs in a folder, whose figures stand beside its tables.

    name: of its folder, such as fourier/logreg; records: of all folders, in order. Only the first
    run of an experiment asks the question and has the explorer.
    """
    record = records[name]
    experiment = record.plan.experiment
    first = name == next(key for key in records if records[key].plan.experiment == experiment)
    question = section.question
    if not first:
        question = f"The same of {', '.join(record.labels.values())}: {record.sizes()}."
    pictures = [
        dataclasses.replace(picture, name=f"{name}/{picture.name}") for picture in section.pictures
    ]
    if experiment == "linear_pairs" and (record.results["test_set"] == "all").sum() <= 4:
        pictures = []  # the table has all numbers of so few networks
    return dataclasses.replace(
        section,
        title=f"{section.title} ({record.title})" if record.title else section.title,
        question=f"{question} {record.says}".strip(),
        pictures=pictures,
        explorer=section.explorer if first else None,
    )


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
    parts.append("\n".join(f"- {section.finding}" for section in sections.values()))
    for name, section in sections.items():
        header, *rows = section.table
        rows = [header, ["---"] * len(header), *rows]
        parts += [f"## {name}: {section.title}", section.question, section.caption]
        parts.append(f"Made again by `{again(name)}`.")
        parts.append("\n".join(f"| {' | '.join(map(str, row))} |" for row in rows))
        parts += [f"![{one.text}](figures/{one.name}.png)" for one in section.pictures]
    return "\n\n".join(parts) + "\n"
