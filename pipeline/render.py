"""Stage `render`: tables of reports/ -> its figures/, report.md, index.html and
metrics.json."""

import importlib
from collections.abc import Iterable
from pathlib import Path

from pipeline import experiments
from pipeline.project import artifacts, command
from pipeline.project.errors import one_sentence
from pipeline.report import run, style
from pipeline.report.metrics import collect_metrics
from pipeline.report.page import Picture, page
from pipeline.report.site.document import document

# The report's sections, as the story is told: the NADs, what is learned along a
# direction, which of two, what images make of it.
ORDER = (
    "nads",
    "nad_sweep",
    "fourier",
    "colours",
    "convergence",
    "learning",
    "linear_pairs",
)
ORDER += ("image_pairs", "poison", "flip")
PARTS = {name: importlib.import_module(f"pipeline.report.{name}") for name in ORDER}


def main() -> None:
    """Render every figure afresh; what cannot be rendered leaves the last report."""
    report = run.read_run(name for name in experiments.names() if name in PARTS)
    sections = {name: part.make_section(report) for name, part in PARTS.items()}
    with artifacts.output(artifacts.FIGURES) as figures:
        for section in sections.values():
            save(section.pictures, figures)
        runs = {name: [section] for name, section in sections.items()}
        pages = {
            "index.html": document(runs, report.plan.scale, report.notice, figures),
            "report.md": page(sections, report.notice),
        }
    for name, text in pages.items():
        # What an earlier run left may be the same file as one in DVC's cache.
        (artifacts.REPORTS / name).unlink(missing_ok=True)
        (artifacts.REPORTS / name).write_text(text, encoding="utf-8")
    artifacts.write_json(artifacts.REPORTS / "metrics.json", collect_metrics(report))
    count = sum(len(section.pictures) for section in sections.values())
    print(
        f"{count} figures in {artifacts.FIGURES}/; the page: {artifacts.REPORTS / 'index.html'}"
    )


def save(pictures: Iterable[Picture], folder: Path) -> None:
    """Save the figures of a section."""
    for picture in pictures:
        style.save(picture.figure, folder, picture.name)


if __name__ == "__main__":
    with one_sentence():
        command.parser(__doc__, "render").parse_args()
        main()
