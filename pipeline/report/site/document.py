"""The page as one HTML file, which needs no other file and no network."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import matplotlib
import numpy as np
from markupsafe import Markup
from PIL import Image

from pipeline.report import style
from pipeline.report.page import LEGEND, Section, again
from pipeline.report.site.embedded import LEVELS, ZERO, data_uri, script_json

HERE = Path(__file__).parent

SCRIPTS = ("basis", "nads", "fourier", "pairs", "start")  # in this order: all use basis

SHADES = 64  # colours that the scripts draw with, from dark to light


def templates(folder: Path) -> jinja2.Environment:
    """The templates of a folder, which escape what is put into them."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def groups(section: Section, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """A section's figures by what one sees in them; the page folds away all but a group's first."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for picture in section.pictures:
        with Image.open(folder / f"{picture.name}.png") as image:
            # With 256 colours it looks the same and takes two thirds of the bytes.
            few = image.convert("RGB").quantize(dither=Image.Dither.NONE)
            drawn = {"source": data_uri(few), "width": image.width, "height": image.height}
        drawn |= {"text": picture.text, "name": picture.name}
        grouped.setdefault(picture.sees, []).append(drawn)
    return grouped


def document(
    sections: Mapping[str, Section],
    scale: str,
    notice: str | None,
    figures: Path,
    command: str | None = None,
) -> str:
    """The page of a run.

    sections: in order, by 'nads', the name of an experiment or of its folder; notice: the line that
    names images other than CIFAR-10; figures: the folder of the saved figures; command: makes all
    sections again; None if each has its own.
    """
    environment = templates(HERE)
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
        command=command,
        legend=LEGEND,
        json=script_json({"colours": shades[:, :3], "tile": [ZERO, 2 * LEVELS], **explorers}),
    )
