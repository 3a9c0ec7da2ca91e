"""What archives hold, read forwards from .tar (plain, .gz, .bz2, .xz) and .zip without extracting anything to disk."""

import bz2
import contextlib
import functools
import gzip
import lzma
import stat
import tarfile
import typing
import zipfile
from collections.abc import Iterator
from pathlib import Path

from pipeline.images.entries import Entry, refuse_larger
from pipeline.images.names import shown
from pipeline.project.errors import InputError

COMPRESSIONS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
"""What opens a compressed .tar, by its first bytes."""

ZIP = (b"PK\x03\x04", b"PK\x05\x06")
"""First bytes of a .zip, with and without members."""

FREE, RATIO = 2**30, 20
"""An archive may unpack to 1 GiB and 20 times its own size: images are compressed, so what holds more is no set of images."""

HEADER = 2**20
"""Bytes of the largest header of a .tar that is read (a name has a few thousand at most)."""


@contextlib.contextmanager
def entries(path: Path) -> Iterator[list[Entry] | Iterator[Entry]]:
    """Context with what an archive holds: a list of all entries (.zip), or an iterator over them (.tar).

    A .tar is read once, from its beginning to its end, so each entry is to be read before the next one is asked for.
    Raises InputError if the archive is damaged, incomplete, encrypted, or unpacks to far more than its size.
    """
    limit = FREE + RATIO * path.stat().st_size
    with _damage(path), open(path, "rb") as file:
        head = file.read(6)
    if head.startswith(ZIP):
        with _damage(path):
            archive = zipfile.ZipFile(path)
        with archive:
            yield _of_zip(path, archive, limit)
        return
    opener = next((opener for magic, opener in COMPRESSIONS.items() if head.startswith(magic)), open)
    with opener(path, "rb") as file:
        yield _of_tar(path, _Tape(file, path, limit))


@contextlib.contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Context of calls of the libraries that unpack: what they raise becomes one sentence.

    On damaged bytes they raise nearly anything (zlib.error, EOFError, IndexError, RecursionError), hence `Exception`.
    """
    try:
        yield
    except (InputError, PermissionError):
        raise
    except Exception as error:
        reason = shown(" ".join(str(error).split()) or type(error).__name__)
        raise InputError(
            f"{shown(path)} cannot be read as a .tar, .tar.gz or .zip archive, it is damaged or incomplete "
            f"({reason}); fetch it again"
        ) from None


def _too_much(path: Path, limit: int) -> InputError:
    return InputError(
        f"{shown(path)} unpacks to more than {limit:,} bytes, far more than images of an archive of its size; "
        f"it is no set of images"
    )


def _of_zip(path: Path, archive: zipfile.ZipFile, limit: int) -> list[Entry]:
    infos = archive.infolist()
    # A member never gives more bytes than it says here: zipfile stops there.
    if sum(info.file_size for info in infos) > limit:
        raise _too_much(path, limit)
    found = []
    for info in infos:
        name = info.filename
        if info.is_dir():
            found.append(Entry(name))
        elif stat.S_ISLNK(info.external_attr >> 16):
            found.append(Entry(name, obstacle="is a link in the archive; pack what it leads to"))
        elif info.flag_bits & 1:
            found.append(Entry(name, obstacle="is encrypted; pack it without a password"))
        else:
            found.append(Entry(name, functools.partial(_zipped, path, archive, info)))
    return found


def _zipped(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    refuse_larger(info.file_size, info.filename)
    with _damage(path):
        try:
            return archive.read(info)
        except NotImplementedError as error:
            raise InputError(f"{shown(info.filename)} cannot be unpacked ({error}); pack it as usual") from None


class _Tape:
    """The unpacked bytes of a .tar, read forwards and counted; `last` is what was read last, a header or its end."""

    def __init__(self, file: typing.BinaryIO, path: Path, limit: int) -> None:
        self.file, self.path, self.limit = file, path, limit
        self.position, self.last = 0, b""

    def _advance(self, position: int) -> None:
        # Damaged sizes may lead backwards, and so round for ever.
        if position < self.position:
            raise tarfile.ReadError("a header leads backwards")
        if position > self.limit:
            raise _too_much(self.path, self.limit)
        self.position = position

    def tell(self) -> int:
        """Bytes from the beginning."""
        return self.position

    def seek(self, position: int) -> None:
        """Pass over everything before `position`."""
        self._advance(position)
        self.file.seek(position)

    def read(self, size: int) -> bytes:
        """A header, or a part of one."""
        if not 0 <= size <= HEADER:
            raise tarfile.ReadError(f"a header says that it holds {size} bytes")
        self.last = self.content(size)
        return self.last

    def content(self, size: int) -> bytes:
        """The next `size` bytes, fewer where it ends."""
        self._advance(self.position + size)
        return self.file.read(size)

    def end(self) -> None:
        """Raise tarfile.ReadError if the archive does not end as a whole one does, with zeros and nothing else."""
        # tarfile takes a cut at or inside a header, and a damaged header, for the end.
        if self.last != tarfile.NUL * tarfile.BLOCKSIZE:
            raise tarfile.ReadError("its end is missing")
        # At its own end a compressed file compares its checksum.
        while rest := self.content(HEADER):
            if rest.strip(tarfile.NUL):
                raise tarfile.ReadError("it goes on behind its end")


def _of_tar(path: Path, tape: _Tape) -> Iterator[Entry]:
    with _damage(path):
        archive = tarfile.TarFile(fileobj=tape)
    while True:
        with _damage(path):
            member = archive.next()
            # tarfile keeps what it has read.
            archive.members.clear()
            if member is None:
                return tape.end()
        if member.isdir():
            yield Entry(member.name)
        elif member.isreg() and not member.issparse():
            yield Entry(member.name, functools.partial(_packed, path, tape, member))
        elif member.isreg():
            yield Entry(member.name, obstacle="is packed as a sparse file; pack it as usual")
        elif member.issym() or member.islnk():
            yield Entry(
                member.name, obstacle="is a link in the archive; pack with `tar --dereference --hard-dereference`"
            )
        else:
            yield Entry(member.name, obstacle="is neither a file nor a folder; pack the archive without it")
        with _damage(path):
            tape.seek(archive.offset)


def _packed(path: Path, tape: _Tape, member: tarfile.TarInfo) -> bytes:
    refuse_larger(member.size, member.name)
    with _damage(path):
        tape.seek(member.offset_data)
        data = tape.content(member.size)
        if len(data) < member.size:
            raise tarfile.ReadError("unexpected end of data")
    return data
