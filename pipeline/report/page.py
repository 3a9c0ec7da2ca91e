"""The sections of the report, and its page of Markdown."""

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from matplotlib.figure import Figure

from pipeline.measures.fitted import FITTED
from pipeline.report.run import Evaluated

HERE = Path(__file__).parent

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
        cls,
        name: str,
        caption: str,
        table: Table,
        pictures: Sequence[Picture],
        finding: str,
        explorer: Any = None,
    ) -> "Section":
        """The section whose title and question words.toml has, and what one sees in its pictures,
        under the keys that stand in their `sees`."""
        text = tomllib.loads((HERE / "words.toml").read_text(encoding="utf-8"))[name]
        words = {key: " ".join(value.split()) for key, value in text.items()}
        told = [dataclasses.replace(picture, sees=words[picture.sees]) for picture in pictures]
        return cls(words["title"], words["question"], caption, table, told, finding, explorer)


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


# How the numbers of all sections are to be read.
LEGEND = (
    "Behind ± stands the standard deviation over seeds, unless another error is named. Fitted is a "
    f"network whose training accuracy was at least\n{100 * FITTED:g} %, and a place in a figure or "
    "table whose networks all were; what others do says nothing about what a network prefers."
)


def page(sections: Mapping[str, Section], notice: str | None) -> str:
    """The report as Markdown; sections: in order, by 'nads' or the name of an experiment."""
    options = {"trim_blocks": True, "keep_trailing_newline": True}
    text = (HERE / "report.md.j2").read_text(encoding="utf-8")
    template = jinja2.Template(text, undefined=jinja2.StrictUndefined, **options)
    return template.render(sections=sections, notice=notice, legend=LEGEND, again=again)
