"""The sections of the report, and its page of Markdown."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from matplotlib.figure import Figure

from pipeline.measures.fitted import FITTED
from pipeline.report.run import Record

HERE = Path(__file__).parent

WORDS = tomllib.loads((HERE / "words.toml").read_text(encoding="utf-8"))

# The rows of a table, or what a live figure offers: values by their names.
Rows = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class Picture:
    """A figure and the name of its file."""

    name: str
    figure: Figure

    @property
    def sees(self) -> str:
        """What one sees in it."""
        name = self.name.split("/")[-1]
        return next(
            text for key, text in WORDS["figures"].items() if name.startswith(key)
        )

    @property
    def text(self) -> str:
        """Its alternative text, which is its title."""
        return " ".join(self.figure.get_suptitle().split())


@dataclass(frozen=True)
class Finding:
    """What was found of one network, for all readers.

    network: its architecture; text: a sentence with at most two numbers; basis: their
    spread and n.
    """

    network: str
    text: str
    basis: str

    def __str__(self) -> str:
        return f"{self.text} ({self.basis})."


@dataclass(frozen=True)
class Section:
    """One part of the report.

    record: the run of an experiment that the section is of, or None of NADs; explorer:
    what can be chosen in the live figure of index.html, each with its `name`.
    """

    record: Record | None
    caption: str
    rows: Sequence[Mapping[str, Any]]
    pictures: Sequence[Picture]
    finding: Finding | None
    explorer: Sequence[Mapping[str, Any]] = ()

    @property
    def table(self) -> Sequence[Sequence[Any]]:
        """The table of its rows, its header first."""
        return table_of(self.rows)


def table_of(rows: Sequence[Mapping[str, Any]]) -> Sequence[Sequence[Any]]:
    """A table, its header first, with '–' where a row has no value."""
    header = list(dict.fromkeys(column for row in rows for column in row))
    return [header, *([row.get(column, "–") for column in header] for row in rows)]


def merged(sections: Sequence[Section]) -> Sequence[Sequence[Any]]:
    """One table of the tables of several runs of an experiment, which name their run."""
    if len(sections) == 1:
        return sections[0].table
    return table_of(
        [{"run": one.record.title} | row for one in sections for row in one.rows]
    )


def again(name: str) -> str:
    """The command that makes a section again; name: 'nads' or the name of an
    experiment."""
    return f"dvc repro {'estimate' if name == 'nads' else f'evaluate@{name}'} render"


# How the numbers of all sections are to be read.
LEGEND = (
    "Behind ± stands the standard deviation over seeds, unless another error is named. Fitted is a "
    f"network whose training accuracy was at least\n{100 * FITTED:g} %, and a place in a figure or "
    "table whose networks all were; what others do says nothing about what a network prefers."
)


def page(sections: Mapping[str, Section], notice: str | None) -> str:
    """The report as Markdown; sections: in order, by 'nads' or the name of an
    experiment."""
    options = {"trim_blocks": True, "keep_trailing_newline": True}
    text = (HERE / "report.md.j2").read_text(encoding="utf-8")
    template = jinja2.Template(text, undefined=jinja2.StrictUndefined, **options)
    names = {"titles": WORDS["titles"], "legend": LEGEND, "again": again}
    return template.render(sections=sections, notice=notice, **names)
