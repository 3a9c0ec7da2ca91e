"""Class folders, `train/<class>/<image>` and `test/<class>/<image>`, as a set of images."""

import io
from collections.abc import Iterator
from pathlib import PurePosixPath

import PIL.Image

from pipeline.cells.shapes import Size
from pipeline.images.files import WANTED, Files, substitute
from pipeline.images.image_set import SPLITS, ImageSet, image_set
from pipeline.project.errors import InputError

# Endings of the names of image files: those of torchvision's ImageFolder, and .gif.
SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm"}

OTHERS = {
    ("train", "test", "meta"): "CIFAR-100, not CIFAR-10",
    ("fine_label_names.txt",): "CIFAR-100, not CIFAR-10",
    ("data_batch_1.bin",): "CIFAR-10's binary version",
    ("data_batch_1.mat",): "CIFAR-10's Matlab version",
    ("wnids.txt",): "Tiny ImageNet, whose val/ has no class folders and whose test/ has no classes",
}
"""Other sets of images, by the names of files in them."""


def read(files: Files, name: str, source: str, size: Size) -> ImageSet:
    """The images in class folders, which may lie in an outer folder.

    source: the origin of the images, in words. A notice counts the files that are left out. Raises
    InputError where an image cannot be read.
    """
    places, left_out, notices = [], [], []
    # In the archive's order, since a compressed .tar is fast only when read forwards.
    for place in files:
        parts = PurePosixPath(place).parts
        if any(part.startswith(".") for part in parts):  # as in what macOS adds to an archive
            continue
        inside = len(parts) >= 3 and parts[-3] in SPLITS
        image = PurePosixPath(place).suffix.lower() in SUFFIXES
        if inside and image:
            places.append(place)
        elif inside or image:
            left_out.append(place)
    here = source.removeprefix("class folders in ")
    if {PurePosixPath(place).parts[-3] for place in places} != set(SPLITS):
        names = {PurePosixPath(place).name for place in files}
        for marks, kind in OTHERS.items():
            if names.issuperset(marks):
                raise InputError(f"{here} is {kind}; name {WANTED}")
    if not places:
        kinds = ", ".join(sorted({PurePosixPath(place).suffix or place for place in files})[:5])
        such = f"such as {min(left_out)}" if left_out else f"of the kinds {kinds or 'none'}"
        raise InputError(
            f"{here} has no image in train/<class>/ or test/<class>/, but files {such}; name "
            f"{WANTED}"
        )
    if len({PurePosixPath(place).parents[2] for place in places}) > 1:
        folders = sorted({str(PurePosixPath(place).parents[1]) for place in places})
        raise InputError(
            f"{source}: train/ or test/ lies in more than one folder ({', '.join(folders)}); name, "
            "or make, one folder that holds one of each"
        )
    if left_out:
        notices.append(
            "files that are no images by their place or their name were left out: "
            f"{len(left_out)}, the first {min(left_out)}"
        )
    return image_set(name, source, _pictures(places, files), size, notices)


def _pictures(places: list[str], files: Files) -> Iterator[tuple[str, str, PIL.Image.Image]]:
    for place in places:
        data = b""
        try:
            data = files[place]()
            picture = PIL.Image.open(io.BytesIO(data))
            picture.load()
        except Exception as error:  # on damaged bytes Pillow raises nearly anything
            kind = substitute(data) or f"cannot be read as an image ({error}); remove or replace it"
            raise InputError(f"{place} {kind}") from None
        # Pillow would turn nearly all values of such an image into white.
        if picture.mode.startswith(("I", "F")):
            raise InputError(
                f"{place} holds values of more than 8 bits (Pillow's {picture.mode}); save it with "
                "8 bits"
            )
        split, label = PurePosixPath(place).parts[-3:-1]
        yield split, label, picture
