"""Stage `render`: tables of reports/ -> its figures/, report.md, index.html and metrics.json.

With a FOLDER of kept runs, such as reports/kept: their figures and index.html.
"""

import dataclasses
import importlib
from collections.abc import Iterable
from pathlib import Path

from pipeline import experiments
from pipeline.project import artifacts, command
from pipeline.project.errors import one_sentence
from pipeline.report import nads, run, style
from pipeline.report.page import Picture, Section, metrics, page
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
    findings = {name: section.finding for name, section in sections.items()}
    artifacts.write_json(artifacts.REPORTS / "metrics.json", metrics(findings))
    count = sum(len(section.pictures) for section in sections.values())
    print(f"{count} figures in {artifacts.FIGURES}/; the page: {artifacts.REPORTS / 'index.html'}")


def render_folder(folder: Path) -> None:
    """Render a folder of experiments: each of its folders that has a plan in its run.json gets its
    figures, and the page shows all of one experiment in one place."""
    records = run.read_folder(folder, list(PARTS))
    known = nads.named()
    runs: dict[str, list[Section]] = {name: [] for name in PARTS} | {"nads": [nads.listed(known)]}
    # Beside the record of a folder stand the first ones of other experiments.
    firsts = {record.plan.experiment: record for record in reversed(records.values())}
    for name, record in records.items():
        experiment = record.plan.experiment
        beside = run.Report(None, known.nads, firsts | {experiment: record})
        section = PARTS[experiment].section(beside)
        pictures = [dataclasses.replace(one, name=f"{name}/{one.name}") for one in section.pictures]
        runs[experiment].append(dataclasses.replace(section, pictures=pictures))
        for old in Path(record.folder).glob("*.png"):
            old.unlink()
        save(pictures, folder)
    text = document(runs, record.plan.scale, record.notice, folder, kept=folder)
    (folder / "index.html").write_text(text, encoding="utf-8")
    print(f"{len(records)} runs; the page: {folder / 'index.html'}")


def save(pictures: Iterable[Picture], folder: Path) -> None:
    """Save the figures of a section."""
    for picture in pictures:
        style.save(picture.figure, folder, picture.name)


if __name__ == "__main__":
    with one_sentence():
        reader = command.parser(__doc__, "render")
        reader.add_argument("folder", nargs="?", type=Path, help="of experiments' folders")
        folder = reader.parse_args().folder
        render_folder(folder) if folder else main()
