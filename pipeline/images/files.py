"""The files of a folder or an archive by name, read in memory and never unpacked onto the disk."""

import contextlib
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from pipeline.project.errors import InputError

Files = dict[str, Callable[[], bytes]]
"""From a file's path, with "/" between its parts, to a function that reads its bytes."""

WANTED = (
    "CIFAR-10's archive cifar-10-python.tar.gz, or class folders train/<class>/* and "
    "test/<class>/*, or a .tar, .tar.gz or .zip of them"
)
"""The images that a path may lead to."""


def substitute(start: bytes) -> str:
    """What stands in a file's place, by its first bytes, and what to do; "" for the file itself."""
    if start.startswith(b"version https://git-lfs"):
        return "is a Git-LFS pointer in the place of the file, which `git lfs pull` fetches"
    return "is a web page; fetch it again" if start.lstrip().startswith(b"<") else ""


@contextlib.contextmanager
def files(path: Path) -> Iterator[Files]:
    """Context with the files below a folder, or in a .tar (plain or compressed) or .zip.

    Raises InputError for a file that is no archive, or a part of one.
    """
    try:
        if path.is_dir():
            yield {name: (path / name).read_bytes for name in _below(path)}
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                members = [member for member in archive.infolist() if not member.is_dir()]
                yield {m.filename: lambda m=m: archive.read(m) for m in members}
        else:
            with tarfile.open(path) as archive:
                members = [member for member in archive.getmembers() if not member.isdir()]
                # A whole archive ends with empty blocks, but tarfile takes a cut between two files
                # for its end.
                if archive.fileobj.tell() < archive.offset + tarfile.BLOCKSIZE:
                    raise tarfile.ReadError("its end is missing")
                # `extractfile` follows links.
                yield {m.name: lambda m=m: archive.extractfile(m).read() for m in members}
    except (tarfile.TarError, zipfile.BadZipFile, EOFError):
        with open(path, "rb") as file:
            kind = substitute(file.read(1000))
        if not kind and path.suffix.lower() in ("", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zip"):
            kind = "is no .tar, .tar.gz or .zip archive, or only a part of one; fetch it again"
        raise InputError(f"{path} {kind or f'is a {path.suffix} file; name {WANTED}'}") from None


def _below(folder: Path, name: str = "", inside: tuple[str, ...] = ()) -> Iterator[str]:
    """The paths of all files below a folder but hidden ones; links are followed."""
    if (place := os.path.realpath(folder / name)) in inside:
        raise InputError(f"{folder / name} is a link to a folder that holds it; remove the link")
    for each in (each for each in os.listdir(place) if not each.startswith(".")):
        if (path := folder / name / each).is_dir():
            yield from _below(folder, f"{name}{each}/", (*inside, place))
        elif path.exists():
            yield name + each
        else:
            raise InputError(f"{path} is a link to what is not there; remove or mend it")
