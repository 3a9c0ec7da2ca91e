"""Numbers and pictures as the scripts of the page get them."""

import base64
import io
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from jinja2.utils import htmlsafe_json_dumps
from PIL import Image
from pydantic_core import to_jsonable_python

# A value x in [−1, 1] of a tile is the byte ZERO + 2 · round(LEVELS · x), so that 0 is
# exactly 0.
ZERO = 128
LEVELS = 63


def data_uri(picture: Image.Image) -> str:
    """A picture as a data URI of lossless WebP, half as long as PNG."""
    buffer = io.BytesIO()
    picture.convert("RGB").save(buffer, "WEBP", lossless=True, method=4, quality=50)
    return f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def encoded(array: np.ndarray) -> str:
    """The bytes of an array as base64."""
    return base64.b64encode(array.tobytes()).decode()


def folded(tiles: np.ndarray) -> np.ndarray:
    """Tiles (..., W) with their even part in the first half of the columns, their odd
    part behind.

    NADs of symmetric networks are even or odd, and zeros take no room: the page is much
    smaller.
    """
    turned = tiles[..., ::-1]
    first = np.arange(tiles.shape[-1]) < tiles.shape[-1] / 2
    return np.where(first, tiles + turned, turned - tiles) / 2


def sprite(directions: np.ndarray, shape: tuple[int, int, int]) -> tuple[str, int]:
    """Directions (K, D) as tiles of one picture: its data URI, and the tiles in a row.

    shape: (C, H, W), whose channels stand one below the other. Each tile is divided by
    its largest entry, and `folded` along its width and its height.
    """
    tiles = directions.reshape(-1, *shape)
    tiles = folded(tiles / np.abs(tiles).max((1, 2, 3), keepdims=True))
    tiles = folded(tiles.swapaxes(2, 3)).swapaxes(2, 3)
    columns = math.ceil(len(tiles) ** 0.5)
    height = shape[0] * shape[1]
    rows = -(-len(tiles) // columns)
    sheet = np.full((rows * columns, height, shape[2]), ZERO, np.uint8)
    sheet[: len(tiles)] = ZERO + 2 * np.rint(
        LEVELS * tiles.reshape(len(tiles), height, shape[2])
    )
    sheet = sheet.reshape(rows, columns, height, shape[2]).transpose(0, 2, 1, 3)
    return data_uri(
        Image.fromarray(sheet.reshape(rows * height, columns * shape[2]))
    ), columns


def value(row: Mapping[str, Any]) -> tuple[float, float, int, int]:
    """The accuracy in a row of summary.csv: mean, deviation, seeds, fitted seeds."""
    return row["mean"], row["std"], int(row["seeds"]), int(row["fitted"])


def script_json(value: Any) -> str:
    """A value as JSON that can stand in a <script>, which no text in it can end; nan is
    null."""
    finite = to_jsonable_python(
        value, inf_nan_mode="null", fallback=lambda array: array.tolist()
    )
    return htmlsafe_json_dumps(finite, separators=(",", ":"))
