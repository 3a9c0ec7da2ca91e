"""Stage `render`: write the figures and pages of reports/ from its tables.

Writes figures/, report.md, index.html and metrics.json.
"""

from pipeline import experiments
from pipeline.project import artifacts, command
from pipeline.project.errors import one_sentence
from pipeline.project.progress import progress
from pipeline.report import run
from pipeline.report.metrics import collect_metrics
from pipeline.report.page import render_markdown
from pipeline.report.sections import PARTS
from pipeline.report.site.document import document


def main() -> None:
    """Render every figure again; if one cannot be rendered, the last report stays."""
    report = run.read_run(name for name in experiments.names() if name in PARTS)
    sections = {name: part.make_section(report) for name, part in PARTS.items()}
    with progress("render"), artifacts.output(artifacts.FIGURES) as figures:
        for section in sections.values():
            section.save_figures(figures)
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


if __name__ == "__main__":
    with one_sentence():
        command.make_parser(__doc__, "render").parse_args()
        main()
