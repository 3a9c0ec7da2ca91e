"""One image file as RGB of 8 bits and of a given size, and what had to be done to it for that."""

import io
import warnings
from dataclasses import dataclass

import numpy as np
import PIL.ExifTags
import PIL.Image
import PIL.ImageOps

from pipeline.images.names import shown
from pipeline.project.errors import InputError
from pipeline.project.shapes import INPUT, Input

SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm"}
"""Endings of the names of image files."""

FORMATS = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF", "PPM")
"""What such a file may be: Pillow reads by content, and other formats start other programs (EPS: Ghostscript)."""

COLOURS = {"1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX", "YCbCr", "CMYK"}
"""Pillow's modes of 8 bits a channel or fewer that it converts to RGB."""

UNKNOWN = {"I": "whole numbers of 32 bits or with a sign", "F": "floating-point numbers"}
"""Pillow's modes whose values for black and white no file states."""

BITS, PHOTOMETRIC, WHITE_IS_ZERO = 258, 262, 0
"""A TIFF's tags of the bits of a value and of what a value means, and what the latter says where 0 is white."""

FRAMES = "of several frames or pages the first was taken"
SCALED = "values of more than 8 bits were scaled to 8 by their range (16 bits: value / 257, rounded)"
CUT = "of 16 bits a colour the higher 8 were taken"
CMYK = "CMYK was turned into RGB without a colour profile"
TURNED = "images were turned upright as their EXIF data says"
TRANSPARENT = "what is transparent was laid on white"
STRETCHED = "images {} were stretched to {}×{}, which changes their aspect ratio"
"""What is done to images that are not RGB of 8 bits and of the wanted shape."""


@dataclass(frozen=True)
class Picture:
    """Pixels uint8 (H, W, 3) as bytes, the original (width, height), and what was done to it besides resizing."""

    pixels: bytes
    size: tuple[int, int]
    done: list[str]


def picture(name: str, data: bytes, wanted: Input = INPUT) -> Picture:
    """The image file `data`, brought to the height and width `wanted`; raises InputError if it is damaged, of no known range, or larger than Pillow reads unwarned."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
            image = PIL.Image.open(io.BytesIO(data), formats=FORMATS)
        with image:
            if image.format == "PNG":
                # Decoding compares no checksum of the pixels' chunks, which would pass over flipped bits.
                with PIL.Image.open(io.BytesIO(data), formats=("PNG",)) as checked:
                    checked.verify()
            return _upright(name, image, wanted)
    except (PIL.Image.DecompressionBombWarning, PIL.Image.DecompressionBombError):
        most = PIL.Image.MAX_IMAGE_PIXELS
        raise InputError(
            f"{shown(name)} has more than {most:,} pixels, the most that is read; make it smaller"
        ) from None
    except InputError:
        raise
    except Exception:
        # On damaged bytes Pillow raises nearly anything (OSError, SyntaxError, ValueError, struct.error, IndexError).
        raise InputError(f"{shown(name)} cannot be read as an image; it is damaged, remove or replace it") from None


def _upright(name: str, image: PIL.Image.Image, wanted: Input) -> Picture:
    """A freshly opened image as RGB, turned, laid on white, and resized, in this order."""
    done = []
    if getattr(image, "is_animated", False):
        done.append(FRAMES)
    if image.mode in COLOURS and (deep := _deep_colour(image)):
        done.append(deep)
    if CUT in done and "transparency" in image.info:
        raise InputError(f"{shown(name)} has a transparent colour of 16 bits, which is not read; save it with 8 bits")
    grey = None if image.mode in COLOURS else _grey_range(name, image)
    # Loading turns a TIFF by itself, and forgets that it has to be turned.
    if image.getexif().get(PIL.ExifTags.Base.Orientation) in range(2, 9):
        done.append(TURNED)
    image.load()
    if TURNED in done:
        image = PIL.ImageOps.exif_transpose(image)
    if grey:
        done.append(SCALED)
        image = _scaled(image, *grey)
    if image.mode == "CMYK":
        done.append(CMYK)
    if image.has_transparency_data:
        image = image.convert("RGBA")
        if image.getextrema()[3][0] < 255:
            done.append(TRANSPARENT)
        image = PIL.Image.alpha_composite(PIL.Image.new("RGBA", image.size, "white"), image)
    size, (height, width) = image.size, wanted
    if size[0] * height != size[1] * width:
        done.append(STRETCHED.format("that are not square" if height == width else "of another shape", width, height))
    if image.mode != "RGB":
        image = image.convert("RGB")
    if size != (width, height):
        image = image.resize((width, height), PIL.Image.Resampling.BILINEAR)
    return Picture(image.tobytes(), size, done)


def _deep_colour(image: PIL.Image.Image) -> str | None:
    """What Pillow does to more than 8 bits a colour while it decodes; None where there are no more."""
    packing = [tile.args if isinstance(tile.args, tuple) else (tile.args,) for tile in image.tile]
    if image.format == "PPM":
        # How values are packed, and the one that stands for white.
        return SCALED if any(len(args) == 2 and args[1] > 255 for args in packing) else None
    return CUT if any(str(args[0]).endswith((";16L", ";16B", ";16N")) for args in packing) else None


def _grey_range(name: str, image: PIL.Image.Image) -> tuple[int, bool]:
    """The largest value of an image of more than 8 bits, and whether it is black; raises InputError where that is not known."""
    if image.format == "PPM" and image.mode == "I":
        # Pillow scales by the largest value that the file's header states.
        return 2**16 - 1, False
    if not image.mode.startswith("I;16"):
        kind = UNKNOWN.get(image.mode, f"{image.mode} colours")
        raise InputError(
            f"{shown(name)} holds {kind}, of which black and white are not known; save it with 8 or 16 bits"
        )
    tags = getattr(image, "tag_v2", {})
    return 2 ** tags.get(BITS, (16,))[0] - 1, tags.get(PHOTOMETRIC) == WHITE_IS_ZERO


def _scaled(image: PIL.Image.Image, largest: int, inverted: bool) -> PIL.Image.Image:
    """The grey values 0 … `largest` as 0 … 255, rounded to the nearest; with alpha where one value is transparent."""
    values = np.asarray(image).astype(np.uint32)
    grey = (2 * 255 * values + largest) // (2 * largest)
    scaled = PIL.Image.fromarray((255 - grey if inverted else grey).astype(np.uint8))
    if "transparency" in image.info:
        alpha = np.where(values == image.info["transparency"], 0, 255).astype(np.uint8)
        scaled = PIL.Image.merge("LA", (scaled, PIL.Image.fromarray(alpha)))
    return scaled
