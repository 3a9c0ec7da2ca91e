"""The sections of the report, and its page of Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jinja2
from matplotlib.figure import Figure

from pipeline.measures.fitted import FITTED


@dataclass(frozen=True)
class Table:
    """A table: its header, and rows of as many cells."""

    header: Sequence[Any]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Picture:
    """A figure: the stem of its file's name, its alternative text, and what one sees in it."""

    name: str
    figure: Figure
    text: str
    sees: str


@dataclass(frozen=True)
class Section:
    """One part of the report.

    findings: sentences that each hold their number, its spread and n; title, question: its head in
    index.html, for readers who do not know the papers; explorer: the data of a script there.
    """

    heading: str
    caption: str
    table: Table
    pictures: Sequence[Picture]
    findings: Sequence[str]
    title: str
    question: str
    explorer: Any = None


def again(name: str) -> str:
    """The command that makes one section again; name: 'nads' or that of an experiment."""
    return f"dvc repro {'estimate' if name == 'nads' else f'evaluate@{name}'} render"


# How the numbers of all sections are to be read.
LEGEND = (
    "Behind ± stands the standard deviation over seeds, unless another error is named. Fitted is a "
    f"network whose training accuracy was at least\n{100 * FITTED:g} % with every seed; "
    "what others do says nothing about what a network prefers."
)

TEMPLATE = """\
{% macro line(cells) -%}
| {{ cells | join(" | ") }} |
{%- endmacro %}
# Report of this run

Written by the stage `render`; every number comes from the tables beside it. `index.html` shows the
same for looking around, in any browser and without a network.
{% if notice %}

**{{ notice }}**
{% endif %}

## What was found

{{ legend }}

{% for section in sections.values() %}
{% for finding in section.findings %}
- {{ finding }}
{% endfor %}
{% endfor %}
{% for name, section in sections.items() %}

## {{ section.heading }}

{{ section.caption }}

Made again by `{{ again(name) }}`.

{{ line(section.table.header) }}
{{ line(["---"] * section.table.header | length) }}
{% for row in section.table.rows %}
{{ line(row) }}
{% endfor %}
{% for picture in section.pictures %}

![{{ picture.text }}](figures/{{ picture.name }}.png)
{% endfor %}
{% endfor %}
"""


def page(sections: Mapping[str, Section], notice: str | None) -> str:
    """The report as Markdown; sections: in order, by 'nads' or the name of an experiment."""
    template = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined)
    return template.from_string(TEMPLATE).render(
        sections=sections, notice=notice, again=again, legend=LEGEND
    )
