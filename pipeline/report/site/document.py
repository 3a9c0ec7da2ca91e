"""The page as one HTML file with its pictures and data: it needs no other file and no network."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import matplotlib
import numpy as np
import pandas as pd
from markupsafe import Markup
from PIL import Image

from pipeline.report import style
from pipeline.report.comparison import number
from pipeline.report.page import LEGEND, Section, again, merged
from pipeline.report.site.data import LEVELS, ZERO, data_uri, script_json

HERE = Path(__file__).parent

# The scripts in their order: one of each live figure, and what all of them use.
SCRIPTS = ("basis", "problem", "fourier", "nads", "sweep", "photographs", "pairs", "start")

# The chapters' templates in their order; each is empty where a run has nothing to say in it.
CHAPTERS = ("problem", "waves", "nads", "sweep", "photographs", "pairs", "unasked", "yours")

FIRST = ("LeNet", "ResNet-18", "VGG-11")  # networks that stand first in a picker

WIDTHS = {"0.125": "⅛", "0.25": "¼", "0.5": "½"}  # parts of a network's full width


def templates(folder: Path) -> jinja2.Environment:
    """The templates of a folder, which escape what is put into them."""
    options = {"trim_blocks": True, "lstrip_blocks": True, "undefined": jinja2.StrictUndefined}
    return jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=True, **options)


def image(path: Path) -> dict[str, Any] | None:
    """A saved figure for the page, if there is one: its data URI and its size."""
    if not path.exists():
        return None
    with Image.open(path) as picture:
        # With 128 colours it looks the same and takes half of the bytes.
        few = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    return {"source": data_uri(few), "size": few.size}


def short(label: str) -> str:
    """A network's label as the pickers have it: 'ResNet-18 ¼'."""
    for width, part in WIDTHS.items():
        label = label.replace(f", width ×{width}", f" {part}")
    return label.replace(", no pooling", " without pooling")


def offered(networks: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """What a picker offers, by name: each network once, of the run with most cells of it."""
    by_name: dict[str, Mapping[str, Any]] = {}
    for one in networks:
        name = short(one["name"])
        if name not in by_name or len(one["cells"]) > len(by_name[name]["cells"]):
            by_name[name] = {**one, "name": name}
    return by_name


def place(network: Mapping[str, Any]) -> tuple[int, bool]:
    """The place of a network in a picker: those of `FIRST`, then the others, published last."""
    name = network["name"]
    first = next((n for n, start in enumerate(FIRST) if name.startswith(start)), len(FIRST))
    return first, name.endswith("published")


def live(runs: Mapping[str, Sequence[Section]]) -> dict[str, Any]:
    """The data of the live figures by their names: what they offer, by name; see `document`."""
    drawn = {name: [one for each in runs[name] for one in each.explorer] for name in runs}
    poisoned = sorted(drawn["poison"], key=lambda network: "published" not in network)
    return {
        "fourier": offered(sorted(drawn["fourier"], key=place)),
        "nads": {network["key"]: network for network in drawn["nads"]},
        "sweep": offered(sorted(drawn["nad_sweep"], key=place)),
        "photographs": offered(poisoned),
        "pairs": offered(sorted(drawn["linear_pairs"], key=place)),
    }


def rows_of(path: Path, where: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a table with these values; none where there is no such table."""
    if not path.exists():
        return []
    table = pd.read_csv(path)
    for column, wanted in where.items():
        table = table[table[column] == wanted]
    return table.to_dict("records")


def document(
    runs: Mapping[str, Sequence[Section]],
    scale: str,
    notice: str | None,
    folder: Path,
    kept: Path | None = None,
) -> str:
    """The page of one run, or of several that are kept.

    runs: the sections by 'nads' or the name of an experiment, of several runs the largest first;
    notice: the line that names images other than CIFAR-10; folder: of the saved figures, by whose
    names templates ask for them; kept: the folder of kept runs.
    """
    environment = templates(HERE)
    networks = live(runs)
    environment.filters |= {"percent": lambda part, digits=1: f"{number(100 * part, digits)} %"}
    environment.globals |= {
        "runs": runs,
        "networks": networks,
        "kept": kept,
        "again": again,
        "merged": merged,
        "image": lambda name: image(folder / f"{name}.png"),
        "rows": lambda table, **where: rows_of(folder / table, where),
        "wave": lambda name: networks["fourier"].get(name, {"cells": {}})["cells"].get("8,8"),
    }
    environment.globals["parts"] = environment.get_template("parts.html.j2").module
    chapters = {name: environment.get_template(f"chapters/{name}.html.j2") for name in CHAPTERS}
    chapters = {name: chapter.module for name, chapter in chapters.items()}
    scripts = [(HERE / "script" / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    shades = matplotlib.colormaps[style.ACCURACY](np.linspace(0, 1, 64), bytes=True)[:, :3]
    data = {"colours": shades, "tile": [ZERO, 2 * LEVELS], **networks}
    return environment.get_template("page.html.j2").render(
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup("\n".join(scripts)),
        chapters={name: chapter for name, chapter in chapters.items() if str(chapter).strip()},
        scale=scale,
        notice=notice,
        legend=LEGEND,
        json=script_json(data),
    )
