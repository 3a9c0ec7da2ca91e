"""A set of images in a canonical order: every copy of the set gives the same arrays."""

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import PIL.Image

from pipeline.project.errors import InputError
from pipeline.training.shapes import Size

SPLITS = ("train", "test")
KNOWN = {"f713c94c8d20633f": "CIFAR-10"}
"""Names of sets by the first 16 digits of their digest."""


@dataclass
class ImageSet:
    """Images and labels of two splits, sorted by content.

    Attributes:
        name: Name of the set.
        source: Origin of the images, in words.
        classes: Class names. A label is a position in this list.
        images: uint8 (N, 3, H, W) for each split.
        labels: int64 (N,) for each split.
        notices: Sentences about possible mistakes.
    """

    name: str
    source: str
    classes: list[str]
    images: dict[str, np.ndarray]
    labels: dict[str, np.ndarray]
    notices: list[str]

    def digest(self) -> str:
        """Compute the sha256 of classes, pixels and labels."""
        state = hashlib.sha256("\n".join(self.classes).encode())
        for split in SPLITS:
            state.update(self.images[split].reshape(-1))
            state.update(self.labels[split].astype("<i8"))
        return state.hexdigest()

    def statistics(self) -> tuple[list[float], list[float]]:
        """Compute mean and standard deviation of each channel of the training images.

        Returns:
            The three means and the three deviations of values in [0, 1]. A constant
            channel has deviation 1, so that it is 0 after normalisation.
        """
        # Counts of the 256 values are exact, so every machine gives the same result.
        counts = np.zeros((3, 256), np.int64)
        for image in self.images["train"]:
            for channel in range(3):
                counts[channel] += np.bincount(image[channel].ravel(), minlength=256)
        values = np.arange(256) / 255
        mean = counts @ values / counts.sum(1)
        variance = counts @ values**2 / counts.sum(1) - mean**2
        # Rounding would leave a variance just above or below 0.
        constant = (counts > 0).sum(1) == 1
        variance = np.where(constant, 1, variance)
        return mean.tolist(), np.sqrt(variance).tolist()


def make_image_set(
    name: str,
    source: str,
    pictures: Iterable[tuple[str, str, PIL.Image.Image]],
    size: Size,
    notices: Iterable[str] = (),
) -> ImageSet:
    """Put pictures into the canonical order.

    Args:
        name: Name of the set, unless `KNOWN` has a name for these images.
        source: Origin of the images, in words.
        pictures: Split, class name and picture, in any order.
        size: Height and width to which the pictures are resized.
        notices: Notices about the source.

    Returns:
        The images in RGB, sorted by content.

    Raises:
        InputError: The splits do not have the same two or more classes, or every test
            image is a training image.
    """
    notices = list(notices)
    pixels = {split: [] for split in SPLITS}
    names = {split: [] for split in SPLITS}
    sizes = set()
    for split, label, picture in pictures:
        sizes.add(picture.size)
        pixels[split].append(_pixels(picture, size))
        names[split].append(label)
    classes = _classes(names, source, notices)
    if sizes != {size[::-1]}:
        width, height = max(sizes, key=math.prod)
        notices.append(
            f"images of up to {width}×{height} pixels were resized to "
            f"{size[1]}×{size[0]}"
        )
    _check_splits(pixels, source, notices)
    images = {}
    labels = {}
    number_of = {name: number for number, name in enumerate(classes)}
    for split in SPLITS:
        numbers = [number_of[name] for name in names[split]]
        # Equal images are in the order of their classes.
        pairs = sorted(zip(pixels[split], numbers, strict=True))
        content = b"".join(values for values, _ in pairs)
        images[split] = np.frombuffer(content, np.uint8).reshape(-1, 3, *size)
        labels[split] = np.array([number for _, number in pairs], np.int64)
    for channel, colour in enumerate(("red", "green", "blue")):
        values = images["train"][:, channel]
        if values.min() == values.max():
            notices.append(
                f"{colour} is {values.min()} in every pixel of the training images; "
                "networks receive 0 instead"
            )
    image_set = ImageSet(name, source, classes, images, labels, notices)
    image_set.name = KNOWN.get(image_set.digest()[:16], name)
    return image_set


def _pixels(picture: PIL.Image.Image, size: Size) -> bytes:
    """Return the bytes of a picture as an array (3, H, W)."""
    rgb = picture.convert("RGB")
    if rgb.size != size[::-1]:
        rgb = rgb.resize(size[::-1], PIL.Image.Resampling.BILINEAR)
    return np.asarray(rgb).transpose(2, 0, 1).tobytes()


def _classes(names: dict[str, list[str]], source: str, notices: list[str]) -> list[str]:
    """Return the class names of both splits in the order of the labels."""
    train = set(names["train"])
    test = set(names["test"])
    if len(train) < 2 or len(test) < 2:
        reasons = "".join(f" ({notice})" for notice in notices)
        raise InputError(
            f"{source}: train/ has images of {len(train)} class(es) and test/ of "
            f"{len(test)}; put images of two or more classes into train/<class>/ and "
            f"test/<class>/{reasons}",
            "images",
            classes=(len(train), len(test)),
        )
    if train != test:
        some = ", ".join(sorted(train ^ test)[:5])
        raise InputError(
            f"{source}: train/ and test/ have different classes, such as {some}; add "
            "or remove class folders",
            "images",
            differing=sorted(train ^ test),
        )
    as_text = sorted(train)
    if not all(name.isdecimal() for name in as_text):
        return as_text
    by_value = sorted(as_text, key=int)
    if by_value != as_text:
        notices.append(
            "the class names are numbers and are sorted by value; torchvision's "
            "ImageFolder sorts them as text, with 10 before 2; for a network trained "
            "with that order, put a letter before the number in each folder's name"
        )
    return by_value


def _check_splits(
    pixels: dict[str, list[bytes]],
    source: str,
    notices: list[str],
) -> None:
    """Refuse test images that are all training images, and note the shared ones."""
    test = set(pixels["test"])
    shared = test.intersection(pixels["train"])
    if shared == test:
        raise InputError(
            f"{source}: every test image is a training image, so test accuracy would "
            "say nothing; put other images into test/",
            "images",
            shared=len(shared),
        )
    if shared:
        notices.append(f"images of test/ that are in train/ too: {len(shared)}")
