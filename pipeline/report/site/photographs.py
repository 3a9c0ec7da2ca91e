"""Photographs on the page, with a class in one NAD or their NADs in reverse order
(paper 1, §5)."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from pipeline.nads import NADs
from pipeline.report.run import Record
from pipeline.report.site.data import encode, make_sprite
from pipeline.training.pictures import carrier_of

PHOTOGRAPHS = {"a flower": "flower.jpg", "a temple": "china.jpg"}
"""Photographs of scikit-learn, since the page may not carry images of the data set."""


def load_photograph(file: str, height: int, width: int) -> np.ndarray:
    """Load the middle of one of scikit-learn's photographs.

    Args:
        file: Name of its file.
        height: Height H in pixels.
        width: Width W in pixels.

    Returns:
        The photograph, uint8, (3, H, W).
    """
    from sklearn.datasets import load_sample_image  # takes a second

    picture = Image.fromarray(load_sample_image(file))
    return np.array(ImageOps.fit(picture, (width, height))).transpose(2, 0, 1)


def make_pictures(
    record: Record, nads: NADs, first_indices: Iterable[int]
) -> dict[str, Any]:
    """Make the photographs for carriers along NADs, and the tiles of these NADs.

    Args:
        record: The run of `poison`.
        nads: The NADs.
        first_indices: Indices of first carriers, one for each point of the curve.

    Returns:
        Values for the page's script. A photograph has its coefficients on the carriers'
        NADs, of pixels in [0, 1] and by channel. If the NADs are a basis, it also has
        the photograph with its coefficients in reverse order, stretched from 0 to 1.
    """
    directions = nads.directions
    channels, height, width = nads.shape
    classes = record.images["classes"]
    carriers = [carrier_of(number, 3 // channels) for number in range(len(classes))]
    offsets = {offset for offset, *_ in carriers}
    indices = np.unique([first + n for first in first_indices for n in offsets])
    indices = indices[indices < len(directions)]
    photographs = []
    for name, file in PHOTOGRAPHS.items():
        pixels = load_photograph(file, height, width)
        coefficients = pixels.reshape(-1, directions.shape[1]) / 255 @ directions.T
        photograph = {
            "name": name,
            "pixels": encode(pixels),
            "coefficients": {
                int(index): coefficients[:, index].round(4) for index in indices
            },
        }
        if len(directions) == directions.shape[1]:
            flipped = coefficients[:, ::-1] @ directions
            flipped = (flipped - flipped.min()) / np.ptp(flipped)
            photograph["flipped"] = encode(np.rint(255 * flipped).astype(np.uint8))
        photographs.append(photograph)
    shape = (channels, height, width)
    sprite, columns = make_sprite(directions[indices], shape)
    return {
        "shape": (3, height, width),
        "photographs": photographs,
        "tiles": {
            "shape": shape,
            "sprite": sprite,
            "columns": columns,
            "indices": indices,
        },
        "size": record.plan.settings.size,
        "classes": [
            [name, *carrier] for name, carrier in zip(classes, carriers, strict=True)
        ],
    }
