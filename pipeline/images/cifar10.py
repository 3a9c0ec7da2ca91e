"""CIFAR-10's official archive, fetched and read by torchvision.

Its batches are unpickled only where their md5 is the official one.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import PIL.Image
from torchvision.datasets import CIFAR10
from torchvision.datasets.utils import download_url

from pipeline.images.files import Files, substitute
from pipeline.images.image_set import SPLITS
from pipeline.project.errors import InputError


def pictures(files: Files, source: str) -> Iterator[tuple[str, str, PIL.Image.Image]]:
    """Split, class and picture of each image in CIFAR-10's official batches."""
    lists = (CIFAR10.train_list, CIFAR10.test_list, [[CIFAR10.meta["filename"]]])
    official = {name for part in lists for name, *_ in part}
    with tempfile.TemporaryDirectory() as root:  # from which torchvision reads them
        folder = Path(root, CIFAR10.base_folder)
        folder.mkdir()
        for path, content in files.items():
            if (name := PurePosixPath(path).name) in official:
                if kind := substitute(data := content()):
                    raise InputError(f"{source}: {path} {kind}")
                (folder / name).write_bytes(data)
        for split in SPLITS:
            try:
                batches = CIFAR10(root, train=split == "train")
            except RuntimeError:
                raise InputError(
                    f"{source}: some of CIFAR-10's batches are missing, or are not the official "
                    "ones by their md5, and no others are read; fetch the archive again"
                ) from None
            for picture, number in batches:
                yield split, batches.classes[number], picture


def fetched(folder: Path, url: str) -> Path:
    """The official archive in `folder`, fetched from `url` unless `folder` has a whole copy.

    Raises InputError if it cannot be fetched, or if its md5 is another.
    """
    try:
        download_url(url, folder, CIFAR10.filename, CIFAR10.tgz_md5)
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(
            f"CIFAR-10 could not be fetched from {url} ({error}); name a copy with images.path or "
            "the environment variable CIFAR10"
        ) from None
    return folder / CIFAR10.filename
