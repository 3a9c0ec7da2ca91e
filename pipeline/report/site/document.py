"""The page as one HTML file with its pictures and data: it needs no other file and no network."""

import base64
import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import matplotlib
import numpy as np
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup
from PIL import Image
from pydantic_core import to_jsonable_python

from pipeline.report import style
from pipeline.report.page import LEGEND, Section, again

HERE = Path(__file__).parent

SCRIPTS = ("basis", "nads", "fourier", "pairs", "start")  # in this order: all use basis

# A value x in [−1, 1] of a tile is the byte ZERO + 2 · round(LEVELS · x), so that 0 is exactly 0.
ZERO, LEVELS = 128, 63


def data_uri(picture: Image.Image) -> str:
    """A picture as a data URI of lossless WebP, half as long as PNG."""
    buffer = io.BytesIO()
    picture.convert("RGB").save(buffer, "WEBP", lossless=True, method=4, quality=50)
    return f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def folded(tiles: np.ndarray) -> np.ndarray:
    """Tiles (..., W) with their even part in the first half of the columns, their odd part behind.

    NADs of symmetric networks are even or odd, and zeros take no room: the page is much smaller.
    """
    turned = tiles[..., ::-1]
    first = np.arange(tiles.shape[-1]) < tiles.shape[-1] / 2
    return np.where(first, tiles + turned, turned - tiles) / 2


def sprite(directions: np.ndarray, shape: tuple[int, int, int]) -> tuple[str, int]:
    """Directions (K, D) as tiles of one picture: its data URI, and the tiles in a row.

    shape: (C, H, W), whose channels stand one below the other. Each tile is divided by its largest
    entry, and `folded` along its width and its height.
    """
    tiles = directions.reshape(-1, *shape)
    tiles = folded(tiles / np.abs(tiles).max((1, 2, 3), keepdims=True))
    tiles = folded(tiles.swapaxes(2, 3)).swapaxes(2, 3)
    columns, height = math.ceil(len(tiles) ** 0.5), shape[0] * shape[1]
    rows = -(-len(tiles) // columns)
    sheet = np.full((rows * columns, height, shape[2]), ZERO, np.uint8)
    sheet[: len(tiles)] = ZERO + 2 * np.rint(LEVELS * tiles.reshape(len(tiles), height, shape[2]))
    sheet = sheet.reshape(rows, columns, height, shape[2]).transpose(0, 2, 1, 3)
    return data_uri(Image.fromarray(sheet.reshape(rows * height, columns * shape[2]))), columns


def value(row: Mapping[str, Any]) -> tuple[float, float, int, int]:
    """The accuracy in a row of summary.csv: mean, deviation, seeds, fitted seeds."""
    return row["mean"], row["std"], int(row["seeds"]), int(row["fitted"])


def script_json(value: Any) -> str:
    """A value as JSON that can stand in a <script>, which no text in it can end; nan is null."""
    finite = to_jsonable_python(value, inf_nan_mode="null", fallback=lambda array: array.tolist())
    return htmlsafe_json_dumps(finite, separators=(",", ":"))


def templates(folder: Path) -> jinja2.Environment:
    """The templates of a folder, which escape what is put into them."""
    options = {"trim_blocks": True, "lstrip_blocks": True, "undefined": jinja2.StrictUndefined}
    return jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=True, **options)


def groups(section: Section, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """A section's figures by what one sees in them; the page folds away all but a group's first."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for picture in section.pictures:
        with Image.open(folder / f"{picture.name}.png") as image:
            # With 128 colours it looks the same and takes half of the bytes.
            few = image.convert("RGB").quantize(128, dither=Image.Dither.NONE)
        drawn = {"picture": picture, "source": data_uri(few), "size": few.size}
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
    shades = matplotlib.colormaps[style.ACCURACY](np.linspace(0, 1, 64), bytes=True)[:, :3]
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
        json=script_json({"colours": shades, "tile": [ZERO, 2 * LEVELS], **explorers}),
    )
