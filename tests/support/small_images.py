"""Small sets of images in every form that the project reads."""

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
    """Return the bytes of an array (H, W) or (H, W, 3) of uint8 as a PNG."""
    file = io.BytesIO()
    PIL.Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def write(root, files):
    """Write files, given as path and bytes, below `root`."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def class_folders(root, classes=CLASSES, size=(32, 32), splits=("train", "test")):
    """Write class folders of three random PNGs of (H, W) each below `root`."""
    rng = np.random.default_rng(0)
    for split in splits:
        for name in classes:
            for number in range(3):
                pixels = rng.integers(0, 256, (*size, 3), np.uint8)
                write(root, {f"{split}/{name}/{number}.png": png(pixels)})
    return root


def pack(root, path, inside="."):
    """Pack the content of `root`, in the folder `inside`, into the archive `path`."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for file in sorted(root.rglob("*")):
                if file.is_file():
                    archive.write(file, f"{inside}/{file.relative_to(root)}")
    else:
        with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as archive:
            archive.add(root, inside)
    return path


def official(source, folder, monkeypatch):
    """Write class folders as batches, and make their md5 the official one."""
    contents = {"batches.meta": pickle.dumps({"label_names": list(CLASSES)})}
    for batch, split in (("data_batch_1", "train"), ("test_batch", "test")):
        pixels = []
        labels = []
        for file in sorted((source / split).rglob("*.png")):
            pixels.append(np.asarray(PIL.Image.open(file)).transpose(2, 0, 1).ravel())
            labels.append(CLASSES.index(file.parent.name))
        contents[batch] = pickle.dumps({"data": np.stack(pixels), "labels": labels})
    md5 = {name: hashlib.md5(data).hexdigest() for name, data in contents.items()}
    train = [["data_batch_1", md5["data_batch_1"]]]
    test = [["test_batch", md5["test_batch"]]]
    monkeypatch.setattr(CIFAR10, "train_list", train)
    monkeypatch.setattr(CIFAR10, "test_list", test)
    monkeypatch.setattr(CIFAR10, "meta", CIFAR10.meta | {"md5": md5["batches.meta"]})
    return write(folder, contents)
