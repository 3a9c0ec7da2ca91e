"""The images of a run: at a path, from CIFAR-10's site, or handwritten digits."""

import os
import tempfile
from pathlib import Path

import numpy as np
import PIL.Image
from torchvision.datasets import CIFAR10
from torchvision.datasets.utils import download_url

from pipeline.images.archives import extract
from pipeline.images.datasets import Batches, ClassFolders, iterate_pictures
from pipeline.images.image_set import SPLITS, ImageSet, make_image_set
from pipeline.images.settings import CONVERT, VARIABLE, ImageSettings, expand_path
from pipeline.project.errors import InputError, notice, prefix_errors
from pipeline.training.shapes import SIDE, SIZE, Size


def read(path: str | Path, size: Size = SIZE) -> ImageSet:
    """Read the images at a path.

    Args:
        path: CIFAR-10's official archive, its extracted folder, class folders, or an
            archive of class folders.
        size: Height and width to which the images are resized.

    Raises:
        InputError: `path` is nothing of this kind.
    """
    path = expand_path(path)
    name = path.resolve().name
    if path.is_dir():
        return _read_folder(path, name, f"{name}/", size)
    with tempfile.TemporaryDirectory() as folder:
        extract(path, folder)
        return _read_folder(Path(folder), name, name, size)


def find(settings: ImageSettings, size: Size = SIZE) -> ImageSet:
    """Read the images that params.yaml asks for.

    Prints a notice if digits replace CIFAR-10.

    Args:
        settings: The block `images` of params.yaml.
        size: Height and width of the images.

    Raises:
        InputError: The images cannot be read, and no fallback is set.
    """
    path = settings.path or os.environ.get(VARIABLE)
    if path:
        return read(path, size)
    try:
        archive = download(cache_folder(), settings.url)
    except InputError as error:
        if settings.fallback is None:
            raise
        notice(
            f"{error}. HANDWRITTEN DIGITS ARE USED INSTEAD OF CIFAR-10 "
            "(images.fallback: digits), as every figure says. If you have a copy, run "
            f"`{VARIABLE}=<path> dvc repro --force --single-item download && dvc repro`"
        )
        return read_digits(size)
    return read(archive, size)


def cache_folder() -> Path:
    """Return the folder of downloads, which is outside the repository."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "neural-anisotropy"


def download(folder: Path, url: str) -> Path:
    """Download CIFAR-10's official archive, unless the folder has a complete copy.

    Args:
        folder: Folder of the archive.
        url: Address of the archive.

    Raises:
        InputError: The archive cannot be downloaded, or its md5 is wrong.
    """
    try:
        download_url(url, folder, CIFAR10.filename, CIFAR10.tgz_md5)
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(
            f"CIFAR-10 cannot be downloaded from {url} ({error}); set images.path or "
            f"the environment variable {VARIABLE} to a copy",
            "download",
            url=url,
        ) from None
    return folder / CIFAR10.filename


def read_digits(size: Size = SIZE) -> ImageSet:
    """Read scikit-learn's 1,797 handwritten digits; every sixth is a test image.

    Args:
        size: Height and width. The digits are enlarged from 8×8 to 32×32, then resized.
    """
    from sklearn.datasets import load_digits  # takes a second, and is rarely needed

    bunch = load_digits()
    pictures = []
    for number, grey in enumerate(bunch.images):
        split = "test" if number % 6 == 0 else "train"
        picture = PIL.Image.fromarray(np.rint(grey * (255 / 16)).astype(np.uint8))
        enlarged = picture.resize((SIDE, SIDE), PIL.Image.Resampling.BICUBIC)
        pictures.append((split, str(bunch.target[number]), enlarged))
    name = "handwritten digits (not CIFAR-10)"
    return make_image_set(name, "scikit-learn's embedded digits", pictures, size)


def _read_folder(folder: Path, name: str, origin: str, size: Size) -> ImageSet:
    """Read the images in a folder.

    Args:
        folder: The folder, or that of an extracted archive.
        name: Name of the folder or archive.
        origin: Origin of the images, in words.
        size: Height and width to which the images are resized.
    """
    batches = _folders_with("data_batch_1", folder)
    if batches:
        return _read_batches(batches[0], f"official batches in {origin}", size)
    trains = _folders_with("train/", folder)
    roots = [root for root in trains if (root / "test").is_dir()]
    if len(roots) != 1:
        raise InputError(
            f"{origin} has {len(roots)} folders with train/<class>/* and "
            f"test/<class>/*, and exactly one is needed; {CONVERT}",
            "images",
            folders=len(roots),
        )
    source = f"class folders in {origin}"
    return _read_class_folders(roots[0], name.split(".")[0] or name, source, size)


def _folders_with(name: str, folder: Path) -> list[Path]:
    """Find the outermost folders, three levels down at most, with a file or folder."""
    for outer in ("", "*/", "*/*/", "*/*/*/"):
        found = sorted(folder.glob(outer + name))
        if found:
            return [path.parent for path in found]
    return []


def _read_batches(folder: Path, source: str, size: Size) -> ImageSet:
    try:
        datasets = {split: Batches(folder, train=split == "train") for split in SPLITS}
    except RuntimeError:
        raise InputError(
            f"{source}: a batch is missing, or its md5 is not the official one, so it "
            "is not unpickled; download the archive again",
            "unreadable-file",
            path=source,
        ) from None
    return make_image_set("CIFAR-10", source, iterate_pictures(datasets), size)


def _read_class_folders(root: Path, name: str, source: str, size: Size) -> ImageSet:
    with prefix_errors(f"{source}: ", FileNotFoundError, kind="images"):
        datasets = {split: ClassFolders(root / split) for split in SPLITS}
    left_out = [file for split in SPLITS for file in datasets[split].left_out]
    notices = []
    if left_out:
        notices.append(
            "files that are not images in train/<class>/ or test/<class>/ were left "
            f"out: {len(left_out)}, such as {min(left_out)}"
        )
    return make_image_set(name, source, iterate_pictures(datasets), size, notices)
