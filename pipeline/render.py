"""Stage `render`: tables of reports/ -> its figures/, report.md, index.html and metrics.json.

With a FOLDER of kept runs, such as reports/kept: their figures and index.html.
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
    report = run.read(name for name in experiments.names() if name in PARTS)
    sections = {name: part.section(report) for name, part in PARTS.items()}
    with artifacts.output(artifacts.FIGURES, sealed=False) as figures:
        save(sections, figures)
        pages = {
            "index.html": document(sections, report.plan.scale, report.notice, figures),
            "report.md": page(sections, report.notice),
        }
    for name, text in pages.items():
        # What an earlier run left may be the same file as one in DVC's cache.
        (artifacts.REPORTS / name).unlink(missing_ok=True)
        (artifacts.REPORTS / name).write_text(text, encoding="utf-8")
    artifacts.write_json(artifacts.REPORTS / "metrics.json", summary.summary(report, PARTS))
    count = sum(len(section.pictures) for section in sections.values())
    print(f"{count} figures in {artifacts.FIGURES}/; the page: {artifacts.REPORTS / 'index.html'}")


def render_folder(folder: Path) -> None:
    """Render a folder of experiments: each of its folders that has a plan in its run.json is a
    section, and gets its figures."""
    records, sections = run.read_folder(folder, list(PARTS)), {}
    firsts = {}
    for name, record in records.items():
        firsts.setdefault(record.plan.experiment, (name, record))
    for name, record in records.items():
        experiment = record.plan.experiment
        # The record of this folder beside the first ones of other experiments.
        beside = {each: first for each, (_, first) in firsts.items()} | {experiment: record}
        section = PARTS[experiment].section(run.Report(None, {}, beside, record.notice))
        section_id = experiment if firsts[experiment][0] == name else name.replace("/", "-")
        sections[section_id] = of_folder(name, section, records)
        for old in Path(record.folder).glob("*.png"):
            old.unlink()
    save(sections, folder)
    again = f"python -m pipeline.render {folder}"
    text = document(sections, record.plan.scale, record.notice, folder, again)
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
