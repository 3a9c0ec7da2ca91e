"""Real images: read from any of their usual forms, checked, and put into one canonical order.

Sources: CIFAR-10's official archive (fetched with torchvision's checksums, or already on this machine), its extracted
folder, class folders `train/<class>/*` and `test/<class>/*` as a directory, .tar, .tar.gz or .zip, and scikit-learn's
embedded handwritten digits. Nothing from elsewhere is unpickled freely: the official batches may hold numpy arrays only.
"""

import codecs
import dataclasses
import hashlib
import io
import pickle
import socket
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import numpy as np
import PIL.Image
from torchvision.datasets import CIFAR10
from torchvision.datasets.utils import check_integrity, download_url

from pipeline.project.errors import InputError
from pipeline.project.shapes import SIDE

ARCHIVE = CIFAR10.filename
ARCHIVE_MD5 = CIFAR10.tgz_md5
BATCHES = dict(CIFAR10.train_list + CIFAR10.test_list)
TRAIN_BATCHES, TEST_BATCHES = ([name for name, _ in part] for part in (CIFAR10.train_list, CIFAR10.test_list))
"""Files of the official archive that hold images, with their md5, and which of them make up each split."""

CLASSES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm"}

KNOWN = {"f713c94c8d20633f": "CIFAR-10"}
"""Names of image sets by the first 16 digits of their digest."""


@dataclasses.dataclass
class Split:
    """Images uint8 (N, 3, 32, 32) and class numbers int64 (N,)."""

    images: np.ndarray
    labels: np.ndarray


@dataclasses.dataclass
class ImageSet:
    """A training and a test split with the classes' names and what to call the set; `notices` are for the user."""

    name: str
    source: str
    classes: list
    train: Split
    test: Split
    notices: list = dataclasses.field(default_factory=list)

    def digest(self):
        """sha256 of classes, pixels and labels: the same for every copy of the same images in canonical order."""
        state = hashlib.sha256("\n".join(self.classes).encode())
        for split in (self.train, self.test):
            state.update(split.images.tobytes())
            state.update(split.labels.astype("<i8").tobytes())
        return state.hexdigest()

    def statistics(self):
        """Mean and standard deviation of each channel of the training images, values in [0, 1], as lists of three."""
        # Counts of the 256 values are exact, so these numbers are the same on every machine.
        counts = np.array(
            [
                sum(
                    np.bincount(part[:, channel].ravel(), minlength=256)
                    for part in np.array_split(self.train.images, 64)
                )
                for channel in range(3)
            ]
        )
        values = np.arange(256) / 255
        mean = counts @ values / counts.sum(1)
        return mean.tolist(), np.sqrt(counts @ values**2 / counts.sum(1) - mean**2).tolist()


def canonical(image_set):
    """The same images with each split sorted by content, and named if they are a set that is known."""
    for name in ("train", "test"):
        split = getattr(image_set, name)
        flat = split.images.reshape(len(split.images), -1)
        order = sorted(range(len(flat)), key=lambda n: (flat[n].tobytes(), int(split.labels[n])))
        setattr(image_set, name, Split(np.ascontiguousarray(split.images[order]), split.labels[order].astype(np.int64)))
    image_set.name = KNOWN.get(image_set.digest()[:16], image_set.name)
    return image_set


def read(path):
    """The images at `path`: official archive or its extracted folder, class folders as a directory or an archive.

    Raises InputError if the path does not exist, is truncated or damaged, or does not hold at least two classes.
    """
    path = Path(path).expanduser()
    if not path.exists():
        raise InputError(f"the images' path {path} does not exist; name a folder or archive, or null for CIFAR-10")
    if path.is_dir():
        for folder in (path, path / CIFAR10.base_folder):
            if (folder / "data_batch_1").exists():
                return _official(
                    lambda name, folder=folder: (folder / name).read_bytes(), f"extracted archive {folder.name}"
                )
        files = {file.relative_to(path).as_posix(): file.read_bytes for file in path.rglob("*") if file.is_file()}
        return _class_folders(files, path.name, f"class folders in {path.name}/")
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                members = {name: archive.read(name) for name in archive.namelist() if _wanted(name)}
        else:
            with tarfile.open(path) as archive:
                members = {
                    member.name: archive.extractfile(member).read()
                    for member in archive
                    if member.isfile() and _wanted(member.name)
                }
                # tarfile takes a cut at or inside a header for the end; a whole archive ends with blocks of zeros.
                archive.fileobj.seek(archive.offset)
                if archive.fileobj.read(tarfile.BLOCKSIZE) != tarfile.NUL * tarfile.BLOCKSIZE:
                    raise tarfile.ReadError("its end is missing")
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, ValueError) as error:
        if isinstance(error, PermissionError):
            raise
        raise InputError(
            f"{path} cannot be read as a .tar, .tar.gz or .zip archive, it is damaged or incomplete "
            f"({error}); fetch it again"
        ) from None
    batches = {PurePosixPath(name).name: data for name, data in members.items() if PurePosixPath(name).name in BATCHES}
    if batches:
        missing = sorted(set(BATCHES) - set(batches))
        if missing:
            raise InputError(f"{path} is incomplete: {missing[0]} is missing; fetch it again")
        return _official(batches.__getitem__, f"official archive {path.name}")
    files = {name: (lambda data=data: data) for name, data in members.items()}
    return _class_folders(files, path.name.split(".")[0], f"class folders in {path.name}")


def _wanted(name):
    return PurePosixPath(name).name in BATCHES or PurePosixPath(name).suffix.lower() in SUFFIXES


class _ArraysOnly(pickle.Unpickler):
    """Unpickler of CIFAR-10's official batches: dictionaries, text, numbers and numpy arrays, and nothing else."""

    # What pickled arrays are made of, under the names that NumPy before and since 2.0 gives them.
    ALLOWED = {
        ("numpy.core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,
        ("numpy._core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,
        ("numpy", "ndarray"): np.ndarray,
        ("numpy", "dtype"): np.dtype,
        ("_codecs", "encode"): codecs.encode,
    }

    def find_class(self, module, name):
        if (module, name) not in self.ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is not allowed in an image file")
        return self.ALLOWED[module, name]


def _official(content, source):
    """The official batches; `content(name)` gives the bytes of one, which must have torchvision's md5."""
    parts = {}
    for name, md5 in BATCHES.items():
        try:
            data = content(name)
        except FileNotFoundError:
            raise InputError(
                f"the CIFAR-10 folder is incomplete: {name} is missing; extract the archive again"
            ) from None
        if hashlib.md5(data, usedforsecurity=False).hexdigest() != md5:
            raise InputError(f"CIFAR-10's file {name} is damaged (its md5 is not {md5}); fetch the archive again")
        batch = _ArraysOnly(io.BytesIO(data), encoding="latin1").load()
        parts[name] = batch["data"].reshape(-1, 3, SIDE, SIDE), np.array(batch["labels"])
    splits = [
        Split(*map(np.concatenate, zip(*(parts[name] for name in names)))) for names in (TRAIN_BATCHES, TEST_BATCHES)
    ]
    return ImageSet("CIFAR-10", source, CLASSES, *splits)


def _class_folders(files, name, source):
    """`files`: path → function giving its bytes; those of the form …/train/<class>/<file> and …/test/… are used."""
    found = {"train": {}, "test": {}}
    for file, content in files.items():
        parts = PurePosixPath(file).parts
        if len(parts) >= 3 and parts[-3] in found and PurePosixPath(file).suffix.lower() in SUFFIXES:
            found[parts[-3]].setdefault(parts[-2], []).append((file, content))
    for split, classes in found.items():
        if len(classes) < 2:
            raise InputError(
                f"{source}: {split}/ holds {len(classes)} class folder(s) with images; at least two are "
                f"needed, as train/<class>/* and test/<class>/*"
            )
    classes = sorted(found["train"])
    if sorted(found["test"]) != classes:
        raise InputError(
            f"{source}: train/ and test/ do not hold the same classes "
            f"({', '.join(sorted(set(found['train']) ^ set(found['test'])))} is in one of them only)"
        )
    sizes, splits = set(), []
    for split in ("train", "test"):
        labelled = [
            (label, *entry) for label, c in enumerate(classes) for entry in sorted(found[split][c], key=lambda e: e[0])
        ]
        decoded = [_decode(file, content) for _, file, content in labelled]
        sizes |= {size for _, size in decoded}
        splits.append(Split(np.stack([pixels for pixels, _ in decoded]), np.array([label for label, *_ in labelled])))
    notices = []
    if sizes != {(SIDE, SIDE)}:
        largest = max(sizes)
        notices.append(f"images of up to {largest[0]}×{largest[1]} pixels were resized to {SIDE}×{SIDE}")
    return ImageSet(name, source, classes, *splits, notices)


def _decode(file, content):
    """Pixels uint8 (3, 32, 32) of one image file and its original (width, height)."""
    try:
        with PIL.Image.open(io.BytesIO(content())) as image:
            size = image.size
            image = image.convert("RGB")
            if size != (SIDE, SIDE):
                image = image.resize((SIDE, SIDE), PIL.Image.Resampling.BILINEAR)
            return np.asarray(image).transpose(2, 0, 1), size
    except (OSError, SyntaxError, ValueError, PIL.Image.DecompressionBombError):
        raise InputError(f"{file} cannot be read as an image; it is damaged, remove or replace it") from None


def fetched(folder, url):
    """Path of the official archive in `folder`, fetched from `url` unless a whole copy is there already.

    A copy with a wrong checksum is never used. Raises InputError if it cannot be fetched whole.
    """
    path = Path(folder) / ARCHIVE
    if check_integrity(path, ARCHIVE_MD5):
        return path
    patience = socket.getdefaulttimeout()
    socket.setdefaulttimeout(20)
    try:
        path.unlink(missing_ok=True)
        download_url(url, folder, ARCHIVE, ARCHIVE_MD5)
    except (OSError, RuntimeError, ValueError) as error:
        path.unlink(missing_ok=True)
        raise InputError(
            f"CIFAR-10 could not be fetched from {url} ({error}); name a copy with images.path or the "
            f"environment variable CIFAR10"
        ) from None
    finally:
        socket.setdefaulttimeout(patience)
    return path


def digits():
    """scikit-learn's 1,797 handwritten digits, 8×8 grey, enlarged to 3×32×32; every sixth is a test image."""
    from sklearn.datasets import load_digits  # takes a second to import; needed without CIFAR-10 only

    bunch = load_digits()
    grey = np.rint(bunch.images * (255 / 16)).astype(np.uint8)
    pixels = np.stack(
        [np.asarray(PIL.Image.fromarray(g).resize((SIDE, SIDE), PIL.Image.Resampling.BICUBIC)) for g in grey]
    )
    pixels = np.repeat(pixels[:, None], 3, 1)
    test = np.arange(len(pixels)) % 6 == 0
    return ImageSet(
        "handwritten digits (not CIFAR-10)",
        "scikit-learn's embedded digits",
        [str(n) for n in range(10)],
        Split(pixels[~test], bunch.target[~test]),
        Split(pixels[test], bunch.target[test]),
    )
