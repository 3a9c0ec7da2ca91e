"""What the article's figures show where no script runs, and what its pickers offer."""

import base64
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from markupsafe import Markup
from PIL import Image

from pipeline import nads
from pipeline.report import style
from pipeline.report.numbers import format_number
from pipeline.report.page import Section
from pipeline.report.site.data import data_uri
from pipeline.report.site.document import Runs, shorten
from pipeline.training.fourier import fourier

LOWEST = 0.45
"""The accuracy at the lower edge of a plot; the upper edge is 102 %."""

Choice = tuple[str, str, str]
"""A run, the name of a network in its explorer, and the picker's words for it."""

MEASURED: Mapping[str, Sequence[Choice]] = {
    "fourier": [
        ("resnet18_quarter", "ResNet-18 ¼", "ResNet-18, ¼ width"),
        ("lenet", "LeNet", "LeNet"),
        ("vgg11_quarter", "VGG-11 ¼", "VGG-11, ¼ width"),
        ("logreg", "LogReg", "linear classifier"),
    ],
    "nad_sweep": [
        ("adamw_lenet_fitted", "LeNet, AdamW", "LeNet with AdamW"),
        ("lenet_momentum", "LeNet", "LeNet, long training"),
        (
            "resnet18_authors",
            "ResNet-18, NADs of own/ResNet18_NADs.npy",
            "ResNet-18",
        ),
        ("vgg11_authors", "VGG-11, NADs of own/VGG11_NADs.npy", "VGG-11"),
    ],
    "poison": [
        ("resnet18_quarter", "ResNet-18 ¼", "ResNet-18, ¼ width"),
        ("lenet", "LeNet", "LeNet"),
    ],
    "linear_pairs": [
        ("lenet_and_mlp", "LeNet", "LeNet"),
        ("resnet18_quarter", "ResNet-18 ¼", "ResNet-18, ¼ width"),
        ("lenet_and_mlp", "MLP (100, 20)", "MLP"),
        ("adamw", "ConvNeXt, AdamW", "ConvNeXt with AdamW"),
    ],
}
"""What the pickers offer, by experiment."""

GROUPS: Mapping[str, Mapping[str, Sequence[Choice]]] = {
    "fourier": {
        "variants": [
            ("lenet_unpooled", "LeNet without pooling", "LeNet without pooling"),
        ],
        "published": [
            ("lenet", "LeNet, published", "LeNet, published"),
            ("resnet18_quarter", "ResNet-18, published", "ResNet-18, published"),
            ("vgg11_quarter", "VGG-11, published", "VGG-11, published"),
        ],
    },
    "nad_sweep": {
        "variants": [
            ("lenet_as_published", "LeNet", "LeNet, the papers’ training"),
            ("lenet_strided", "LeNet with strides", "LeNet with strides"),
        ],
    },
    "linear_pairs": {
        "published": [
            ("resnet18_quarter", "ResNet-18, published", "ResNet-18, published"),
        ],
    },
}
"""What further groups of a picker offer, by experiment and heading."""

NADS = ("lenet", "vgg11", "resnet18", "densenet121", "convnext")

POOLS = {"LeNet": 2, "LeNet, published": 2}
"""How often these networks take the largest of 2×2 pixels."""


def choose(
    sections: Sequence[Section], choices: Iterable[Choice]
) -> Iterator[dict[str, Any]]:
    """The networks that a picker offers, with its words as their names.

    Raises:
        KeyError: A run is missing.
        StopIteration: A run does not have the network.
    """
    by_run = {Path(section.record.folder).name: section for section in sections}
    for run, name, words in choices:
        offered = by_run[run].explorer
        network = next(n for n in offered if shorten(n["name"]) == name)
        yield {**network, "name": words}


def collect(runs: Runs) -> dict[str, dict[str, Any]]:
    """The data of the article's explorers by their names.

    Args:
        runs: The sections of all kept runs.
    """
    explorers = {}
    names = {"nad_sweep": "sweep", "poison": "photographs", "linear_pairs": "pairs"}
    for experiment, choices in MEASURED.items():
        networks = list(choose(runs[experiment], choices))
        for group, further in GROUPS.get(experiment, {}).items():
            for network in choose(runs[experiment], further):
                networks.append({**network, "group": group})
        for network in networks:
            network["pools"] = POOLS.get(network["name"], 0)
        name = names.get(experiment, experiment)
        explorers[name] = {network["name"]: network for network in networks}
    for network in explorers["pairs"].values():
        network["cells"] = {
            pair: {key: value for key, value in cell.items() if key != "plane"}
            for pair, cell in network["cells"].items()
        }
    explorers["fourier"]["ResNet-18, ¼ width"]["start"] = [6, 6]
    explorers["sweep"]["LeNet with AdamW"]["start"] = 1000
    known = {network["key"]: network for network in runs["nads"][0].explorer}
    explorers["nads"] = {key: known[key] for key in NADS}
    return explorers


def place(index: int, last: int) -> float:
    """Where a NAD index is on the logarithmic axis of a plot, in per cent."""
    return round(100 * math.log(index + 1) / math.log(last + 1), 2)


def height(accuracy: float) -> float:
    """Where an accuracy is in a plot, in per cent from the top."""
    return round(100 * (1.02 - max(accuracy, LOWEST)) / (1.02 - LOWEST), 2)


def colour_of(accuracy: float) -> str:
    """The colour of an accuracy in maps, from chance on."""
    shade = matplotlib.colormaps[style.ACCURACY](2 * accuracy - 1)
    return matplotlib.colors.to_hex(shade)


def squares(
    cells: Mapping[str, Sequence[Any]],
) -> Iterator[tuple[str, int, int, int, str]]:
    """The squares of a map over frequency: 'k_row,k_col', x, y, side and colour.

    Args:
        cells: Accuracies by 'k_row,k_col'; each k is from −16 to 16.
    """
    places = {key: [int(part) for part in key.split(",")] for key in cells}
    rows = sorted({row for row, _ in places.values()})
    side = rows[1] - rows[0]
    for key, (row, column) in places.items():
        x = column + 16 - side // 2
        y = row + 16 - side // 2
        yield key, x, y, side, colour_of(cells[key][0])


def line(points: Iterable[Sequence[Any]], look: str, thin: bool) -> dict[str, Any]:
    """A line of a plot: [index, accuracy, fitted] in order of the index."""
    ordered = sorted(points, key=lambda point: point[0])
    return {"points": ordered, "look": f"{look} thin" if thin else look, "thin": thin}


def two_lines(
    thick: Iterable[Sequence[Any]], thin: Iterable[Sequence[Any]]
) -> list[dict[str, Any]]:
    """Two lines of one network: the thin one below, without dots."""
    return [line(thin, "ours", True), line(thick, "ours", False)]


def cells_of(network: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The lines of a network along NADs: test and training accuracy."""
    cells = network["cells"].items()
    test = [(int(n), cell[0], cell[2] == cell[3]) for n, cell in cells]
    training = [(int(n), cell[4], True) for n, cell in cells]
    return two_lines(test, training)


def lines_of(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The lines of the CNN that trains in a browser, from measured.json."""
    test = [(row["index"], row["test"][0], True) for row in rows]
    training = [(row["index"], row["train"][0], True) for row in rows]
    return two_lines(test, training)


def lazy_lines(cells: Mapping[int, Mapping[str, float]]) -> list[dict[str, Any]]:
    """The lines of `read_lazy`: only the pattern, and only the photograph."""
    pattern = [(index, cell["linear"], True) for index, cell in cells.items()]
    photograph = [(index, cell["images"], True) for index, cell in cells.items()]
    return two_lines(pattern, photograph)


def read_lazy(rows: Iterable[Mapping[str, Any]]) -> dict[int, dict[str, float]]:
    """Accuracies by NAD index and channels, from a summary of `image_pairs`."""
    cells: dict[int, dict[str, float]] = {}
    for row in rows:
        cells.setdefault(row["index"], {})[row["test_set"]] = row["mean"]
    return cells


def changed(network: Mapping[str, Any]) -> float:
    """How much carrying its class changes the first photograph: root mean square of 255
    grey levels.

    The class is the first, and its carrier the first one.
    """
    pictures = network["pictures"]
    photograph = pictures["photographs"][0]
    _, offset, channel, sign = pictures["classes"][0]
    coefficient = photograph["coefficients"][offset][channel]
    size = len(base64.b64decode(photograph["pixels"]))
    return 255 * abs(sign * pictures["size"] - coefficient) / math.sqrt(size)


def percent(part: float, digits: int = 1) -> str:
    """A part in per cent, with a space at which no line breaks."""
    return f"{format_number(100 * part, digits)}\N{NO-BREAK SPACE}%"


def at_least(part: float, digits: int = 1) -> str:
    """A part in per cent, rounded down: a bound that rounding cannot make false."""
    step = 10**digits
    # A float such as 0.997 · 1000 may be slightly below a whole number.
    return percent(math.floor(100 * part * step + 1e-9) / step / 100, digits)


def at_most(part: float, digits: int = 1) -> str:
    """A part in per cent, rounded up."""
    step = 10**digits
    return percent(math.ceil(100 * part * step - 1e-9) / step / 100, digits)


def by_images(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Accuracies by kind of images, from a summary of `flip`."""
    return {row["images"]: row["mean"] for row in rows if row["test_set"] == "all"}


def signs_share(rows: Iterable[Mapping[str, Any]]) -> float:
    """What random signs cost, as a part of what the reversed order costs."""
    accuracy = by_images(rows)
    plain = accuracy["plain"]
    return (plain - accuracy["signs"]) / (plain - accuracy["flipped"])


def draw_grey(values: np.ndarray) -> Image.Image:
    """Draw a direction (H, W): zero is grey."""
    grey = np.rint(127.5 * (1 + values / np.abs(values).max())).astype(np.uint8)
    return Image.fromarray(grey)


def wave(row: int, column: int) -> str:
    """A Fourier direction of 32×32 pixels as a data URI, of four times its size."""
    picture = draw_grey(fourier(row, column).reshape(32, 32))
    return data_uri(picture.resize((128, 128), Image.Resampling.NEAREST))


def read_direction(file: Path, name: str) -> str:
    """A direction of 32×32 pixels in a file of `studies.controversial`, as a data URI.

    Args:
        file: The file.
        name: The direction's name in it.
    """
    with np.load(file) as directions:
        return data_uri(draw_grey(directions[name].reshape(32, 32)))


def tiles(name: str, indices: Sequence[int]) -> Markup:
    """NADs of a network as small pictures, for readers without scripts.

    Args:
        name: Of `pipeline.nads.load`.
        indices: The NADs.
    """
    estimate = nads.load(name)
    _, height, width = estimate.shape
    figures = []
    for index in indices:
        picture = draw_grey(estimate.directions[index].reshape(height, width))
        image = f'<img src="{data_uri(picture)}" width="96" height="96"'
        figures.append(
            f'<figure class="tile">{image} alt="NAD {index} of {name} in pixels">'
            f"<figcaption>NAD {index}</figcaption></figure>"
        )
    return Markup(f'<div class="tiles strip">{"".join(figures)}</div>')
