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
    with at most two numbers, their spread and n; explorer: what can be chosen in the live figure of
    index.html, each with its `name`; record: the run of an experiment that the section is of.
    """

    title: str
    question: str
    caption: str
    table: Table
    pictures: Sequence[Picture]
    finding: str
    explorer: Sequence[Mapping[str, Any]] = ()
    record: Evaluated | None = None

    @classmethod
    def of(
        cls,
        name: str,
        caption: str,
        table: Table,
        pictures: Sequence[Picture],
        finding: str,
        explorer: Sequence[Mapping[str, Any]] = (),
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


def merged(sections: Sequence[Section]) -> Table:
    """One table of the tables of several runs of an experiment, which name their run."""
    several = len(sections) > 1
    return table_of(
        [
            ({"run": section.record.title} if several else {}) | dict(zip(section.table[0], row))
            for section in sections
            for row in section.table[1:]
        ]
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
