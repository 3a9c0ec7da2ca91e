"""The report of a run, and its page of Markdown: what was found in sentences, then sections of a caption, a table and figures.

Every number of the page is computed from the run's tables; the published ones are quoted from the papers.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jinja2
from matplotlib.figure import Figure

from pipeline.measures.fitted import FITTED


@dataclass(frozen=True)
class Table:
    """A table of the page: its header, and rows of as many cells."""

    header: Sequence[Any]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Picture:
    """A figure of the page: the name of its file without its ending, the figure, and the text that stands in for it."""

    name: str
    figure: Figure
    text: str


@dataclass(frozen=True)
class Section:
    """One part of the page: its heading, how it was run, its numbers, its figures.

    findings: what it found, in sentences that each hold their number, its spread and n; the page opens with those of all parts.
    """

    heading: str
    caption: str
    table: Table
    pictures: Sequence[Picture]
    findings: Sequence[str] = ()


@dataclass(frozen=True)
class Report:
    """What report.md and index.html show of a run.

    captions: lines under the title; origin: a sentence on the code that made it; sections: by what was run, 'nads' or the name of
    an experiment, in the order of the pages.
    """

    title: str
    captions: Sequence[str]
    origin: str
    sections: Mapping[str, Section]


def again(name: str) -> str:
    """The command that makes one section again; name: 'nads' or that of an experiment."""
    return f"dvc repro {'estimate' if name == 'nads' else f'evaluate@{name}'} render"


LEGEND = (
    "Behind ± stands the standard deviation over seeds, unless another error is named. Fitted is a network whose training accuracy was "
    f"at least\n{100 * FITTED:g} % with every seed; what others do says nothing about what a network prefers."
)
"""How the numbers of all sections are to be read."""

MARKUP = re.compile(
    r"""[`*$\[\]]                              # code, emphasis, mathematics, links
    |\\(?=[!-/:-@\[-`{-~])                    # what is escaped already
    |(?<![^\W_])_|_(?![^\W_])                 # emphasis: an underscore inside a word is none
    """,
    re.VERBOSE,
)
"""What Markdown would read as markup in a text, as names of classes, images and networks may be."""

CODE = re.compile(r"(`[a-z_]+`)")
"""A word as code, which sentences of the report hold."""

HTML = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w+;)")
"""What Markdown would take for HTML."""


def literal(text: Any) -> str:
    """A text as Markdown that shows it as it is, on one line."""
    parts = CODE.split(" ".join(str(text).split()))
    parts[::2] = [MARKUP.sub(lambda found: f"\\{found[0]}", part) for part in parts[::2]]
    text = "".join(parts)
    return HTML.sub(lambda found: {"<": "&lt;", "&": "&amp;"}[found[0]], text)


def in_table(cell: Any) -> str:
    """`literal` of a text that stands in a cell of a table."""
    return literal(cell).replace("|", "\\|")


TEMPLATE = """\
{% macro line(cells) %}| {{ cells | map("in_table") | join(" | ") }} |{% endmacro %}
# {{ report.title }}

{% for caption in report.captions %}
{{ caption }}
{% endfor %}
{% if report.sections.values() | selectattr("findings") | list %}

## What was found

{{ legend }}

{% for section in report.sections.values() %}
{% for finding in section.findings %}
- {{ finding | literal }}
{% endfor %}
{% endfor %}
{% endif %}

## Where it comes from

{{ report.origin }} `index.html` beside this page shows the same for looking around, in any browser and without a network.
{% for name, section in report.sections.items() %}

## {{ section.heading | literal }}

{{ section.caption | literal }}

Made again by `{{ again(name) }}`.

{{ line(section.table.header) }}
{{ line(["---"] * section.table.header | length) }}
{% for row in section.table.rows %}
{{ line(row) }}
{% endfor %}
{% for picture in section.pictures %}

![{{ picture.text | literal }}](figures/{{ picture.name }}.png)
{% endfor %}
{% endfor %}
"""


def page(report: Report) -> str:
    """The report as Markdown."""
    markdown = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined)
    markdown.filters |= {"literal": literal, "in_table": in_table}
    return markdown.from_string(TEMPLATE).render(report=report, again=again, legend=LEGEND)


def percent(mean: float, deviation: float) -> str:
    """An accuracy in per cent with its standard deviation over seeds, where there are several (else it is nan)."""
    return f"{100 * mean:.1f}" + ("" if deviation != deviation else f" ± {100 * deviation:.1f}")
