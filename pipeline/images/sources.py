"""The images of a run: at a path, CIFAR-10's official archive or class folders, packed or not; else
CIFAR-10 from its site; else handwritten digits."""

import os
from pathlib import Path, PurePosixPath

import numpy as np
import PIL.Image

from pipeline.cells.shapes import SIDE, SIZE, Size
from pipeline.images import cifar10, class_folders
from pipeline.images.files import files
from pipeline.images.image_set import ImageSet, image_set
from pipeline.images.wanted import VARIABLE, Wanted, existing
from pipeline.project.errors import InputError, notice

BATCH = "data_batch_1"  # the file by which CIFAR-10's official batches are known


def read(path: str | Path, size: Size = SIZE) -> ImageSet:
    """The images at `path`, resized to the height and width `size`.

    Raises InputError where `path` holds no set of images.
    """
    path = existing(path)
    name = path.resolve().name
    with files(path) as content:
        names = {PurePosixPath(file).name for file in content}
        if BATCH in names:
            source = f"official batches in {name}"
            return image_set("CIFAR-10", source, cifar10.pictures(content, source), size)
        source = f"class folders in {name}{'/' if path.is_dir() else ''}"
        return class_folders.read(content, name.split(".")[0] or name, source, size)


def cache_folder() -> Path:
    """The folder of fetched archives on this machine, outside the repository."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "neural-anisotropy"


def find(wanted: Wanted, size: Size = SIZE) -> ImageSet:
    """The images that params.yaml asks for, of the height and width `size`.

    Prints a notice where digits replace CIFAR-10. Raises InputError where no images can be had.
    """
    if path := wanted.path or os.environ.get(VARIABLE):
        return read(path, size)
    try:
        return read(cifar10.fetched(cache_folder(), wanted.url), size)
    except InputError as error:
        if wanted.fallback is None:
            raise
        notice(
            f"{error}. HANDWRITTEN DIGITS ARE USED INSTEAD OF CIFAR-10 (images.fallback: digits), "
            f"as every figure of this run says; with a copy at hand: `{VARIABLE}=<path> dvc repro "
            "--force --single-item download && dvc repro`"
        )
        return digits(size)


def digits(size: Size = SIZE) -> ImageSet:
    """scikit-learn's 1,797 handwritten digits, 8×8 grey, enlarged to 32×32 and then to `size`.

    Every sixth is a test image.
    """
    from sklearn.datasets import load_digits  # takes a second; needed without CIFAR-10 only

    bunch, pictures = load_digits(), []
    for place, (grey, digit) in enumerate(zip(bunch.images, bunch.target)):
        picture = PIL.Image.fromarray(np.rint(grey * (255 / 16)).astype(np.uint8))
        enlarged = picture.resize((SIDE, SIDE), PIL.Image.Resampling.BICUBIC)
        pictures.append(("train" if place % 6 else "test", str(digit), enlarged))
    name = "handwritten digits (not CIFAR-10)"
    return image_set(name, "scikit-learn's embedded digits", pictures, size)
