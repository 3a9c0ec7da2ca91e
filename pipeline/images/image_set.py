"""A set of images in two splits, its digest, and the canonical order that makes every copy of it the same."""

import dataclasses

import numpy as np
import PIL.Image

from pipeline.project.contents import images_digest
from pipeline.project.shapes import Input

KNOWN = {"f713c94c8d20633f": "CIFAR-10"}
"""Names of image sets by the first 16 digits of their digest."""


def resized(largest: Input, size: Input) -> str:
    """The notice that images, the largest of so many pixels, were brought to a size; heights come first, but in the sentence."""
    return "images of up to {1}×{0} pixels were resized to {3}×{2}".format(*largest, *size)


@dataclasses.dataclass
class Split:
    """Images uint8 (N, 3, H, W) and class numbers int64 (N,)."""

    images: np.ndarray
    labels: np.ndarray


@dataclasses.dataclass
class ImageSet:
    """A training and a test split with the classes' names and what to call the set; `notices` are for the user."""

    name: str
    source: str
    classes: list
    train: Split
    test: Split
    notices: list = dataclasses.field(default_factory=list)

    def digest(self) -> str:
        """sha256 of classes, pixels and labels: the same for every copy of the same images in canonical order."""
        return images_digest(self.classes, [(split.images, split.labels) for split in (self.train, self.test)])

    def brought_to(self, size: Input) -> "ImageSet":
        """The same images with the given height and width, each stretched by itself where it has others, and a notice of that."""
        before = self.train.images.shape[2:]
        if before == size:
            return self
        splits = [
            Split(np.stack([_stretched(image, size) for image in split.images]), split.labels)
            for split in (self.train, self.test)
        ]
        return ImageSet(self.name, self.source, self.classes, *splits, [*self.notices, resized(before, size)])

    def statistics(self) -> tuple[list[float], list[float]]:
        """Mean and standard deviation of each channel of the training images, values in [0, 1], as lists of three."""
        # Counts of the 256 values are exact, so these numbers are the same on every machine.
        counts = np.array(
            [
                sum(
                    np.bincount(part[:, channel].ravel(), minlength=256)
                    for part in np.array_split(self.train.images, 64)
                )
                for channel in range(3)
            ]
        )
        values = np.arange(256) / 255
        mean = counts @ values / counts.sum(1)
        return mean.tolist(), np.sqrt(counts @ values**2 / counts.sum(1) - mean**2).tolist()


def _stretched(image: np.ndarray, size: Input) -> np.ndarray:
    """An image uint8 (3, H, W) with another height and width."""
    pixels = PIL.Image.fromarray(np.ascontiguousarray(image.transpose(1, 2, 0)))
    return np.asarray(pixels.resize(size[::-1], PIL.Image.Resampling.BILINEAR)).transpose(2, 0, 1)


def canonical(image_set: ImageSet) -> ImageSet:
    """The same images with each split sorted by content, and named if they are a set that is known."""
    for name in ("train", "test"):
        split = getattr(image_set, name)
        flat = split.images.reshape(len(split.images), -1)
        order = sorted(range(len(flat)), key=lambda n: (flat[n].tobytes(), int(split.labels[n])))
        setattr(image_set, name, Split(np.ascontiguousarray(split.images[order]), split.labels[order].astype(np.int64)))
    image_set.name = KNOWN.get(image_set.digest()[:16], image_set.name)
    return image_set
