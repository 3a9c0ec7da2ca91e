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

ZERO = 128
LEVELS = 63
"""The byte of 0, and the number of levels on either side of it.

A value x in [−1, 1] of a tile is the byte ZERO + 2 · round(LEVELS · x).
"""


def data_uri(picture: Image.Image) -> str:
    """Write a picture as a data URI of lossless WebP, which takes half the bytes of
    PNG."""
    buffer = io.BytesIO()
    # Of lossless pictures, `quality` is how long the encoder looks for fewer bytes.
    picture.convert("RGB").save(buffer, "WEBP", lossless=True, method=4, quality=50)
    return f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def encode(array: np.ndarray) -> str:
    """The bytes of an array as base64."""
    return base64.b64encode(array.tobytes()).decode()


def fold(tiles: np.ndarray) -> np.ndarray:
    """Separate the even and the odd part of tiles.

    NADs of symmetric networks are even or odd, and zeros compress well.

    Args:
        tiles: (..., W).

    Returns:
        The even part in the first half of the columns, and the odd part in the second.
    """
    mirrored = tiles[..., ::-1]
    first = np.arange(tiles.shape[-1]) < tiles.shape[-1] / 2
    return np.where(first, tiles + mirrored, mirrored - tiles) / 2


def make_sprite(directions: np.ndarray, shape: tuple[int, int, int]) -> tuple[str, int]:
    """Make one picture with a tile for each direction.

    A tile has its channels one below the other. It is divided by its largest entry, and
    folded along its width and its height.

    Args:
        directions: (K, D).
        shape: (C, H, W) of a direction.

    Returns:
        The picture's data URI, and the number of tiles in a row.
    """
    channels, height, width = shape
    tiles = directions.reshape(-1, channels, height, width)
    tiles = fold(tiles / np.abs(tiles).max((1, 2, 3), keepdims=True))
    tiles = fold(tiles.swapaxes(2, 3)).swapaxes(2, 3)
    tiles = tiles.reshape(len(tiles), channels * height, width)
    columns = math.ceil(len(tiles) ** 0.5)
    rows = math.ceil(len(tiles) / columns)
    sheet = np.full((rows * columns, channels * height, width), ZERO, np.uint8)
    sheet[: len(tiles)] = ZERO + 2 * np.rint(LEVELS * tiles)
    sheet = sheet.reshape(rows, columns, channels * height, width).swapaxes(1, 2)
    picture = Image.fromarray(sheet.reshape(rows * channels * height, columns * width))
    return data_uri(picture), columns


def accuracy_cell(row: Mapping[str, Any]) -> tuple[float, float, int, int, float]:
    """The accuracy in a row of summary.csv: mean, deviation, seeds, fitted seeds, and
    the mean on the training set."""
    seeds = int(row["seeds"])
    fitted = int(row["fitted"])
    return row["mean"], row["std"], seeds, fitted, row["train_accuracy"]


def script_json(value: Any) -> str:
    """A value as JSON for a <script>, which no text in it can end; nan becomes null."""
    finite = to_jsonable_python(
        value, inf_nan_mode="null", fallback=lambda array: array.tolist()
    )
    return htmlsafe_json_dumps(finite, separators=(",", ":"))
