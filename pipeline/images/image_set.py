"""A set of images in two splits, in the canonical order that makes every copy of it the same."""

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import PIL.Image

from pipeline.cells.shapes import Size
from pipeline.project.errors import InputError

SPLITS = ("train", "test")
KNOWN = {"f713c94c8d20633f": "CIFAR-10"}  # by the first 16 digits of the images' digest


@dataclass
class ImageSet:
    """Images uint8 (N, 3, H, W) and class numbers int64 (N,) of each split, sorted by content.

    source: the origin of the images, in words; notices: sentences on what may be a mistake.
    """

    name: str
    source: str
    classes: list[str]
    images: dict[str, np.ndarray]
    labels: dict[str, np.ndarray]
    notices: list[str]

    def digest(self) -> str:
        """sha256 of classes, pixels and labels: the same for every copy of the same images."""
        state = hashlib.sha256("\n".join(self.classes).encode())
        for split in SPLITS:
            state.update(self.images[split].reshape(-1))
            state.update(self.labels[split].astype("<i8"))
        return state.hexdigest()

    def statistics(self) -> tuple[list[float], list[float]]:
        """Mean and standard deviation of each channel of the training images, in [0, 1].

        A channel that is constant has the deviation 1, so that normalised it is 0.
        """
        # Counts of the 256 values are exact, so these numbers are the same on every machine.
        counts = sum(
            np.array([np.bincount(channel.ravel(), minlength=256) for channel in part])
            for part in np.array_split(self.images["train"].transpose(1, 0, 2, 3), 64, axis=1)
        )
        values = np.arange(256) / 255
        mean = counts @ values / counts.sum(1)
        variance = counts @ values**2 / counts.sum(1) - mean**2
        constant = (counts > 0).sum(1) == 1  # where rounding would leave nearly 0, or less than 0
        mean = np.where(constant, values[counts.argmax(1)], mean)
        return mean.tolist(), np.sqrt(np.where(constant, 1, variance)).tolist()


def image_set(
    name: str,
    source: str,
    pictures: Iterable[tuple[str, str, PIL.Image.Image]],
    size: Size,
    notices: Iterable[str] = (),
) -> ImageSet:
    """The set of pictures (split, class, picture), in RGB and resized to the height and width
    `size`; its name is `name` unless `KNOWN` has another.

    Raises InputError unless both splits hold the same two or more classes, and where all test
    images are training images.
    """
    pixels, labels = {split: [] for split in SPLITS}, {split: [] for split in SPLITS}
    sizes = set()
    for split, label, picture in pictures:
        sizes.add(picture.size)
        rgb = picture.convert("RGB")
        if rgb.size != size[::-1]:
            rgb = rgb.resize(size[::-1], PIL.Image.Resampling.BILINEAR)
        pixels[split].append(np.asarray(rgb).transpose(2, 0, 1).tobytes())
        labels[split].append(label)
    notices = list(notices)
    classes = _same_classes(labels, source, notices)
    shared = len(set(pixels["train"]).intersection(pixels["test"]))
    if shared == len(set(pixels["test"])):
        raise InputError(
            f"{source}: every test image is a training image too, so that accuracies on them would "
            "say nothing; put other images into test/"
        )
    if sizes != {size[::-1]}:
        largest = "×".join(map(str, max(sizes, key=math.prod)))
        notices.append(f"images of up to {largest} pixels were resized to {size[1]}×{size[0]}")
    if shared:
        notices.append(f"images of test/ that are in train/ too: {shared}")
    images = ImageSet(name, source, classes, {}, {}, notices)
    for split in SPLITS:
        numbers = np.searchsorted(classes, labels[split]).tolist()
        contents, ordered = zip(*sorted(zip(pixels[split], numbers)))
        images.images[split] = np.frombuffer(b"".join(contents), np.uint8).reshape(-1, 3, *size)
        images.labels[split] = np.array(ordered, np.int64)
    for colour, channel in zip(("red", "green", "blue"), images.images["train"].swapaxes(0, 1)):
        if channel.min() == channel.max():
            notices.append(
                f"{colour} is {channel.min()} in every pixel of the training images, where "
                "networks get 0 in its place"
            )
    images.name = KNOWN.get(images.digest()[:16], name)
    return images


def _same_classes(labels: dict[str, list[str]], source: str, notices: list[str]) -> list[str]:
    train, test = (set(labels[split]) for split in SPLITS)
    if min(len(train), len(test)) < 2:
        raise InputError(
            f"{source}: train/ holds images of {len(train)} class(es), test/ of {len(test)}; at "
            "least two are needed, as train/<class>/* and test/<class>/*"
            + "".join(f" ({notice})" for notice in notices)
        )
    if train != test:
        raise InputError(
            f"{source}: train/ and test/ do not hold the same classes "
            f"({', '.join(sorted(train ^ test))}: in one of them only); add or remove folders"
        )
    return sorted(train)
