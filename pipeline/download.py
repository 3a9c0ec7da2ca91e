"""Stage `download`: the images, from wherever they can be had -> data/images/ (canonical) and reports/images.json.

CIFAR-10 is looked for in this order: images.path of params.yaml, the environment variable CIFAR10 (a path of the same
kinds), the copy that an earlier run fetched, images.url; if none can be had, images.fallback.
"""

import os
import sys
from pathlib import Path

import numpy as np

from pipeline import artifacts, images, params
from pipeline.project.errors import InputError, one_sentence

VARIABLE = "CIFAR10"


def cache_folder():
    """Where fetched archives are kept on this machine, outside the repository (XDG cache directory)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "neural-anisotropy"


def find(settings):
    """The `ImageSet` that the `images` block of params.yaml asks for; prints where it came from."""
    path = settings.path or os.environ.get(VARIABLE)
    if path:
        return images.read(path)
    try:
        return images.read(images.fetched(cache_folder(), settings.url))
    except InputError as error:
        if settings.fallback is None:
            raise
        rule = "!" * 100
        print(
            f"\n{rule}\n{error}\n"
            f"USING HANDWRITTEN DIGITS INSTEAD OF CIFAR-10 (images.fallback: digits). Every figure of this run says so.\n"
            f"With a copy at hand: {VARIABLE}=<path> dvc repro --force --single-item download && dvc repro\n{rule}\n",
            file=sys.stderr,
        )
        return images.digits()


def main():
    """Read, sort and write the images."""
    found = images.canonical(find(params.load().images))
    folder = artifacts.fresh(artifacts.IMAGES)
    for name in ("train", "test"):
        split = getattr(found, name)
        np.save(folder / f"{name}_images.npy", split.images)
        np.save(folder / f"{name}_labels.npy", split.labels)
    mean, deviation = found.statistics()
    about = {
        "name": found.name,
        "classes": found.classes,
        "train": len(found.train.images),
        "test": len(found.test.images),
        "digest": found.digest(),
    }
    artifacts.write_json(folder / "about.json", about | {"mean": mean, "deviation": deviation})
    artifacts.write_json(artifacts.REPORTS / "images.json", about | {"source": found.source, "notices": found.notices})
    for notice in found.notices:
        print(f"notice: {notice}", file=sys.stderr)
    print(
        f"{found.name}: {about['train']} training and {about['test']} test images of {len(found.classes)} classes, "
        f"from {found.source}"
    )


if __name__ == "__main__":
    with one_sentence():
        main()
