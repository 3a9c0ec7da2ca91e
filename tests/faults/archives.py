"""Archives of images, damaged, hostile and odd (group 12)."""

import bz2
import functools
import gzip
import json
import lzma
import os
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from pipeline.images import sources
from pipeline.images.image_set import canonical
from tests.faults.cases import Case, Run, Stages
from tests.faults.repository import NOWHERE
from tests.small_images import FOUR, member, png, set_of, tar, zipped

COMPRESS = {
    "tar": bytes,
    "tar.gz": functools.partial(gzip.compress, mtime=0),
    "tar.bz2": bz2.compress,
    "tar.xz": lzma.compress,
    "zip": bytes,
}
"""What makes an archive of each kind of its members' one, the same bytes at any time: a failing case must be there again."""

JUNK = {
    "empty": b"",
    "text": b"not an archive",
    "noise": np.random.default_rng(0).bytes(3000),
    "gzip's beginning": b"\x1f\x8b broken",
    "bzip2's beginning": b"BZh9 broken",
    "xz's beginning": b"\xfd7zXZ\x00 broken",
    "zip's beginning": b"PK\x03\x04 broken",
    "zeros": bytes(600),
    "a web page": b"<!doctype html><title>404</title>",
}
"""What is no archive, whatever its name says."""


def download(stages: Stages, folder: Path, path: Path | str | None, **options: object) -> Run:
    """The stage `download` on the images at a path, or from nowhere but `options`."""
    given = {"path": None if path is None else str(path), "url": NOWHERE, "fallback": None} | options.pop("images", {})
    (folder / "data/plan").mkdir(parents=True, exist_ok=True)
    (folder / "data/plan/images.json").write_text(json.dumps(given))
    return stages.run("download", folder=folder, memory=12 * 2**30, **options)


def laid(folder: Path) -> str:
    """The digest of the images that `download` laid down."""
    return json.loads((folder / "data/images/about.json").read_text())["digest"]


def of_images(
    group: int,
    name: str,
    make: Callable[[Path], Path | str],
    right: Callable[[Path, Run], bool] | None = None,
    **options,
) -> Case:
    """A case of images; make: lays them into a folder and gives their path."""

    def action(stages: Stages, folder: Path) -> Run:
        return download(stages, folder, make(folder))

    return Case(group, name, action, right, **options)


@functools.cache
def _whole(kind: str) -> tuple[bytes, str]:
    """An undamaged archive of PNGs, and its images' digest."""
    noise = np.random.default_rng(1).integers(0, 256, (4, 32, 32, 3)).astype(np.uint8)
    files = FOUR | {f"train/cat/{n}.png": png(noise[n]) for n in range(4)}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / f"whole.{kind}"
        packed = (zipped if kind == "zip" else tar)(path, files.items())
        packed.write_bytes(COMPRESS[kind](packed.read_bytes()))
        return packed.read_bytes(), canonical(sources.read(packed)).digest()


def _bytes(name: str, data: bytes, folder: Path) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def damaged(each: int) -> Iterator[Case]:
    """Archives of each kind: what is none, `each` cuts and `each` turned bits."""
    for kind in COMPRESS:
        for name, data in JUNK.items():
            yield of_images(12, f"{kind}: {name}", functools.partial(_bytes, f"x.{kind}", data))
        whole, right = _whole(kind)
        rng = np.random.default_rng(2)
        for cut in rng.integers(0, len(whole), each):
            make = functools.partial(_bytes, f"x.{kind}", whole[:cut])
            yield of_images(12, f"{kind}: cut at {cut}", make, lambda folder, _, right=right: laid(folder) == right)
        for bit in rng.integers(0, 8 * len(whole), each):
            turned = bytearray(whole)
            turned[bit // 8] ^= 1 << bit % 8
            make = functools.partial(_bytes, f"x.{kind}", bytes(turned))
            yield of_images(12, f"{kind}: bit {bit}", make, lambda folder, _, right=right: laid(folder) == right)


def _fifo(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.tar")
    return folder / "pipe.tar"


def _circle(folder: Path) -> Path:
    root = set_of(folder / "set", {})
    (root / "train" / "cat" / "again").symlink_to(root)
    return root


def _own_link(folder: Path) -> Path:
    (folder / "x.tar").symlink_to(folder / "x.tar")
    return folder / "x.tar"


def _zip_field(local: int, central: int, value: int, folder: Path) -> Path:
    """A .zip whose first member's headers hold another value at a place."""
    path = zipped(folder / "x.zip", FOUR.items())
    data = bytearray(path.read_bytes())
    for magic, offset in ((b"PK\x03\x04", local), (b"PK\x01\x02", central)):
        struct.pack_into("<H", data, data.index(magic) + offset, value)
    path.write_bytes(data)
    return path


def _bomb(kind: str, folder: Path) -> Path:
    """A small file that unpacks to four gigabytes of zeros."""
    path, size = folder / f"bomb.{kind}", 2**32
    if kind == "zip":
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
            archive.open("train/cat/0.png", "w", force_zip64=True) as file,
        ):
            for _ in range(size // 2**24):
                file.write(bytes(2**24))
        return path
    with gzip.open(path, "wb", compresslevel=1) as file:
        header = member("train/cat/0.png")
        header.size = size
        file.write(header.tobuf())
        for _ in range(size // 2**24):
            file.write(bytes(2**24))
    return path


def _linked(kind: bytes, target: str, folder: Path) -> Path:
    extra = member("train/cat/1.png", kind=kind, linkname=target)
    return tar(folder / "x.tar", [*FOUR.items(), (extra, b"")])


def _mac(folder: Path) -> Path:
    """A .zip as the Finder of macOS makes it."""
    beside = {f"__MACOSX/{name.replace('0.png', '._0.png')}": b"\0\5\x16\7" for name in FOUR}
    return zipped(folder / "x.zip", {**FOUR, **beside, "train/cat/._0.png": b"\0\5\x16\7", ".DS_Store": b"x"}.items())


def odd() -> Iterator[Case]:
    """Archives that are whole and not what they should be."""
    four = canonical_digest(FOUR)
    same = lambda folder, _: laid(folder) == four
    yield of_images(12, "a FIFO", _fifo)
    yield of_images(12, "/dev/zero", lambda _: "/dev/zero")
    yield of_images(12, "/dev/stdin", lambda _: "/dev/stdin")
    yield of_images(12, "a link to itself", _own_link)
    yield of_images(12, "a folder with a link to itself", _circle)
    yield of_images(12, "nowhere", lambda folder: folder / "nowhere")
    yield of_images(12, "a path of 5,000 letters", lambda _: "x" * 5000)
    yield of_images(12, "a path with an end of line", lambda folder: folder / "a\nb")
    yield of_images(12, "~nobody", lambda _: "~nobody-of-this-name/x")
    yield of_images(12, "encrypted", functools.partial(_zip_field, 6, 8, 1), says="password")
    yield of_images(12, "an unknown compression", functools.partial(_zip_field, 8, 10, 99))
    for kind in ("zip", "tar.gz"):
        yield of_images(12, f"a bomb in a {kind}", functools.partial(_bomb, kind), slow=True)
    for name, kind, target in (
        ("a link out of the archive", tarfile.SYMTYPE, "/etc/passwd"),
        ("a hard link", tarfile.LNKTYPE, "train/cat/0.png"),
        ("a FIFO inside", tarfile.FIFOTYPE, ""),
        ("a device inside", tarfile.CHRTYPE, ""),
    ):
        yield of_images(12, name, functools.partial(_linked, kind, target))
    yield of_images(12, "a Mac's zip", _mac, same, refusable=False)
    for name, files in {
        "an absolute name": {f"/{key}": data for key, data in FOUR.items()},
        "a name that climbs": {f"../../{key}": data for key, data in FOUR.items()},
        "backslashes": {key.replace("/", "\\"): data for key, data in FOUR.items()},
    }.items():
        for suffix, write in (("tar", tar), ("zip", zipped)):
            make = lambda folder, files=files, suffix=suffix, write=write: write(folder / f"x.{suffix}", files.items())
            yield of_images(12, f"{suffix}: {name}", make, same)
    twice = [*FOUR.items(), ("./train/cat/0.png", png(shade=5))]
    yield of_images(12, "tar: a member twice", lambda folder: tar(folder / "x.tar", twice))
    yield of_images(12, "zip: a member twice", lambda folder: zipped(folder / "x.zip", twice))
    yield of_images(12, "two archives behind each other", _two)
    for number in (3000, 40_000):
        yield of_images(12, f"{number} long names", functools.partial(_chain, number))


def _two(folder: Path) -> Path:
    one, two = tar(folder / "a.tar", FOUR.items()), tar(folder / "b.tar", [("train/cat/9.png", png(shade=9))])
    one.write_bytes(one.read_bytes() + two.read_bytes())
    return one


def _chain(number: int, folder: Path) -> Path:
    chain = [(member("x" * 3, b"y\0", tarfile.GNUTYPE_LONGNAME), b"y\0")] * number
    return tar(folder / "x.tar", [*FOUR.items(), *chain])


@functools.cache
def _digest(files: tuple) -> str:
    with tempfile.TemporaryDirectory() as name:
        return canonical(sources.read(set_of(Path(name) / "set", dict(files)))).digest()


def canonical_digest(files: dict[str, bytes]) -> str:
    """The digest of the images of class folders that hold these files."""
    return _digest(tuple(files.items()))


def cases(each: int = 12) -> list[Case]:
    """All cases of archives; each: cuts and turned bits of each kind of archive."""
    return [*odd(), *damaged(each)]
