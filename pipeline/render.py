"""Stage `render`: write the figures and pages of reports/ from its tables.

Writes figures/, report.md, index.html and metrics.json.
"""

import importlib
from collections.abc import Iterable
from pathlib import Path

from pipeline import experiments
from pipeline.project import artifacts, command
from pipeline.project.errors import one_sentence
from pipeline.project.progress import progress
from pipeline.report import run, style
from pipeline.report.metrics import collect_metrics
from pipeline.report.page import TITLES, Picture, render_markdown
from pipeline.report.site.document import document

PARTS = {name: importlib.import_module(f"pipeline.report.{name}") for name in TITLES}
"""The modules that make the report's sections, in its order."""


def main() -> None:
    """Render every figure again; if one cannot be rendered, the last report stays."""
    report = run.read_run(name for name in experiments.names() if name in PARTS)
    sections = {name: part.make_section(report) for name, part in PARTS.items()}
    with progress("render"), artifacts.output(artifacts.FIGURES) as figures:
        for section in sections.values():
            save(section.pictures, figures)
        runs = {name: [section] for name, section in sections.items()}
        html = document(runs, report.plan.scale, report.notice, figures)
    write_page("index.html", html)
    write_page("report.md", render_markdown(sections, report.plan.scale, report.notice))
    artifacts.write_json(artifacts.REPORTS / "metrics.json", collect_metrics(report))
    count = sum(len(section.pictures) for section in sections.values())
    print(
        f"{count} figures in {artifacts.FIGURES}/; open "
        f"{artifacts.REPORTS / 'index.html'}"
    )


def write_page(name: str, text: str) -> None:
    """Write a page of the report.

    Args:
        name: Name of its file.
        text: Its contents.
    """
    path = artifacts.REPORTS / name
    # What an earlier run left may be the same file as one in DVC's cache.
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")


def save(pictures: Iterable[Picture], folder: Path) -> None:
    """Save the figures of a section.

    Args:
        pictures: Figures with their names.
        folder: Folder of the files.
    """
    for picture in pictures:
        style.save(picture.figure, folder, picture.name)


if __name__ == "__main__":
    with one_sentence():
        command.make_parser(__doc__, "render").parse_args()
        main()
