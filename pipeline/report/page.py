"""The run as a page of Markdown: what was found in sentences, then sections of a caption, a table and figures.

Every number of the page is computed from the run's tables; the published ones are quoted from the papers.
"""

from collections.abc import Iterable, Sequence
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


TEMPLATE = """\
{% macro line(cells) %}| {{ cells | join(" | ") }} |{% endmacro %}
# {{ title }}

{% for caption in captions %}
{{ caption }}
{% endfor %}
{% if sections | selectattr("findings") | list %}

## What was found

Behind ± stands the standard deviation over seeds, unless another error is named. Fitted is a network whose training accuracy was at least
{{ fitted }} % with every seed; what others do says nothing about what a network prefers.

{% for section in sections %}
{% for finding in section.findings %}
- {{ finding }}
{% endfor %}
{% endfor %}
{% endif %}
{% for section in sections %}

## {{ section.heading }}

{{ section.caption }}

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


def page(title: str, captions: Iterable[str], sections: Iterable[Section]) -> str:
    """The page: a title, caption lines, and the sections."""
    markdown = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined)
    return markdown.from_string(TEMPLATE).render(
        title=title, captions=captions, sections=sections, fitted=f"{100 * FITTED:g}"
    )


def percent(mean: float, deviation: float) -> str:
    """An accuracy in per cent with its standard deviation over seeds, where there are several (else it is nan)."""
    return f"{100 * mean:.1f}" + ("" if deviation != deviation else f" ± {100 * deviation:.1f}")
