"""Stage `download`: the images, from wherever they can be had -> data/images/ (canonical) and reports/images.json.

CIFAR-10 is looked for in this order: images.path of params.yaml, the environment variable CIFAR10 (a path of the same
kinds), the copy that an earlier run fetched, images.url; if none can be had, images.fallback.
"""

import os
import sys
from pathlib import Path

import numpy as np

from pipeline.images import sources
from pipeline.images.digits import digits
from pipeline.images.fetching import fetched
from pipeline.images.image_set import ImageSet, canonical
from pipeline.images.wanted import Wanted, WantedOfSize
from pipeline.project import artifacts, command
from pipeline.project.errors import InputError, one_sentence
from pipeline.project.shapes import INPUT, Input

VARIABLE = "CIFAR10"


def cache_folder() -> Path:
    """Where fetched archives are kept on this machine, outside the repository (XDG cache directory)."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "neural-anisotropy"
    except RuntimeError:
        raise InputError(
            f"CIFAR-10 has no place to be fetched to, since there is no home folder; set XDG_CACHE_HOME to a folder, or "
            f"name a copy with images.path or the environment variable {VARIABLE}"
        ) from None


def find(wanted: Wanted, size: Input = INPUT) -> ImageSet:
    """The `ImageSet` that the `images` block of params.yaml asks for, with this height and width; prints where it came from."""
    path = wanted.path or os.environ.get(VARIABLE)
    if path:
        return sources.read(path, size)
    try:
        return sources.read(fetched(cache_folder(), wanted.url), size)
    except InputError as error:
        if wanted.fallback is None:
            raise
        rule = "!" * 100
        print(
            f"\n{rule}\n{error}\n"
            f"USING HANDWRITTEN DIGITS INSTEAD OF CIFAR-10 (images.fallback: digits). Every figure of this run says so.\n"
            f"With a copy at hand: {VARIABLE}=<path> dvc repro --force --single-item download && dvc repro\n{rule}\n",
            file=sys.stderr,
        )
        return digits().brought_to(size)


def main() -> None:
    """Read, sort and write the images."""
    wanted = artifacts.as_planned(WantedOfSize, "images", artifacts.planned("images"))
    found = canonical(find(wanted, wanted.size))
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
        command.no_arguments(__doc__, "download")
        main()
