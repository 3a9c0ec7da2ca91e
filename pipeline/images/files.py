"""The files of a folder or an archive by name, read in memory and never unpacked onto the disk."""

import contextlib
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from glob import glob
from pathlib import Path

from pipeline.project.errors import InputError

Files = dict[str, Callable[[], bytes]]
"""From a file's path, with "/" between its parts, to a function that reads its bytes."""


@contextlib.contextmanager
def files(path: Path) -> Iterator[Files]:
    """Context with the files below a folder, or in a .tar (plain or compressed) or .zip.

    Raises InputError for a file that is no archive, or a part of one.
    """
    try:
        if path.is_dir():
            names = glob("**", root_dir=path, recursive=True)  # which follows links
            yield {name: (path / name).read_bytes for name in names if not (path / name).is_dir()}
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
        kind = "is no .tar, .tar.gz or .zip archive, or only a part of one"
        with open(path, "rb") as file:
            if file.read(1000).lstrip().startswith(b"<"):
                kind = "is a web page"
        raise InputError(f"{path} {kind}; fetch it again") from None
