"""The page as one HTML file, which asks no other file and no network for anything."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import jinja2
import matplotlib
import numpy as np
from markupsafe import Markup, escape
from PIL import Image

from pipeline.report import style
from pipeline.report.page import LEGEND, Section, again
from pipeline.report.site.embedded import LEVELS, ZERO, data_uri, script_json

HERE = Path(__file__).parent

# The page's scripts, in the order in which they are one: the first holds what the others share.
SCRIPTS = ("basis", "nads", "fourier", "pairs", "start")

SHADES = 64  # Colours of the figures' map that scripts draw with, from dark to light


@dataclass(frozen=True)
class Drawn:
    """A figure of the page: its data URI, width and height in pixels, and the text in its place."""

    source: str
    width: int
    height: int
    text: str


def with_code(text: str) -> Markup:
    """Text in which what stands between `backquotes` is code; all of it is escaped."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text))))


def groups(section: Section, folder: Path) -> dict[str, list[Drawn]]:
    """A section's figures by what one sees in them; the page folds all but a group's first away."""
    found: dict[str, list[Drawn]] = {}
    for picture in section.pictures:
        with Image.open(folder / f"{picture.name}.png") as image:
            drawn = Drawn(data_uri(image), *image.size, picture.text)
        found.setdefault(picture.sees, []).append(drawn)
    return found


def document(sections: Mapping[str, Section], scale: str, notice: str | None, figures: Path) -> str:
    """The page of a run.

    sections: as `pipeline.report.page.page` takes them; notice: what is to be said of the images,
    None for CIFAR-10; figures: the folder of the saved figures.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["code"] = with_code
    scripts = [(HERE / "script" / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    shades = matplotlib.colormaps[style.ACCURACY](np.linspace(0, 1, SHADES), bytes=True)
    explorers = {name: part.explorer for name, part in sections.items() if part.explorer}
    return environment.get_template("page.html.j2").render(
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup("\n".join(scripts)),
        sections=sections,
        groups={name: groups(section, figures) for name, section in sections.items()},
        scale=scale,
        notice=notice,
        again=again,
        legend=LEGEND,
        json=script_json({"colours": shades[:, :3], "tile": [ZERO, 2 * LEVELS], **explorers}),
    )
