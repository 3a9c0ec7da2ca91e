"""The page as one HTML file with its pictures and data: it needs no other file and no network."""

import base64
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import matplotlib
import numpy as np
import pandas as pd
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup
from PIL import Image
from pydantic_core import to_jsonable_python

from pipeline.report import style
from pipeline.report.comparison import number
from pipeline.report.page import LEGEND, Section, again, merged

HERE = Path(__file__).parent

SCRIPTS = ("basis", "fourier", "nads", "pairs", "start")  # in this order: all use basis

# The chapters' templates in their order; each is empty where a run has nothing to say in it.
CHAPTERS = ("problem", "waves", "nads", "sweep", "photographs", "pairs", "unasked", "yours")

# The live figures, and the experiments whose networks they offer.
LIVE = {"fourier": "fourier", "nads": "nads", "pairs": "linear_pairs"}

WIDTHS = {"0.125": "⅛", "0.25": "¼", "0.5": "½"}  # parts of a network's full width

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


def image(path: Path) -> dict[str, Any]:
    """A saved figure for the page: its data URI and its size."""
    with Image.open(path) as picture:
        # With 128 colours it looks the same and takes half of the bytes.
        few = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    return {"source": data_uri(few), "size": few.size}


def short(label: str) -> str:
    """A network's label as the pickers have it: 'ResNet-18 ¼'."""
    for width, part in WIDTHS.items():
        label = label.replace(f", width ×{width}", f" {part}")
    return label.replace(", no pooling", " without pooling")


def offered(sections: Sequence[Section]) -> dict[str, Mapping[str, Any]]:
    """What the picker of a chapter offers, by name: each network once, with the most of its cells
    that one of several runs has."""
    size = lambda network: len(network.get("cells", ()))
    networks: dict[str, Mapping[str, Any]] = {}
    for one in (network for section in sections for network in section.explorer):
        name = short(one["name"])
        if name not in networks or size(one) > size(networks[name]):
            networks[name] = {**one, "name": name}
    return networks


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
    nads: Mapping[str, Mapping[str, Any]],
    scale: str,
    notice: str | None,
    folder: Path,
    command: str | None = None,
) -> str:
    """The page of one run, or of several that are kept.

    runs: the sections by 'nads' or the name of an experiment, of several runs the largest first;
    nads: the fields of the NADs that the page has pictures of, by architecture; notice: the line that names images other than CIFAR-10; folder: of the saved figures, by whose
    names templates ask for them; command: makes the page of kept runs again.
    """
    environment = templates(HERE)
    networks = {live: offered(runs[name]) for live, name in LIVE.items()}
    environment.filters |= {"percent": lambda part, digits=1: f"{number(100 * part, digits)} %"}
    environment.globals |= {
        "runs": runs,
        "networks": networks,
        "kept": command is not None,
        "command": command,
        "again": again,
        "merged": merged,
        "image": lambda name: image(folder / f"{name}.png"),
        "rows": lambda table, **where: rows_of(folder / table, where),
    }
    chapters = {name: environment.get_template(f"chapters/{name}.html.j2") for name in CHAPTERS}
    chapters = {name: chapter.module for name, chapter in chapters.items()}
    scripts = [(HERE / "script" / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    shades = matplotlib.colormaps[style.ACCURACY](np.linspace(0, 1, 64), bytes=True)[:, :3]
    data = {"colours": shades, "tile": [ZERO, 2 * LEVELS]}
    data |= {live: [*those.values()] for live, those in networks.items()}
    data["nads"] = {network["key"]: network for network in data["nads"]}
    return environment.get_template("page.html.j2").render(
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup("\n".join(scripts)),
        chapters={name: chapter for name, chapter in chapters.items() if str(chapter).strip()},
        scale=scale,
        notice=notice,
        legend=LEGEND,
        json=script_json(data),
    )
