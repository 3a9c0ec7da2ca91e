"""Stage `render`: tables of reports/ -> its figures/, report.md, index.html and metrics.json.

With a FOLDER of kept experiments, such as reports/overnight: its tables and plans alone -> its
figures/ and index.html.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

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
from pipeline.report.page import Section, page
from pipeline.report.site.document import document

# The report's sections, as the story is told: the NADs, what is learned along a direction, which
# of two, what images make of it.
IN_ORDER = (nads, nad_sweep, fourier, convergence, linear_pairs, image_pairs, poison, flip)


PARTS = {part.__name__.rpartition(".")[2]: part for part in IN_ORDER}


def main() -> None:
    """Render every figure afresh; what cannot be rendered leaves the last report."""
    whole = run.read(name for name in experiments.names() if name in PARTS)
    sections = {name: part.section(whole) for name, part in PARTS.items()}
    with artifacts.output(artifacts.FIGURES, sealed=False) as folder:
        save(sections, folder)
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
    print(f"{count} figures in {artifacts.FIGURES}/; the page: {artifacts.REPORTS / 'index.html'}")


def kept(folder: Path) -> None:
    """Render the experiments that a folder keeps, each folder in it that holds a plan.json.

    A folder that is not called as its experiment holds a variant of it, whose figures end in what
    the names differ by.
    """
    every, sections, asked = run.kept(folder), {}, set()
    place = lambda one: ([*PARTS].index(one.plan.experiment), -len(one.results))
    for name, one in sorted(every.items(), key=lambda item: place(item[1])):
        experiment = one.plan.experiment
        whole = run.Run(None, {}, one.images, every | {experiment: one}, one.notice)
        section = PARTS[experiment].section(whole)
        if experiment in asked:
            again = f"The same of {', '.join(one.labels.values())}: {one.sizes()}."
            section = dataclasses.replace(section, question=again)
        if name != experiment:
            variant = name.removeprefix(experiment)
            pictures = [
                dataclasses.replace(picture, name=picture.name.removesuffix(variant) + variant)
                for picture in section.pictures
            ]
            title = f"{section.title} ({variant.replace('_', ' ').strip()})"
            section = dataclasses.replace(section, title=title, pictures=pictures, explorer=None)
        asked.add(experiment)
        sections[name] = section
    with artifacts.output(folder / "figures", sealed=False) as figures:
        save(sections, figures)
        command_line = f"python -m pipeline.render {folder}"
        text = document(sections, one.plan.scale, one.notice, figures, lambda name: command_line)
    (folder / "index.html").write_text(text, encoding="utf-8")
    print(f"{len(sections)} sections; the page: {folder / 'index.html'}")


def save(sections: Mapping[str, Section], folder: Path) -> None:
    """Save the figures of all sections."""
    for section in sections.values():
        for picture in section.pictures:
            style.save(picture.figure, folder, picture.name)


if __name__ == "__main__":
    with one_sentence():
        reader = command.parser(__doc__, "render")
        reader.add_argument("folder", nargs="?", type=Path, help="of kept experiments")
        folder = reader.parse_args().folder
        kept(folder) if folder else main()
