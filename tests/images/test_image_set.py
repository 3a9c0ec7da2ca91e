"""The canonical order of a set of images, its digest and its statistics."""

import hashlib
import os

import numpy as np
import PIL.Image
import pytest
import torch

from pipeline.experiments.learning import Learning
from pipeline.images.image_set import KNOWN, make_image_set
from pipeline.images.sources import read, read_digits
from pipeline.training.pictures import in_unit_range, normalise


def shade(split, name, value, size=(32, 32)):
    """Make a picture of one grey value, with its split and class."""
    return split, name, PIL.Image.new("L", size, value).convert("RGB")


FOUR = [
    shade("train", "b", 3),
    shade("test", "a", 2),
    shade("train", "a", 7),
    shade("test", "b", 0),
]


@pytest.mark.parametrize("pictures", [FOUR, FOUR[::-1]])
def test_each_split_is_sorted_by_content_and_the_digest_covers_everything(pictures):
    images = make_image_set("x", "somewhere", pictures, (32, 32))
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
    assert (images.name, images.source) == ("x", "somewhere")


@pytest.mark.parametrize(
    ("names", "classes", "notices"),
    [
        (("10", "9", "0"), ["0", "9", "10"], 1),
        (("2", "1", "0"), ["0", "1", "2"], 0),
        (("010", "009", "000"), ["000", "009", "010"], 0),
        (("10", "9", "cat"), ["10", "9", "cat"], 0),
        (("c10", "c9", "c0"), ["c0", "c10", "c9"], 0),
    ],
)
def test_classes_named_by_numbers_are_sorted_by_value(names, classes, notices):
    pictures = []
    for value, name in enumerate(names):
        pictures.append(shade("train", name, value))
        pictures.append(shade("test", name, 100 + value))
    images = make_image_set("x", "", pictures, (32, 32))
    assert images.classes == classes
    for split in ("train", "test"):
        found = [classes[label] for label in images.labels[split]]
        assert found == list(names)
    # Every picture is grey, but no channel is constant.
    assert len(images.notices) == notices


def test_other_sizes_are_resized_with_a_notice():
    halves = np.repeat(np.array([[9, 200]], np.uint8), 12, 1).repeat(18, 0)
    small = ("train", "a", PIL.Image.fromarray(halves))
    large = shade("test", "b", 8, (64, 48))
    images = make_image_set("x", "", [*FOUR, small, large], (48, 64))
    assert images.images["train"].shape == (3, 3, 48, 64)
    assert images.images["train"][:, 0, :, 4].tolist() == [[3] * 48, [7] * 48, [9] * 48]
    assert images.images["train"][:, 0, 40, 60].tolist() == [3, 7, 200]
    assert len(images.notices) == 1


def test_a_known_set_has_its_name(monkeypatch):
    digest = make_image_set("x", "", FOUR, (32, 32)).digest()
    monkeypatch.setitem(KNOWN, digest[:16], "Greys")
    assert make_image_set("x", "", FOUR, (32, 32)).name == "Greys"


def test_equal_images_are_in_the_order_of_classes_and_shared_ones_get_a_notice():
    twice = [*FOUR, shade("train", "a", 3), shade("test", "a", 7)]
    images = make_image_set("x", "", twice, (32, 32))
    assert images.labels["train"].tolist() == [0, 1, 0]
    assert len(images.notices) == 1


@pytest.mark.parametrize("value", [0, 7, 62, 112, 223, 251, 255])
def test_a_constant_channel_is_0_after_normalisation_with_a_notice(value):
    pixels = np.random.default_rng(0).integers(0, 256, (8, 4, 5, 3), np.uint8)
    pixels[..., 1] = value
    pictures = []
    for number, rgb in enumerate(pixels):
        split = "train" if number < 4 else "test"
        pictures.append((split, "ab"[number % 2], PIL.Image.fromarray(rgb)))
    images = make_image_set("x", "", pictures, (4, 5))
    mean, deviation = images.statistics()
    draw = {"mean": mean, "deviation": deviation}
    draw["train_pictures"] = images.images["train"].copy()
    draw["train_labels"] = np.ones(4)
    x = normalise(in_unit_range(draw["train_pictures"]), draw)
    assert not x[:, 1].any()
    assert x[:, ::2].std((0, 2, 3), correction=0).tolist() == pytest.approx([1, 1])
    assert len(images.notices) == 1
    grey, _ = Learning().dataset({"data": "images"}, "train", draw, [])
    torch.testing.assert_close(3 * grey, x[:, :1] + x[:, 2:])


def test_the_digits_are_the_same_everywhere():
    images = read_digits()
    assert images.images["train"].shape == (1497, 3, 32, 32)
    assert len(images.labels["test"]) == 300
    assert images.digest()[:32] == "b14e4de9ea03e7b90762586b6dc963ec"


@pytest.mark.slow
@pytest.mark.skipif("CIFAR10" not in os.environ, reason="CIFAR10 names no copy")
def test_a_copy_of_cifar10_is_recognised():
    images = read(os.environ["CIFAR10"])
    assert images.name == "CIFAR-10"
    assert images.classes[::9] == ["airplane", "truck"]
    assert np.bincount(images.labels["train"]).tolist() == [5000] * 10
    assert np.bincount(images.labels["test"]).tolist() == [1000] * 10
    # The means and deviations that the literature normalises CIFAR-10 with.
    mean, deviation = images.statistics()
    np.testing.assert_allclose(mean, [0.4914, 0.4822, 0.4465], atol=5e-5)
    np.testing.assert_allclose(deviation, [0.2470, 0.2435, 0.2616], atol=5e-5)
