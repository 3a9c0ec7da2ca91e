"""Pictures and data inside a page: what is put in comes out again."""

import base64
import io
import json

import numpy as np
import pytest
from PIL import Image

from pipeline.report.site.embedded import LEVELS, STEP, ZERO, figure, parity, plain, script_json, sprite


def opened(source):
    kind, _, text = source.partition(";base64,")
    picture = Image.open(io.BytesIO(base64.b64decode(text)))
    assert kind == f"data:image/{picture.format.lower()}"
    return np.asarray(picture)


def test_a_figure_is_inside_pixel_by_pixel(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (30, 50, 3), np.uint8)
    Image.fromarray(np.dstack([pixels, np.full((30, 50), 255, np.uint8)])).save(tmp_path / "a.png")
    found = figure(tmp_path / "a.png")
    assert (found.width, found.height) == (50, 30) and (opened(found.source) == pixels).all()


def unfolded(found, shape, place):
    """One direction from its tile, as the page's script reads it."""
    sheet, channels = opened(found.source), shape[0]
    kept = [side if odd is None else -(-side // 2) for side, odd in zip(shape[1:], found.odd)]
    top, left = place // found.columns * kept[0] * channels, place % found.columns * kept[1]
    tile = sheet[top : top + channels * kept[0], left : left + kept[1]].reshape(channels, *kept)
    values = (tile.astype(float) - ZERO) / (LEVELS * STEP)
    for axis, (side, odd) in enumerate(zip(shape[1:], found.odd), 1):
        if odd is not None:
            half = np.flip(np.take(values, np.arange(side // 2), axis), axis)
            values = np.concatenate([values, half * (-1 if odd[place] == "1" else 1)], axis)
    return values


def basis(side, kind):
    """Directions along one axis: cosines, which are even or odd; of kind 'mixed' none of them is."""
    waves = np.cos(np.pi * np.outer(np.arange(side) + 0.5, np.arange(side)) / side)
    return waves.T if kind == "waves" else waves.T + 0.3 * np.roll(waves.T, 1, 0)


@pytest.mark.parametrize("rows", ["waves", "mixed"])
@pytest.mark.parametrize("columns", ["waves", "mixed"])
@pytest.mark.parametrize("shape", [(1, 6, 8), (1, 5, 7), (3, 4, 4)])
def test_a_sprite_holds_every_direction(rows, columns, shape):
    waves = np.einsum("ir,jc->ijrc", basis(shape[1], rows), basis(shape[2], columns)).reshape(-1, *shape[1:])
    directions = np.stack([(0.5 + channel) * waves for channel in range(shape[0])], 1)
    found = sprite(directions.reshape(len(directions), -1), shape)
    assert [odd is not None for odd in found.odd] == [rows == "waves", columns == "waves"]
    for place, direction in enumerate(directions):
        expected = direction / np.abs(direction).max()
        assert np.abs(unfolded(found, shape, place) - expected).max() <= 0.5 / LEVELS + 1e-9


def test_zero_is_exactly_zero():
    found = sprite(np.array([[0.0, 0.5, 0.0, -1.0]]), (1, 2, 2))
    assert opened(found.source).tolist() == [[ZERO, ZERO + 16 * STEP], [ZERO, ZERO - LEVELS * STEP]]


def test_tiles_are_even_or_odd_or_neither():
    even, odd = np.array([[1.0, 2, 1]]), np.array([[1.0, 0, -1]])
    assert parity(np.stack([even, odd])[:, None], 3).tolist() == [False, True]
    assert parity(np.stack([even, even + odd])[:, None], 3) is None


def test_data_are_json_that_ends_no_script():
    value = {
        1: np.float64("nan"),
        "a": [np.int64(3), float("inf"), 0.5, None, True],
        "b": np.eye(2),
        "</script>": "<!-- \u2028",
    }
    text = script_json(value)
    assert "<" not in text and "\u2028" not in text
    expected = {"1": None, "a": [3, None, 0.5, None, True], "b": [[1.0, 0.0], [0.0, 1.0]], "</script>": "<!-- \u2028"}
    assert json.loads(text) == expected == plain(value)
