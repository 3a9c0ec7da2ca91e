"""Stage `render`: tables of reports/ -> its figures/, report.md, index.html and metrics.json.

With a FOLDER of tables and plans, such as reports/overnight: its figures/ and index.html.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path

from pipeline import experiments
from pipeline.project import artifacts, command
from pipeline.project.errors import one_sentence
from pipeline.report import run, style, summary
from pipeline.report.page import Section, of_folder, page
from pipeline.report.site.document import document

# The report's sections, as the story is told: the NADs, what is learned along a direction, which
# of two, what images make of it.
ORDER = ("nads", "nad_sweep", "fourier", "colours", "convergence", "learning", "linear_pairs")
ORDER += ("image_pairs", "poison", "flip")
PARTS = {name: importlib.import_module(f"pipeline.report.{name}") for name in ORDER}


def main() -> None:
    """Render every figure afresh; what cannot be rendered leaves the last report."""
    whole = run.read(name for name in experiments.names() if name in PARTS)
    sections = {name: part.section(whole) for name, part in PARTS.items()}
    with artifacts.output(artifacts.FIGURES, sealed=False) as figures:
        save(sections, figures)
        pages = {
            "index.html": document(sections, whole.plan.scale, whole.notice, figures),
            "report.md": page(sections, whole.notice),
        }
    for name, text in pages.items():
        # What an earlier run left may be the same file as one in DVC's cache.
        (artifacts.REPORTS / name).unlink(missing_ok=True)
        (artifacts.REPORTS / name).write_text(text, encoding="utf-8")
    artifacts.write_json(artifacts.REPORTS / "metrics.json", summary.summary(whole, PARTS))
    count = sum(len(section.pictures) for section in sections.values())
    print(f"{count} figures in {artifacts.FIGURES}/; the page: {artifacts.REPORTS / 'index.html'}")


def render_folder(folder: Path) -> None:
    """Render a folder of experiments: each of its folders that holds a run.json is a section."""
    records, sections = run.read_folder(folder, list(PARTS)), {}
    for name, record in records.items():
        # The record of this folder beside those of the others.
        beside = {**records, record.plan.experiment: record}
        section = PARTS[record.plan.experiment].section(run.Run(None, {}, beside, record.notice))
        sections[name] = of_folder(name, section, records)
    with artifacts.output(folder / "figures", sealed=False) as figures:
        save(sections, figures)
        again = f"python -m pipeline.render {folder}"
        text = document(sections, record.plan.scale, record.notice, figures, again)
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
        reader.add_argument("folder", nargs="?", type=Path, help="of experiments' folders")
        folder = reader.parse_args().folder
        render_folder(folder) if folder else main()
