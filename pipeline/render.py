"""Stage `render`: the tables of reports/ as figures and a page -> reports/figures/, reports/report.md. Never a model."""

from pipeline.project import artifacts, command
from pipeline.project.errors import one_sentence
from pipeline.report import convergence, flip, fourier, image_pairs, linear_pairs, nad_sweep, nads, poison, style
from pipeline.report.page import page

IN_ORDER = (nads, fourier, convergence, nad_sweep, poison, flip, linear_pairs, image_pairs)
"""The report's sections: the NADs, paper 1's experiments, paper 2's."""


def main() -> None:
    """Render every figure afresh."""
    images = artifacts.about_images()["name"]
    notice = None if images == "CIFAR-10" else f"images of this run: {images}"
    folder = artifacts.fresh(artifacts.FIGURES)
    sections = []
    for part in IN_ORDER:
        section = part.section(notice)
        for picture in section.pictures:
            style.save(picture.figure, folder, picture.name)
        sections.append(section)
    captions = [
        "Written by the stage `render`; every number comes from the tables beside it.",
        *([f"**{notice}**"] if notice else []),
    ]
    (artifacts.REPORTS / "report.md").write_text(page("Report of this run", captions, sections), encoding="utf-8")
    print(f"{sum(len(section.pictures) for section in sections)} figures in {folder}/")


if __name__ == "__main__":
    with one_sentence():
        command.no_arguments(__doc__, "render")
        main()
