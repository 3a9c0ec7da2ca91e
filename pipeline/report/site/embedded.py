"""Pictures and data inside a page: figures as data URIs, NADs as tiles of one sprite, JSON that can end no script."""

import base64
import io
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

LEVELS = 31
"""Shades of grey on either side of zero in a tile: more only make the noise of a late NAD harder to compress."""

STEP = 127 // LEVELS
ZERO = 128
"""A value x in [−1, 1] of a tile is the byte ZERO + STEP · round(LEVELS · x), so that 0 is exactly 0."""


@dataclass(frozen=True)
class Embedded:
    """A picture in a page: its data URI, width and height in pixels."""

    source: str
    width: int
    height: int


def data_uri(picture: Image.Image, kind: str, **keywords: Any) -> str:
    """A picture as a data URI; kind: 'PNG' or 'WEBP'."""
    buffer = io.BytesIO()
    picture.save(buffer, kind, **keywords)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"


def figure(path: Path) -> Embedded:
    """A figure that was saved as PNG, every pixel as it is: lossless WebP takes half of the room."""
    with Image.open(path) as picture:
        return Embedded(data_uri(picture.convert("RGB"), "WEBP", lossless=True, method=1, quality=0), *picture.size)


def parity(tiles: np.ndarray, axis: int) -> np.ndarray | None:
    """Whether each tile is odd (else even) under the flip of an axis, bool (K,); None unless every tile is one or the other.

    tiles: (K, C, H, W). NADs are, of networks and estimates that have the symmetry: half of the tile then tells the rest.
    """
    flipped = np.flip(tiles, axis)
    even, odd = (np.abs(tiles - sign * flipped).max((1, 2, 3)) < 1 / LEVELS**2 for sign in (1, -1))
    return odd if (even | odd).all() else None


@dataclass(frozen=True)
class Sprite:
    """Directions as tiles of one picture, which a script unfolds.

    source: its data URI; columns: tiles in a row; odd: for each of the two axes, rows first, a string of 0 (even) and 1 (odd) by
    tile if only the first half of that axis is in the tile, else None.
    """

    source: str
    columns: int
    odd: tuple[str | None, str | None]


def sprite(directions: np.ndarray, shape: tuple[int, int, int]) -> Sprite:
    """Directions (K, D) of the shape (C, H, W), each divided by its largest entry; channels stand one below the other."""
    tiles = directions.reshape(-1, *shape)
    tiles = tiles / np.abs(tiles).max((1, 2, 3), keepdims=True)
    folded = [parity(tiles, axis) for axis in (2, 3)]
    for axis, odd in zip((2, 3), folded):
        if odd is not None:
            tiles = np.take(tiles, np.arange(-(-tiles.shape[axis] // 2)), axis)
    grey = (ZERO + STEP * np.rint(LEVELS * tiles)).astype(np.uint8).reshape(len(tiles), -1, tiles.shape[3])
    columns = math.isqrt(len(grey) - 1) + 1
    rows = -(-len(grey) // columns)
    sheet = np.full((rows * columns, *grey.shape[1:]), ZERO, np.uint8)
    sheet[: len(grey)] = grey
    sheet = sheet.reshape(rows, columns, *grey.shape[1:]).transpose(0, 2, 1, 3)
    picture = Image.fromarray(sheet.reshape(rows * grey.shape[1], columns * grey.shape[2]))
    strings = tuple(None if odd is None else "".join("01"[place] for place in odd.astype(int)) for odd in folded)
    return Sprite(data_uri(picture, "PNG"), columns, strings)


def plain(value: Any) -> Any:
    """A value as JSON has it: arrays as lists, mappings' keys as text, and None for numbers that are not finite."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def script_json(value: Any) -> str:
    """A value as JSON that can stand in a <script>: it holds no <, so that no text in it can end the script."""
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
