"""Photographs on the page, with a class in one NAD or their NADs in reverse order
(paper 1, §5)."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from pipeline.report.nads import NADs
from pipeline.report.run import Evaluated
from pipeline.report.site.data import encoded, sprite
from pipeline.training.pictures import carrier_of

# Photographs that come with scikit-learn, since a page may not carry images of the data
# set.
PHOTOGRAPHS = {"a flower": "flower.jpg", "a temple": "china.jpg"}


def photograph(file: str, height: int, width: int) -> np.ndarray:
    """The middle of one of scikit-learn's photographs, uint8 (3, height, width)."""
    from sklearn.datasets import load_sample_image  # takes a second

    picture = Image.fromarray(load_sample_image(file))
    return np.array(ImageOps.fit(picture, (width, height))).transpose(2, 0, 1)


def pictures(run: Evaluated, nads: NADs, firsts: Iterable[int]) -> dict[str, Any]:
    """The photographs for carriers along NADs, which begin at the indices `firsts`, and
    these NADs.

    Each has its coefficients on the carriers' NADs, in [0, 1] and by channel, and where
    the NADs are a basis its picture with them in reverse order, whose values are
    stretched from 0 to 1.
    """
    directions = nads["directions"]
    shape = tuple(map(int, nads["shape"]))
    carriers = [
        carrier_of(label, 3 // shape[0]) for label in range(len(run.images["classes"]))
    ]
    indices = np.unique([first + offset for first in firsts for offset, *_ in carriers])
    indices = indices[indices < len(directions)]
    photographs = []
    for called, file in PHOTOGRAPHS.items():
        pixels = photograph(file, *shape[1:])
        found = pixels.reshape(-1, directions.shape[1]) / 255 @ directions.T
        coefficients = {int(index): found[:, index].round(4) for index in indices}
        shown = {
            "name": called,
            "pixels": encoded(pixels),
            "coefficients": coefficients,
        }
        if len(directions) == directions.shape[1]:
            turned = found[:, ::-1] @ directions
            turned = (turned - turned.min()) / np.ptp(turned)
            shown["flipped"] = encoded(np.rint(255 * turned).astype(np.uint8))
        photographs.append(shown)
    source, columns = sprite(directions[indices], shape)
    return {
        "shape": (3, *shape[1:]),
        "photographs": photographs,
        "tiles": {
            "shape": shape,
            "sprite": source,
            "columns": columns,
            "indices": indices,
        },
        "size": run.plan.settings.size,
        "classes": [
            [text, *carrier]
            for text, carrier in zip(run.images["classes"], carriers, strict=True)
        ],
    }
