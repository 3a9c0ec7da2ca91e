"""Stage `render`: the tables of reports/ as figures and two pages -> reports/figures/, report.md, index.html. Never a model."""

from pipeline import experiments
from pipeline.project import artifacts, command
from pipeline.project.errors import one_sentence
from pipeline.report import convergence, flip, fourier, image_pairs, linear_pairs, nad_sweep, nads, poison, style
from pipeline.report.evaluated import check
from pipeline.report.page import Report, literal, page
from pipeline.report.site import document, provenance

IN_ORDER = (nads, nad_sweep, fourier, convergence, linear_pairs, image_pairs, poison, flip)
"""The report's sections, as the story is told: the NADs, what is learned along a direction, which of two, what images make of it."""


def main() -> None:
    """Render every figure afresh."""
    parts = {part.__name__.rpartition(".")[2]: part for part in IN_ORDER}
    for name in (name for name in experiments.names() if name in parts):
        check(name)
    images = artifacts.about_images()["name"]
    notice = None if images == "CIFAR-10" else f"images of this run: {images}"
    folder = artifacts.fresh(artifacts.FIGURES)
    sections = {}
    for name, part in parts.items():
        section = part.section(notice)
        for picture in section.pictures:
            style.save(picture.figure, folder, picture.name)
        sections[name] = section
    captions = [
        "Written by the stage `render`; every number comes from the tables beside it.",
        *([f"**{literal(notice)}**"] if notice else []),
    ]
    report = Report("Report of this run", captions, provenance.sentence(), sections)
    (artifacts.REPORTS / "report.md").write_text(page(report), encoding="utf-8")
    found = document.document(report, notice)
    # What an earlier run left may be the same file as one in DVC's cache, so it is replaced and not written into.
    (artifacts.REPORTS / "index.html").unlink(missing_ok=True)
    (artifacts.REPORTS / "index.html").write_text(found, encoding="utf-8")
    print(f"{sum(len(section.pictures) for section in sections.values())} figures in {folder}/")


if __name__ == "__main__":
    with one_sentence():
        command.no_arguments(__doc__, "render")
        main()
