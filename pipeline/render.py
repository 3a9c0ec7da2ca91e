"""Stage `render`: the tables of reports/ as figures and a page -> reports/figures/, reports/report.md. Never a model."""

from pipeline import artifacts
from pipeline.project.errors import one_sentence
from pipeline.report import tables
from pipeline.report.sections import flip, fourier, image_pairs, linear_pairs, nad_sweep, nads, poison

IN_ORDER = (nads, fourier, nad_sweep, poison, flip, linear_pairs, image_pairs)
"""The report's sections: the NADs, paper 1's experiments, paper 2's."""


def main():
    """Render every figure afresh."""
    about = artifacts.about_images()
    notice = None if about["name"] == "CIFAR-10" else f"images of this run: {about['name']}"
    folder = artifacts.fresh(artifacts.FIGURES)
    sections = [part.section(folder, notice) for part in IN_ORDER]
    captions = [
        "Written by the stage `render`; every number comes from the tables beside it.",
        *([f"**{notice}**"] if notice else []),
    ]
    (artifacts.REPORTS / "report.md").write_text(tables.page("Report of this run", captions, sections))
    print(f"{len(list(folder.glob('*.png')))} figures in {folder}/")


if __name__ == "__main__":
    with one_sentence():
        main()
