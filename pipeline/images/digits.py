"""Handwritten digits, which replace CIFAR-10 where it cannot be fetched."""

from collections.abc import Iterator

import numpy as np
import PIL.Image

from pipeline.cells.shapes import SIDE, SIZE, Size
from pipeline.images.image_set import ImageSet, image_set


def digits(size: Size = SIZE) -> ImageSet:
    """scikit-learn's 1,797 handwritten digits, 8×8 grey, enlarged to 32×32 and then to `size`.

    Every sixth is a test image.
    """
    name = "handwritten digits (not CIFAR-10)"
    return image_set(name, "scikit-learn's embedded digits", _pictures(), size)


def _pictures() -> Iterator[tuple[str, str, PIL.Image.Image]]:
    from sklearn.datasets import load_digits  # takes a second; needed without CIFAR-10 only

    bunch = load_digits()
    for place, (grey, digit) in enumerate(zip(bunch.images, bunch.target)):
        picture = PIL.Image.fromarray(np.rint(grey * (255 / 16)).astype(np.uint8))
        enlarged = picture.resize((SIDE, SIDE), PIL.Image.Resampling.BICUBIC)
        yield "train" if place % 6 else "test", str(digit), enlarged
