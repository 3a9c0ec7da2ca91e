"""The sections of the report, and its page of Markdown."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from matplotlib.figure import Figure

from pipeline.measures.fitted import FITTED
from pipeline.report import style
from pipeline.report.run import Record

HERE = Path(__file__).parent

WORDS = tomllib.loads((HERE / "words.toml").read_text(encoding="utf-8"))

TITLES: Mapping[str, str] = WORDS["titles"]
"""Titles of the sections in the report's order, by 'nads' or the name of an experiment.
"""

Rows = Iterable[Mapping[str, Any]]
"""The rows of a table, or what a live figure offers: values by their names."""


@dataclass(frozen=True)
class Picture:
    """A figure and the name of its file."""

    name: str
    figure: Figure

    @property
    def description(self) -> str:
        """What the figure shows."""
        name = self.name.split("/")[-1]
        descriptions = WORDS["figures"].items()
        return next(text for key, text in descriptions if name.startswith(key))

    @property
    def alt_text(self) -> str:
        """Its alternative text, which is its title."""
        return " ".join(self.figure.get_suptitle().split())


@dataclass(frozen=True)
class Finding:
    """What was found about one network, for all readers.

    Attributes:
        network: Its architecture.
        text: A sentence with at most two numbers.
        basis: The spread of these numbers, and n.
    """

    network: str
    text: str
    basis: str

    def __str__(self) -> str:
        return f"{self.text} ({self.basis})."

    @property
    def title(self) -> str:
        """The title of a figure, in two lines."""
        return f"{self.text}\n({self.basis})"


@dataclass(frozen=True)
class Section:
    """One part of the report.

    Attributes:
        record: The run of the section's experiment; None for NADs.
        caption: The caption of all figures.
        rows: Rows of the table, whose columns may differ.
        pictures: The figures.
        finding: What was found, if anything.
        explorer: What can be chosen in the live figure of index.html, each with its
            `name`.
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
        return make_table(self.rows)

    def save_figures(self, folder: Path) -> None:
        """Save the figures as PNGs in a folder."""
        for picture in self.pictures:
            style.save(picture.figure, folder, picture.name)


def make_table(rows: Sequence[Mapping[str, Any]]) -> Sequence[Sequence[Any]]:
    """Return a table, its header first, with '–' where a row has no value."""
    header = list(dict.fromkeys(column for row in rows for column in row))
    table = [header]
    for row in rows:
        table.append([row.get(column, "–") for column in header])
    return table


def merge_tables(sections: Sequence[Section]) -> Sequence[Sequence[Any]]:
    """Return one table of several runs of an experiment, whose rows name their run."""
    if len(sections) == 1:
        return sections[0].table
    rows = []
    for section in sections:
        for row in section.rows:
            rows.append({"run": section.record.title, **row})
    return make_table(rows)


def rerun_command(name: str) -> str:
    """Return the command that makes a section again.

    Args:
        name: 'nads' or the name of an experiment.
    """
    stage = "estimate" if name == "nads" else f"evaluate@{name}"
    return f"dvc repro {stage} render"


# How the numbers of all sections are to be read.
LEGEND = (
    "± is the standard deviation over seeds unless noted. A network is *fitted* if its "
    f"training accuracy is at least {100 * FITTED:g} %;\n"
    "a point in a figure or table is fitted if all its networks are. Points that are "
    "not fitted do not show what a network prefers."
)


def render_markdown(
    sections: Mapping[str, Section], scale: str, notice: str | None
) -> str:
    """Return the report as Markdown.

    Args:
        sections: Sections in order, by 'nads' or the name of an experiment.
        scale: The scale of the run.
        notice: The line that names images other than CIFAR-10.
    """
    template = jinja2.Template(
        (HERE / "report.md.j2").read_text(encoding="utf-8"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return template.render(
        sections=sections,
        notice=notice,
        scope=WORDS["scopes"].get(scale, f"Scale {scale}."),
        titles=TITLES,
        legend=LEGEND,
        rerun_command=rerun_command,
    )
