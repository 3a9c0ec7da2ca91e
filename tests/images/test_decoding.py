"""One image file: known pixels for every kind of values, and what cannot be read soundly refused by name."""

import io
import struct
import zlib

import numpy as np
import PIL.Image
import pytest
from small_images import attempt, deep_png, png, saved

from pipeline.images.decoding import picture
from pipeline.project.errors import InputError

RAMP = np.linspace(0, 65535, 32 * 32).round().astype(np.uint16).reshape(32, 32)
RAMP_8 = np.rint(RAMP / 257).astype(np.uint8)


def pixels(data, name="x.png"):
    """Pixels (32, 32, 3) of an image file."""
    return np.frombuffer(picture(name, data).pixels, np.uint8).reshape(32, 32, 3)


def grey(data):
    """Pixels (32, 32) of an image file, which must be grey."""
    found = pixels(data)
    assert (found == found[..., :1]).all()
    return found[..., 0]


def done(data, name="x.png"):
    """What was done to an image, its sentences joined."""
    return "; ".join(picture(name, data).done)


def tiff(values, bits, tags=None):
    """A TIFF of one strip of values (bytes), its header written by hand."""
    fields = {256: 32, 257: 32, 258: bits, 259: 1, 262: 1, 273: 8, 277: 1, 278: 32, 279: len(values)} | (tags or {})
    table = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in sorted(fields.items()))
    return struct.pack("<2sHI", b"II", 42, 8 + len(values)) + values + struct.pack("<H", len(fields)) + table + bytes(4)


@pytest.mark.parametrize(
    "data",
    [
        saved(PIL.Image.fromarray(RAMP), "PNG"),
        saved(PIL.Image.fromarray(RAMP), "TIFF"),
        saved(PIL.Image.fromarray(RAMP), "TIFF", compression="tiff_deflate"),
        saved(PIL.Image.fromarray(RAMP), "PPM"),
        tiff(RAMP.tobytes(), 16),
        tiff((65535 - RAMP).tobytes(), 16, {262: 0}),
        b"P2 32 32 65535\n" + " ".join(map(str, RAMP.ravel())).encode(),
    ],
    ids=["png", "tiff", "deflated", "pgm", "tags", "white-is-zero", "plain-pgm"],
)
def test_sixteen_bits_of_grey_are_divided_by_257(data):
    assert np.array_equal(grey(data), RAMP_8)
    assert "16 bits: value / 257, rounded" in done(data)


def test_twelve_bits_of_grey_are_scaled_by_their_range():
    values = np.arange(32 * 32) * 4 + 3
    pairs = values.reshape(-1, 2)
    packed = np.stack([pairs[:, 0] >> 4, (pairs[:, 0] & 15) << 4 | pairs[:, 1] >> 8, pairs[:, 1] & 255], 1)
    data = tiff(packed.astype(np.uint8).tobytes(), 12)
    assert np.array_equal(grey(data).ravel(), np.floor(values * 255 / 4095 + 0.5))
    assert "scaled to 8 by their range" in done(data)


def test_sixteen_bits_a_colour_are_cut_with_a_notice():
    # Pillow takes the higher 8 bits, at most one step from value / 257.
    for channels, colour in ((3, 2), (4, 6), (2, 4)):
        rows = np.repeat(RAMP[..., None], channels, 2)
        rows[..., channels // 2 * 2 - 1 if channels != 3 else 0] = 65535 if channels != 3 else RAMP
        data = deep_png(rows, colour)
        assert np.array_equal(grey(data), RAMP >> 8), colour
        assert done(data) == "of 16 bits a colour the higher 8 were taken"
    scaled = b"P6 32 32 65535\n" + np.repeat(RAMP[..., None], 3, 2).astype(">u2").tobytes()
    assert np.array_equal(grey(scaled), RAMP_8) and "scaled to 8 by their range" in done(scaled)
    keyed = deep_png(np.zeros((32, 32, 3), np.uint16), 2)
    key = b"tRNS" + struct.pack(">HHH", 1, 2, 3)
    keyed = keyed[:33] + struct.pack(">I", 6) + key + struct.pack(">I", zlib.crc32(key)) + keyed[33:]
    with pytest.raises(InputError, match="x.png has a transparent colour of 16 bits"):
        picture("x.png", keyed)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (saved(PIL.Image.fromarray(RAMP.astype(np.int32)), "TIFF"), "whole numbers of 32 bits or with a sign"),
        (tiff(RAMP.astype(np.uint32).tobytes(), 32), "whole numbers of 32 bits or with a sign"),
        (tiff(RAMP.tobytes(), 16, {339: 2}), "whole numbers of 32 bits or with a sign"),
        (saved(PIL.Image.fromarray(RAMP_8 / np.float32(255)), "TIFF"), "floating-point numbers"),
        (saved(PIL.Image.new("LAB", (32, 32)), "TIFF"), "LAB colours"),
    ],
    ids=["int32", "uint32", "int16", "float", "lab"],
)
def test_values_without_a_known_range_are_refused_by_name(data, kind):
    with pytest.raises(InputError) as refused:
        picture("train/cat/deep.tif", data)
    assert str(refused.value) == (
        f"train/cat/deep.tif holds {kind}, of which black and white are not known; save it with 8 or 16 bits"
    )


def test_transparent_places_are_laid_on_white_and_opaque_ones_stay():
    rgba = np.full((32, 32, 4), 100, np.uint8)
    rgba[..., 3] = 255
    assert (pixels(png(rgba)) == 100).all() and not done(png(rgba))
    rgba[:16, :, 3], rgba[16:, :, 3] = 0, 51
    found = pixels(png(rgba))
    assert (found[:16] == 255).all() and (found[16:] == 255 - 155 // 5).all()
    assert done(png(rgba)) == "what is transparent was laid on white"
    palette = PIL.Image.fromarray(np.repeat(np.array([[0], [1]], np.uint8), 16, 0).repeat(32, 1), "L").convert("P")
    palette.putpalette([10, 20, 30, 40, 50, 60])
    assert pixels(saved(palette, "PNG"))[[0, -1], 0].tolist() == [[10, 20, 30], [40, 50, 60]]
    for kind in ("PNG", "GIF"):
        keyed = saved(palette, kind, transparency=1)
        assert pixels(keyed)[[0, -1], 0].tolist() == [[10, 20, 30], [255, 255, 255]]
        assert done(keyed) == "what is transparent was laid on white"
    deep = saved(PIL.Image.fromarray(RAMP), "PNG", transparency=0)
    assert grey(deep)[0, 0] == 255 and np.array_equal(grey(deep).ravel()[1:], RAMP_8.ravel()[1:])


def test_other_kinds_of_colours():
    two = PIL.Image.fromarray(np.arange(32 * 32).reshape(32, 32) % 2 == 1)
    assert np.array_equal(grey(saved(two, "PNG")), np.arange(32 * 32).reshape(32, 32) % 2 * 255)
    cmyk = saved(PIL.Image.new("CMYK", (32, 32), (255, 0, 0, 0)), "TIFF")
    assert pixels(cmyk)[0, 0].tolist() == [0, 255, 255]
    assert done(cmyk) == "CMYK was turned into RGB without a colour profile"
    assert pixels(saved(PIL.Image.new("YCbCr", (32, 32), (90, 128, 128)), "TIFF"))[0, 0].tolist() == [90, 90, 90]


@pytest.mark.parametrize("kind", ["GIF", "TIFF", "PNG", "WEBP"])
def test_of_several_frames_the_first_is_taken_with_a_notice(kind):
    frames = [PIL.Image.new("RGB", (32, 32), shade) for shade in ("black", "red", "white")]
    options = {"lossless": True} if kind == "WEBP" else {}
    data = saved(frames[0], kind, save_all=True, append_images=frames[1:], **options)
    assert (pixels(data) == 0).all() and done(data) == "of several frames or pages the first was taken"
    assert not done(saved(frames[0], kind, **options))


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "JPEG"])
def test_images_are_turned_as_their_exif_data_says(kind):
    upright = PIL.Image.fromarray(np.repeat(np.repeat([[0, 255], [0, 0]], 16, 0), 16, 1).astype(np.uint8))
    exif = PIL.Image.Exif()
    exif[0x0112] = 6  # to be seen upright, turn it by 90° clockwise
    data = saved(upright.transpose(PIL.Image.Transpose.ROTATE_90), kind, exif=exif)
    assert np.array_equal(grey(data) > 127, np.asarray(upright) > 127)
    assert done(data) == "images were turned upright as their EXIF data says"
    wide = saved(PIL.Image.new("L", (64, 32)), kind, exif=exif)
    assert picture("x.png", wide).size == (32, 64)


def test_no_flipped_bit_of_a_png_changes_its_pixels_in_silence():
    shades = (np.add.outer(np.arange(16), np.arange(16)) * 8 % 251).astype(np.uint8)
    whole = png(np.repeat(shades[..., None], 3, 2))
    right, passed = picture("x.png", whole).pixels, []
    for position in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[position // 8] ^= 1 << position % 8
        found, sentence = attempt(picture, "x.png", bytes(flipped))
        if sentence:
            assert sentence == "x.png cannot be read as an image; it is damaged, remove or replace it"
        else:
            assert found.pixels == right, position
            passed.append(position // 8)
    assert min(passed) >= len(whole) - 12, "only the last chunk, which holds no pixels, may be damaged"


def test_damaged_or_hostile_files_end_with_one_sentence():
    jpeg = saved(PIL.Image.fromarray(RAMP_8), "JPEG")
    for data in (
        b"",
        b"not an image",
        jpeg[: len(jpeg) // 2],
        png()[:-20],
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
    ):
        with pytest.raises(
            InputError, match=r"^x\.png cannot be read as an image; it is damaged, remove or replace it$"
        ):
            picture("x.png", data)
    assert picture("x.png", png() + b"trailing").pixels == picture("x.png", png()).pixels


@pytest.mark.parametrize("side", [9500, 20000])
def test_a_picture_of_too_many_pixels_is_refused_before_it_is_unpacked(side):
    # Pillow only warns of the first.
    file = io.BytesIO()
    PIL.Image.new("1", (8, 8)).save(file, "PNG")
    data = bytearray(file.getvalue())
    data[16:24] = struct.pack(">II", side, side)
    data[29:33] = struct.pack(">I", zlib.crc32(bytes(data[12:29])))
    with pytest.raises(
        InputError, match=r"^x\.png has more than 89,478,485 pixels, the most that is read; make it smaller$"
    ):
        picture("x.png", bytes(data))


def test_what_changes_the_aspect_ratio_is_said():
    assert done(saved(PIL.Image.new("L", (64, 64)), "PNG")) == ""
    assert done(saved(PIL.Image.new("L", (64, 32)), "PNG")) == (
        "images that are not square were stretched to 32×32, which changes their aspect ratio"
    )


def test_names_are_shown_on_one_line():
    with pytest.raises(InputError) as refused:
        picture("train/c\nat/" + "x" * 10_000 + "\x1b[31m\udcff.png", b"")
    sentence = str(refused.value)
    assert len(sentence) < 300 and sentence.isprintable() and sentence.startswith("train/c\\nat/xxx")
