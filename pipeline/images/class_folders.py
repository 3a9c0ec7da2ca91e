"""Class folders, `train/<class>/<image>` and `test/<class>/<image>`, as a set of images."""

import io
from collections.abc import Iterator
from pathlib import PurePosixPath

import PIL.Image

from pipeline.cells.shapes import Size
from pipeline.images.files import Files
from pipeline.images.image_set import SPLITS, ImageSet, image_set
from pipeline.project.errors import InputError

# Endings of the names of image files: those of torchvision's ImageFolder, and .gif.
SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm"}


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
    roots = {str(PurePosixPath(place).parents[2]) for place in places}
    if len(roots) > 1:
        raise InputError(
            f"{source}: more than one folder holds train/ or test/ ({', '.join(sorted(roots))}); "
            "name one of them"
        )
    if left_out:
        notices.append(
            "files that are no images by their place or their name were left out: "
            f"{len(left_out)}, the first {min(left_out)}"
        )
    return image_set(name, source, _pictures(places, files), size, notices)


def _pictures(places: list[str], files: Files) -> Iterator[tuple[str, str, PIL.Image.Image]]:
    for place in places:
        try:
            picture = PIL.Image.open(io.BytesIO(files[place]()))
            picture.load()
        except Exception as error:  # on damaged bytes Pillow raises nearly anything
            raise InputError(
                f"{place} cannot be read as an image ({error}); remove or replace it"
            ) from None
        # Pillow would turn nearly all values of such an image into white.
        if picture.mode.startswith(("I", "F")):
            raise InputError(
                f"{place} holds values of more than 8 bits (Pillow's {picture.mode}); save it with "
                "8 bits"
            )
        split, label = PurePosixPath(place).parts[-3:-1]
        yield split, label, picture
