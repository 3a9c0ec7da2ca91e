"""The page as one HTML file: figures and data are inside it, and it asks no other file and no network for anything."""

import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from pipeline import experiments
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.labels import label
from pipeline.report.page import LEGEND, Report, Section, Table, again
from pipeline.report.site import explorers, headlines, samples
from pipeline.report.site.embedded import Embedded, figure, script_json
from pipeline.report.site.provenance import digest
from pipeline.report.site.words import WORDS, Words, seen

HERE = Path(__file__).parent

SCRIPTS = ("basis", "nads", "samples", "fourier", "pairs", "compare", "start")
"""The page's scripts, in the order in which they are one: the first holds what the others share."""


@dataclass(frozen=True)
class Drawn:
    """A figure of the page: the picture, and the text that stands in for it."""

    picture: Embedded
    text: str


@dataclass(frozen=True)
class Group:
    """Figures in which one sees the same of different networks: the first is shown, the others are folded away."""

    sees: str
    first: Drawn
    others: list[Drawn]


@dataclass(frozen=True)
class Chapter:
    """One part of the page.

    number: its place; finding: the sentence it opens with; command: what makes it again; table, comparison: what is folded away,
    the latter beside other runs; runs: how each network was trained, None where nothing was; sources: the tables that its
    numbers come from, with their digests.
    """

    name: str
    number: int
    words: Words
    section: Section
    finding: str
    groups: list[Group]
    command: str
    comparison: Table | None
    settings: Mapping[str, Any]
    runs: Table | None
    sources: Mapping[str, str]

    @property
    def further(self) -> list[str]:
        """The section's findings besides the one that the part opens with."""
        return [text for text in self.section.findings if text != self.finding]


def with_code(text: str) -> Markup:
    """Text in which what stands between `backquotes` is code; all of it is escaped."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text))))


def settings_of(name: str) -> dict[str, Any]:
    """An experiment's settings as they were planned, by name; of those per network, 'sigma (LeNet)'."""
    plan, found = artifacts.planned(name), {}
    for key, value in plan["settings"].items():
        if isinstance(value, dict):
            members = {member: value[member] for member in plan["members"] if member in value}
            found |= {
                f"{key} ({label(plan['members'][member]['specification'])})": some for member, some in members.items()
            }
        else:
            found[key] = value
    return {key: ", ".join(map(str, value)) if isinstance(value, list) else value for key, value in found.items()}


CALLED = {"lr": "learning rate"}
"""What the page calls a setting of training whose name is short."""


def runs_of(name: str) -> Table:
    """How each network of an experiment was trained: what was planned, all numbers as they are."""
    plan = artifacts.planned(name)
    members = plan["members"].values()
    columns = list(dict.fromkeys(key for member in members for key in member["training"]))
    samples_of = [f"{plan[key]:,}" for key in ("train_samples", "test_samples")]
    rows = []
    for member in members:
        values = ["–" if (value := member["training"].get(column)) is None else value for column in columns]
        rows.append([label(member["specification"]), len(plan["seeds"][: member["seeds"]]), *samples_of, *values])
    header = ["network", "seeds", "training samples", "test samples"]
    return Table([*header, *(CALLED.get(column, column.replace("_", " ")) for column in columns)], rows)


def groups_of(section: Section, words: Words, folder: Path) -> list[Group]:
    """A section's figures by what one sees in them, in the order in which each is first seen."""
    found: dict[str, list[Drawn]] = {}
    for picture in section.pictures:
        sees = seen(words, picture.name)
        # Figures of which nothing is said are alike in nothing.
        found.setdefault(sees or picture.name, []).append(Drawn(figure(folder / f"{picture.name}.png"), picture.text))
    said = set(words.sees.values())
    return [Group(sees if sees in said else "", first, others) for sees, (first, *others) in found.items()]


def chapter(number: int, name: str, section: Section, comparison: Table | None, folder: Path) -> Chapter:
    """One part of the page; folder: where its figures were saved."""
    words = WORDS.get(name, Words(section.heading, section.caption))
    trained = name in experiments.names()
    tables = sorted((artifacts.REPORTS / name).glob("*.csv")) if trained else []
    if name == "nads":
        tables = [path for path in [artifacts.REPORTS / "nads.json"] if path.exists()]
    finding = headlines.headline(name, section)
    return Chapter(
        name,
        number,
        words,
        section,
        finding,
        groups_of(section, words, folder),
        again(name) if trained or name == "nads" else "dvc repro render",
        comparison,
        settings_of(name) if trained else {},
        runs_of(name) if trained else None,
        {path.as_posix(): digest(path) for path in tables},
    )


def scales(names: Iterable[str]) -> str:
    """The scale of what was run, or all of them where parts were run at different ones."""
    return ", ".join(dict.fromkeys(artifacts.planned(name)["scale"] for name in names))


def introduction(notice: str | None) -> Chapter:
    """The part on D(v): its figure explains and is no result, so it stands in this page alone."""
    section = samples.section(notice)
    with tempfile.TemporaryDirectory() as folder:
        for picture in section.pictures:
            style.save(picture.figure, Path(folder), picture.name)
        return chapter(1, "samples", section, None, Path(folder))


def filled(template: Path, **context: Any) -> str:
    """The page that a template makes of what it is given; the page's style, scripts and parts are there for it."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([template.parent, HERE]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["code"] = with_code
    return environment.get_template(template.name).render(
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup("\n".join((HERE / "script" / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)),
        **context,
    )


def document(
    report: Report, notice: str | None, comparisons: Mapping[str, Table], figures: Path = artifacts.FIGURES
) -> str:
    """The page of a report.

    notice: what is to be said of the images, None for CIFAR-10; comparisons: of its sections, what `compare.tables` gives; figures:
    the folder where the report's were saved.
    """
    chapters = [introduction(notice)] if "nads" in report.sections else []
    for number, (name, section) in enumerate(report.sections.items(), len(chapters) + 1):
        chapters.append(chapter(number, name, section, comparisons.get(name), figures))
    return filled(
        HERE / "page.html.j2",
        title=report.title,
        notice=notice,
        origin=report.origin,
        legend=LEGEND,
        scales=scales(report.sections),
        chapters=chapters,
        json=Markup(script_json(explorers.every(report.sections))),
    )
