"""Small sets of images in every form in which they may come."""

import hashlib
import io
import pickle
import tarfile
import zipfile

import numpy as np
import PIL.Image
from torchvision.datasets import CIFAR10

CLASSES = ("cat", "dog", "eel")


def png(pixels):
    """The bytes of an array (H, W) or (H, W, 3) of uint8 as a PNG."""
    file = io.BytesIO()
    PIL.Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def write(root, files):
    """Files below `root`: path → bytes."""
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def class_folders(root, classes=CLASSES, size=(32, 32), splits=("train", "test")):
    """Class folders of three random PNGs of (H, W) each below `root`."""
    rng = np.random.default_rng(0)
    return write(
        root,
        {
            f"{split}/{name}/{n}.png": png(rng.integers(0, 256, (*size, 3), np.uint8))
            for split in splits
            for name in classes
            for n in range(3)
        },
    )


def pack(root, path, inside="."):
    """`root` as the archive `path`, its kind told by the name, within the folder `inside`."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for file in sorted(file for file in root.rglob("*") if file.is_file()):
                archive.write(file, f"{inside}/{file.relative_to(root)}")
    else:
        with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as archive:
            archive.add(root, inside)
    return path


def official(source, folder, monkeypatch):
    """Class folders in the form of CIFAR-10's extracted archive, whose md5 torchvision then takes
    for the official ones."""
    contents = {"batches.meta": pickle.dumps({"label_names": list(CLASSES)})}
    for batch, split in (("data_batch_1", "train"), ("test_batch", "test")):
        files = sorted((source / split).rglob("*.png"))
        pixels = [np.asarray(PIL.Image.open(file)).transpose(2, 0, 1).ravel() for file in files]
        labels = [CLASSES.index(file.parent.name) for file in files]
        contents[batch] = pickle.dumps({"data": np.stack(pixels), "labels": labels})
    md5 = {name: hashlib.md5(data).hexdigest() for name, data in contents.items()}
    monkeypatch.setattr(CIFAR10, "train_list", [["data_batch_1", md5["data_batch_1"]]])
    monkeypatch.setattr(CIFAR10, "test_list", [["test_batch", md5["test_batch"]]])
    monkeypatch.setattr(CIFAR10, "meta", CIFAR10.meta | {"md5": md5["batches.meta"]})
    return write(folder, contents)
