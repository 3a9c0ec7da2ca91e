"""CIFAR-10's official archive: its batches, which are unpickled only where their checksums are the known ones."""

import codecs
import hashlib
import io
import pickle
from collections.abc import Callable

import numpy as np

from pipeline.images.image_set import ImageSet, Split
from pipeline.project.errors import InputError
from pipeline.project.shapes import SIDE

ARCHIVE = "cifar-10-python.tar.gz"
ARCHIVE_MD5 = "c58f30108f718f92721af3b95e74349a"
ARCHIVE_SIZE = 170_498_071
"""Name, md5 and bytes of the official archive. Names and md5 are torchvision's, with which tests compare them: importing it here
would take longer than everything else that the stage imports."""

FOLDER = "cifar-10-batches-py"
BATCHES = {
    "data_batch_1": "c99cafc152244af753f735de768cd75f",
    "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
    "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
    "data_batch_4": "634d18415352ddfa80567beed471001a",
    "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
    "test_batch": "40351d587109b95175f43aff81a1287e",
}
TRAIN_BATCHES, TEST_BATCHES = [name for name in BATCHES if name.startswith("data")], ["test_batch"]
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
    """The official batches; `content(name)` gives the bytes of one, which must have its md5."""
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
