"""CIFAR-10's official archive: its batches, which are unpickled only where their checksums are the known ones."""

import codecs
import hashlib
import io
import pickle
from collections.abc import Callable

import numpy as np
from torchvision.datasets import CIFAR10

from pipeline.images.image_set import ImageSet, Split
from pipeline.project.errors import InputError
from pipeline.project.shapes import SIDE

ARCHIVE = CIFAR10.filename
ARCHIVE_MD5 = CIFAR10.tgz_md5
ARCHIVE_SIZE = 170_498_071
"""Bytes of the official archive, whose name and md5 torchvision knows."""

FOLDER = CIFAR10.base_folder
BATCHES = dict(CIFAR10.train_list + CIFAR10.test_list)
TRAIN_BATCHES, TEST_BATCHES = ([name for name, _ in part] for part in (CIFAR10.train_list, CIFAR10.test_list))
"""Files of the official archive that hold images, with their md5, and which of them make up each split."""

CLASSES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


class ArraysOnly(pickle.Unpickler):
    """Unpickler of CIFAR-10's official batches: dictionaries, text, numbers and numpy arrays, and nothing else."""

    # What pickled arrays are made of, under the names that NumPy before and since 2.0 gives them.
    ALLOWED = {
        ("numpy.core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,
        ("numpy._core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,
        ("numpy", "ndarray"): np.ndarray,
        ("numpy", "dtype"): np.dtype,
        ("_codecs", "encode"): codecs.encode,
    }

    def find_class(self, module: str, name: str) -> object:
        """A class or function that the file names, if it is one of those that arrays are made of."""
        if (module, name) not in self.ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is not allowed in an image file")
        return self.ALLOWED[module, name]


def official(content: Callable[[str], bytes], source: str) -> ImageSet:
    """The official batches; `content(name)` gives the bytes of one, which must have torchvision's md5."""
    parts = {}
    for name, md5 in BATCHES.items():
        data = content(name)
        if hashlib.md5(data, usedforsecurity=False).hexdigest() != md5:
            raise InputError(f"CIFAR-10's file {name} is damaged (its md5 is not {md5}); fetch the archive again")
        batch = ArraysOnly(io.BytesIO(data), encoding="latin1").load()
        parts[name] = batch["data"].reshape(-1, 3, SIDE, SIDE), np.array(batch["labels"])
    splits = [
        Split(*map(np.concatenate, zip(*(parts[name] for name in names)))) for names in (TRAIN_BATCHES, TEST_BATCHES)
    ]
    return ImageSet("CIFAR-10", source, CLASSES, *splits)
