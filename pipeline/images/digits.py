"""Handwritten digits, which stand in where CIFAR-10 cannot be had."""

import numpy as np
import PIL.Image

from pipeline.images.image_set import ImageSet, Split
from pipeline.project.shapes import SIDE


def digits() -> ImageSet:
    """scikit-learn's 1,797 handwritten digits, 8×8 grey, enlarged to 3×32×32; every sixth is a test image."""
    from sklearn.datasets import load_digits  # takes a second to import; needed without CIFAR-10 only

    bunch = load_digits()
    grey = np.rint(bunch.images * (255 / 16)).astype(np.uint8)
    pixels = np.stack(
        [np.asarray(PIL.Image.fromarray(g).resize((SIDE, SIDE), PIL.Image.Resampling.BICUBIC)) for g in grey]
    )
    pixels = np.repeat(pixels[:, None], 3, 1)
    test = np.arange(len(pixels)) % 6 == 0
    return ImageSet(
        "handwritten digits (not CIFAR-10)",
        "scikit-learn's embedded digits",
        [str(n) for n in range(10)],
        Split(pixels[~test], bunch.target[~test]),
        Split(pixels[test], bunch.target[test]),
    )
