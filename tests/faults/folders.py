"""Class folders with an image, or a folder, that is not like the others (group 2)."""

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import PIL.Image

from tests.faults.archives import canonical_digest, laid, of_images
from tests.faults.cases import Case, Run
from tests.small_images import deep_png, png, saved, set_of


def _pixels(right: np.ndarray) -> Callable[[Path, Run], bool]:
    """Whether an image of these pixels (3, 32, 32) is among the training images, and a notice says what was done."""

    def check(folder: Path, run: Run) -> bool:
        images = np.load(folder / "data/images/train_images.npy")
        return any(np.array_equal(image, right) for image in images) and "notice: " in run.err

    return check


def cases() -> Iterator[Case]:
    """All of them."""
    deep = np.random.default_rng(3).integers(0, 2**16, (32, 32, 1)).astype(np.uint16)
    scaled = np.repeat(np.round(deep / 257).astype(np.uint8).transpose(2, 0, 1), 3, 0)
    noise = np.random.default_rng(4).integers(0, 256, (32, 32, 3)).astype(np.uint8)
    right = canonical_digest({"train/cat/1.png": png(noise)})
    for name, file, data, check in (
        ("16 bits of grey", "1.png", deep_png(deep, 0), _pixels(scaled)),
        ("16 bits of grey, TIFF", "1.tif", saved(PIL.Image.fromarray(deep[..., 0]), "TIFF"), _pixels(scaled)),
        ("32-bit integers", "1.tif", saved(PIL.Image.fromarray(deep[..., 0].astype(np.int32)), "TIFF"), None),
        ("floating-point numbers", "1.tif", saved(PIL.Image.fromarray(deep[..., 0].astype(np.float32)), "TIFF"), None),
        ("an empty file", "1.png", b"", None),
        ("a text", "1.png", b"not an image", None),
        ("a PNG's beginning", "1.png", png(noise)[:60], None),
        ("SVG", "1.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>", None),
        ("EPS", "1.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", None),
        ("a PNG of 10^9 pixels", "1.png", _huge(), None),
        ("a JPEG cut", "1.jpg", saved(PIL.Image.fromarray(noise), "JPEG")[:400], None),
    ):
        make = lambda folder, file=file, data=data: set_of(folder / "set", {f"train/cat/{file}": data})
        yield of_images(2, name, make, check)
    whole = png(noise)
    for bit in np.random.default_rng(5).integers(0, 8 * len(whole), 40):
        turned = bytearray(whole)
        turned[bit // 8] ^= 1 << bit % 8
        make = lambda folder, data=bytes(turned): set_of(folder / "set", {"train/cat/1.png": data})
        yield of_images(2, f"bit {bit} of a PNG", make, lambda folder, _: laid(folder) == right)
    for name, make in {
        "an empty class": lambda folder: _and(set_of(folder / "set", {}), "train/eel", "test/eel"),
        "a class in one split": lambda folder: set_of(folder / "set", {"train/eel/0.png": png()}),
        "one class": lambda folder: _without(set_of(folder / "set", {}), "dog"),
        "an empty folder": lambda folder: _and(folder, "set") / "set",
        "no test images": lambda folder: _renamed(set_of(folder / "set", {}), "test", "val"),
        "a class that cannot be listed": lambda folder: _loop(set_of(folder / "set", {}), "train/eel"),
        "an image that leads nowhere": lambda folder: _loop(set_of(folder / "set", {}), "train/cat/9.png"),
        "a FIFO among the images": lambda folder: _pipe(set_of(folder / "set", {}), "train/cat/9.png"),
    }.items():
        yield of_images(2, name, make)


def _huge() -> bytes:
    """A PNG that says it has 30,000 × 30,000 pixels."""
    header = b"IHDR" + struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    whole = png()
    return whole[:12] + header + struct.pack(">I", zlib.crc32(header)) + whole[33:]


def _and(root: Path, *folders: str) -> Path:
    for folder in folders:
        (root / folder).mkdir()
    return root


def _without(root: Path, name: str) -> Path:
    for split in ("train", "test"):
        (root / split / name / "0.png").unlink()
        (root / split / name).rmdir()
    return root


def _renamed(root: Path, old: str, new: str) -> Path:
    (root / old).rename(root / new)
    return root


def _loop(root: Path, name: str) -> Path:
    (root / name).symlink_to(root / name)
    return root


def _pipe(root: Path, name: str) -> Path:
    os.mkfifo(root / name)
    return root
