"""Build docs/index.html, the article, from the kept runs in reports/kept.

The tables are read, and the figures as they were saved beside them. With `--figures`
they are drawn again first: after a run was added to reports/kept, or when the code of a
figure changed.
"""

import argparse
import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

from docs.site import engine, figures
from pipeline.project.errors import one_sentence
from pipeline.report import nads, run
from pipeline.report.page import Section
from pipeline.report.sections import PARTS
from pipeline.report.site.document import Runs, compose, prepare

HERE = Path(__file__).parent
KEPT = Path("reports/kept")
PAGE = Path("docs/index.html")

CHAPTERS = (
    "line",
    "waves",
    "nads",
    "order",
    "photographs",
    "lazy",
    "beyond",
    "yours",
)

SCRIPTS = (
    "training/training.js",
    "script/lazy.js",
    "script/download.js",
    "script/story.js",
)


def read_runs(folder: Path) -> dict[str, list[Section]]:
    """The sections of all kept runs.

    Args:
        folder: The folder of kept runs. The name of a figure is relative to it.

    Returns:
        The sections by 'nads' or the name of an experiment. The run with most networks
        comes first, except that a run with a published curve of poisoned images comes
        before the others.
    """
    records = run.read_folder(folder, list(PARTS))
    known = nads.load_named_run()
    runs: dict[str, list[Section]] = {name: [] for name in PARTS}
    runs["nads"].append(nads.make_section_without_figures(known))
    # A section may compare its record with records of other experiments: with their
    # largest runs.
    largest = {record.plan.experiment: record for record in reversed(records.values())}
    for name, record in records.items():
        experiment = record.plan.experiment
        report = run.Report(None, known.nads, {**largest, experiment: record})
        section = PARTS[experiment].make_section(report)
        pictures = [
            dataclasses.replace(picture, name=f"{name}/{picture.name}")
            for picture in section.pictures
        ]
        runs[experiment].append(dataclasses.replace(section, pictures=pictures))
    runs["poison"].sort(key=lambda section: "published" not in section.explorer[0])
    return runs


def draw_figures(runs: Runs, folder: Path) -> None:
    """Draw the figures of all runs with a plan, in the place of the saved ones.

    Args:
        runs: The sections of `read_runs`.
        folder: The folder of kept runs.
    """
    for sections in runs.values():
        for section in sections:
            if section.record:
                for old in Path(section.record.folder).glob("*.png"):
                    old.unlink()
            section.save_figures(folder)


def rows_of(path: Path, where: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a table that have the values of `where`."""
    table = pd.read_csv(path)
    for column, value in where.items():
        table = table[table[column] == value]
    return table.to_dict("records")


def templates_of(runs: Runs, folder: Path) -> jinja2.Environment:
    """The article's templates, and what its chapters may ask for.

    Args:
        runs: The sections of `read_runs`.
        folder: The folder of kept runs.
    """
    environment = prepare(runs, folder, HERE)
    for name in ("percent", "at_least", "at_most"):
        environment.filters[name] = getattr(figures, name)
    explorers = figures.collect(runs)
    lazy = figures.read_lazy(rows_of(folder / "image_pairs/lenet/summary.csv", {}))
    environment.globals["networks"] = {**explorers, "lazy": lazy}
    environment.globals |= {
        "rows": lambda table, **where: rows_of(folder / table, where),
        "plan": lambda run: read_plan(folder / run),
        "measured": json.loads((HERE / "measured.json").read_text(encoding="utf-8")),
        "lazy": lazy,
        "lazy_lines": figures.lazy_lines(lazy),
        "changed": lambda name: figures.changed(explorers["photographs"][name]),
        "wave": figures.wave,
        "direction": lambda file, name: figures.read_direction(folder / file, name),
        "by_images": lambda table: figures.by_images(rows_of(folder / table, {})),
        "signs_share": lambda table: figures.signs_share(rows_of(folder / table, {})),
        "shades": [figures.colour_of(0.5 + n / 20) for n in range(11)],
        "place": figures.place,
        "height": figures.height,
        "squares": figures.squares,
        "cells_of": figures.cells_of,
        "lines_of": figures.lines_of,
        "tiles": figures.tiles,
    }
    for name in ("charts", "story"):
        module = environment.get_template(f"{name}.html.j2").module
        environment.globals[name] = module
    return environment


def read_plan(run: Path) -> dict[str, Any]:
    """The plan of a kept run: its settings, and how its networks were trained."""
    return json.loads((run / "run.json").read_text(encoding="utf-8"))["plan"]


def read_files(*names: str) -> Markup:
    """Files of docs/site, one after the other."""
    texts = [(HERE / name).read_text(encoding="utf-8") for name in names]
    return Markup("\n".join(texts))


def compose_article(environment: jinja2.Environment) -> str:
    """The article from the templates of `templates_of`."""
    return compose(
        environment,
        "article.html.j2",
        CHAPTERS,
        article_style=read_files("article.css"),
        training_engine=Markup(engine.compose_engine(engine.read_kernel())),
        article_script=read_files(*SCRIPTS),
    )


def build(folder: Path, redraw: bool) -> str:
    """The article as one HTML file.

    Args:
        folder: The folder of kept runs.
        redraw: Whether to draw the figures of the runs again.
    """
    runs = read_runs(folder)
    if redraw:
        draw_figures(runs, folder)
    return compose_article(templates_of(runs, folder))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m docs.site.build", description=__doc__
    )
    parser.add_argument("--figures", action="store_true", help="draw the figures again")
    arguments = parser.parse_args()
    with one_sentence():
        PAGE.write_text(build(KEPT, arguments.figures), encoding="utf-8")
        print(f"{PAGE}: {PAGE.stat().st_size / 1e6:.2f} MB")
