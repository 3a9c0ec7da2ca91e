"""Stage `render`: the tables of reports/ as figures and two pages -> reports/figures/, report.md, index.html. Never a model.

With --beside it makes one page alone, reports/beside.html: index.html with the numbers of other runs beside this one's. DVC, which
asks for none, knows nothing of that page; all that it does know stays as it is.
"""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pipeline import experiments
from pipeline.project import artifacts, command
from pipeline.project.errors import one_sentence
from pipeline.report import convergence, flip, fourier, image_pairs, linear_pairs, nad_sweep, nads, poison, runs, style
from pipeline.report.evaluated import check
from pipeline.report.page import Report, literal, page
from pipeline.report.site import compare, document, provenance

IN_ORDER = (nads, nad_sweep, fourier, convergence, linear_pairs, image_pairs, poison, flip)
"""The report's sections, as the story is told: the NADs, what is learned along a direction, which of two, what images make of it."""


def main(beside: Sequence[str] = ()) -> None:
    """Render every figure afresh; beside: folders or commits whose runs stand beside this one in a page of its own."""
    others = [runs.found(name, artifacts.REPORTS) for name in beside]
    parts = {part.__name__.rpartition(".")[2]: part for part in IN_ORDER}
    for name in (name for name in experiments.names() if name in parts):
        check(name)
    images = artifacts.about_images()["name"]
    notice = None if images == "CIFAR-10" else f"images of this run: {images}"
    comparisons = compare.tables(parts, others)
    sections = {name: part.section(notice) for name, part in parts.items()}
    captions = [
        "Written by the stage `render`; every number comes from the tables beside it.",
        *([f"**{literal(notice)}**"] if notice else []),
    ]
    report = Report("Report of this run", captions, provenance.sentence(), sections)
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder)
        for section in sections.values():
            for picture in section.pictures:
                style.save(picture.figure, new, picture.name)
        found = document.document(report, notice, comparisons, new)
        if others:
            replace(artifacts.REPORTS / "beside.html", found)
            print(f"{artifacts.REPORTS}/beside.html: this run beside {', '.join(run.name for run in others)}")
            return
        # Only here is anything taken away: what cannot be rendered leaves the last report.
        artifacts.fresh(artifacts.FIGURES)
        for path in new.iterdir():
            shutil.copyfile(path, artifacts.FIGURES / path.name)
    (artifacts.REPORTS / "report.md").write_text(page(report), encoding="utf-8")
    replace(artifacts.REPORTS / "index.html", found)
    print(f"{sum(len(section.pictures) for section in sections.values())} figures in {artifacts.FIGURES}/")


def replace(path: Path, text: str) -> None:
    """Write a file anew: what an earlier run left may be the same file as one in DVC's cache, so it is not written into."""
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")


def parsed(arguments: Sequence[str]) -> list[str]:
    """The runs that the command line names."""
    reader = command.parser(__doc__, "render")
    reader.add_argument(
        "--beside", action="append", default=[], metavar="COMMIT_OR_FOLDER", help="another run; may be given repeatedly"
    )
    return reader.parse_args(arguments).beside


if __name__ == "__main__":
    with one_sentence():
        main(parsed(sys.argv[1:]))
