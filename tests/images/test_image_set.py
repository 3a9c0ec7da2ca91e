"""The canonical order of a set of images, its digest and statistics; CIFAR-10 where the environment
variable of that name leads to a copy."""

import hashlib
import os

import numpy as np
import PIL.Image
import pytest
import torch

from pipeline.cells.pictures import in_unit_range, normalised
from pipeline.experiments.learning import Learning
from pipeline.images.image_set import KNOWN, image_set
from pipeline.images.sources import digits, read


def shade(split, name, value, size=(32, 32), mode="RGB"):
    """A picture of one grey value, with the split and the class that it belongs to."""
    return split, name, PIL.Image.new("L", size, value).convert(mode)


FOUR = [
    shade("train", "b", 3),
    shade("test", "a", 2),
    shade("train", "a", 7),
    shade("test", "b", 0),
]


def test_each_split_is_sorted_by_content_and_the_digest_is_of_classes_pixels_and_labels():
    for pictures in (FOUR, FOUR[::-1]):
        images = image_set("x", "somewhere", pictures, (32, 32))
        assert images.classes == ["a", "b"]
        assert images.images["train"].shape == (2, 3, 32, 32)
        assert images.images["train"][:, 2, 5, 6].tolist() == [3, 7]
        assert images.labels["train"].tolist() == [1, 0]
        assert images.images["test"][:, 0, 0, 0].tolist() == [0, 2]
        assert images.labels["test"].tolist() == [1, 0]
        labels = np.array([1, 0], "<i8").tobytes()
        text = b"a\nb" + bytes([3] * 3072 + [7] * 3072) + labels
        text += bytes([0] * 3072 + [2] * 3072) + labels
        assert images.digest() == hashlib.sha256(text).hexdigest()
        assert (images.name, images.source, images.notices) == ("x", "somewhere", [])


def test_other_sizes_are_resized_with_a_notice():
    halves = np.repeat(np.array([[9, 200]], np.uint8), 12, 1).repeat(18, 0)
    pictures = [*FOUR, ("train", "a", PIL.Image.fromarray(halves)), shade("test", "b", 8, (64, 48))]
    images = image_set("x", "", pictures, (48, 64))
    assert images.images["train"].shape == (3, 3, 48, 64)
    assert images.images["train"][:, 0, :, 4].tolist() == [[3] * 48, [7] * 48, [9] * 48]
    assert images.images["train"][:, 0, 40, 60].tolist() == [3, 7, 200]
    assert images.notices == ["images of up to 64×48 pixels were resized to 64×48"]


def test_a_known_set_has_its_name_and_images_that_occur_twice_are_in_order_and_said(monkeypatch):
    digest = image_set("x", "", FOUR, (32, 32)).digest()
    monkeypatch.setitem(KNOWN, digest[:16], "Greys")
    assert image_set("x", "", FOUR, (32, 32)).name == "Greys"
    twice = [*FOUR, shade("train", "a", 3), shade("test", "a", 7)]
    images = image_set("x", "", twice, (32, 32))
    assert images.labels["train"].tolist() == [0, 1, 0], "equal images in the order of classes"
    assert (images.name, images.notices) == ("x", ["images of test/ that are in train/ too: 1"])


def test_a_constant_channel_is_0_whatever_its_value_with_a_notice():
    pixels = np.random.default_rng(0).integers(0, 256, (8, 4, 5, 3), np.uint8)
    for value in range(256):
        pixels[..., 1] = value
        places = [(split, label) for split in ("train", "test") for label in "abab"]
        pictures = [(*each, PIL.Image.fromarray(rgb)) for each, rgb in zip(places, pixels)]
        images = image_set("x", "", pictures, (4, 5))
        draw = dict(zip(("mean", "deviation"), images.statistics()))
        draw |= {"train_pictures": images.images["train"].copy(), "train_labels": np.ones(4)}
        x = normalised(in_unit_range(draw["train_pictures"]), draw)
        assert not x[:, 1].any()
        assert x[:, ::2].std((0, 2, 3), correction=0).tolist() == pytest.approx([1, 1])
        (said,) = images.notices
        assert said.startswith(f"green is {value} in every pixel of the training images, wh")
        grey, _ = Learning().dataset({"data": "images"}, "train", draw, [])
        torch.testing.assert_close(3 * grey, x[:, :1] + x[:, 2:])


def test_the_digits_are_the_same_everywhere():
    images = digits()
    assert images.images["train"].shape == (1497, 3, 32, 32) and len(images.labels["test"]) == 300
    assert images.digest() == "b14e4de9ea03e7b90762586b6dc963ec8adfb4e3ac69c9b50dcfe366a5c4ab11"


@pytest.mark.slow
@pytest.mark.skipif("CIFAR10" not in os.environ, reason="CIFAR10 names no copy of CIFAR-10")
def test_a_copy_of_cifar10_is_recognised():
    images = read(os.environ["CIFAR10"])
    assert images.name == "CIFAR-10" and images.classes[::9] == ["airplane", "truck"]
    assert np.bincount(images.labels["train"]).tolist() == [5000] * 10
    assert np.bincount(images.labels["test"]).tolist() == [1000] * 10
    # The channel means and deviations that the literature normalises CIFAR-10 with.
    mean, deviation = images.statistics()
    np.testing.assert_allclose(mean, [0.4914, 0.4822, 0.4465], atol=5e-5)
    np.testing.assert_allclose(deviation, [0.2470, 0.2435, 0.2616], atol=5e-5)
