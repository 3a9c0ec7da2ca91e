"""Stage `render`: tables of reports/ -> its figures/, report.md, index.html and metrics.json."""

from pipeline import experiments
from pipeline.project import artifacts, command
from pipeline.project.errors import one_sentence
from pipeline.report import (
    convergence,
    flip,
    fourier,
    image_pairs,
    linear_pairs,
    nad_sweep,
    nads,
    poison,
    run,
    style,
    summary,
)
from pipeline.report.page import page
from pipeline.report.site.document import document

# The report's sections, as the story is told: the NADs, what is learned along a direction, which
# of two, what images make of it.
IN_ORDER = (nads, nad_sweep, fourier, convergence, linear_pairs, image_pairs, poison, flip)


def main() -> None:
    """Render every figure afresh; what cannot be rendered leaves the last report."""
    parts = {part.__name__.rpartition(".")[2]: part for part in IN_ORDER}
    whole = run.read(name for name in experiments.names() if name in parts)
    sections = {name: part.section(whole) for name, part in parts.items()}
    with artifacts.output(artifacts.FIGURES, sealed=False) as folder:
        for section in sections.values():
            for picture in section.pictures:
                style.save(picture.figure, folder, picture.name)
        pages = {
            "index.html": document(sections, whole.plan.scale, whole.notice, folder),
            "report.md": page(sections, whole.notice),
        }
    for name, text in pages.items():
        # What an earlier run left may be the same file as one in DVC's cache.
        (artifacts.REPORTS / name).unlink(missing_ok=True)
        (artifacts.REPORTS / name).write_text(text, encoding="utf-8")
    artifacts.write_json(artifacts.REPORTS / "metrics.json", summary.summary(whole))
    count = sum(len(section.pictures) for section in sections.values())
    print(f"{count} figures in {artifacts.FIGURES}/")


if __name__ == "__main__":
    with one_sentence():
        command.no_arguments(__doc__, "render")
        main()
