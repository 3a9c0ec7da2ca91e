"""Archives, extracted with the standard library."""

import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from pipeline.images.settings import CONVERT
from pipeline.project.errors import InputError

DAMAGED = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,  # without an error number: checksums of gzip, and bzip2
    RuntimeError,  # a password, or a compression that zipfile does not know
    ValueError,  # names or numbers that cannot be decoded
)
"""What the standard library raises for archives that it cannot read."""


def extract(path: Path, folder: str) -> None:
    """Extract a zip archive or a tar archive, compressed or not.

    Args:
        path: The archive. Its content decides its kind, whatever its name is.
        folder: An existing folder for the files.

    Raises:
        InputError: The file is not a complete archive, or holds something else than
            files and folders.
    """
    try:
        # zipfile.is_zipfile also finds a zip that is the last file of a tar archive.
        if tarfile.is_tarfile(path):
            with tarfile.open(path) as archive:
                _extract_tar(archive, folder)
        else:
            # shutil.unpack_archive skips files of a zip with ".." in their names.
            with zipfile.ZipFile(path) as archive:
                archive.extractall(folder)
    except DAMAGED as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InputError(
            f"{path} is no .tar, .tar.gz or .zip archive, or it is incomplete, damaged "
            f"or encrypted; download it again, or {CONVERT}",
            "unreadable-file",
            path=str(path),
        ) from None


def _extract_tar(archive: tarfile.TarFile, folder: str) -> None:
    # Files are copied one by one, because tarfile has extracted safely only since
    # Python 3.11.4.
    root = Path(folder).resolve()
    links = {}
    for member in archive:
        target = _inside(root, root, member.name, archive)
        if member.isdir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if member.issym():
            links[target] = _inside(root, target.parent, member.linkname, archive)
        elif member.islnk():
            links[target] = _inside(root, root, member.linkname, archive)
        elif member.isfile():
            with archive.extractfile(member) as content, target.open("wb") as file:
                shutil.copyfileobj(content, file)
        else:
            raise _refuse(archive, f"{member.name}, which is neither file nor folder")
    _copy_linked(links, archive)
    # tarfile takes a cut or a damaged header for the end of the archive, and loses the
    # rest in silence. A complete archive ends with empty blocks. The checksum of a
    # compressed one is compared when its end is read.
    archive.fileobj.seek(archive.offset)
    rest = archive.fileobj.read()
    if len(rest) < tarfile.BLOCKSIZE or rest.strip(b"\0"):
        raise tarfile.ReadError("not the end of the archive")


def _inside(root: Path, start: Path, name: str, archive: tarfile.TarFile) -> Path:
    """Resolve a name from a folder. The path must be below the root."""
    path = (start / name).resolve()
    if not path.is_relative_to(root):
        raise _refuse(archive, f"the path {name}, outside its folder")
    return path


def _copy_linked(links: Mapping[Path, Path], archive: tarfile.TarFile) -> None:
    """Copy the file to which each link leads, maybe by other links."""
    for link in links:
        source = link
        seen = set()
        while source in links and source not in seen:
            seen.add(source)
            source = links[source]
        if not source.is_file():
            raise _refuse(archive, f"a link {link.name} to no file in it")
        shutil.copyfile(source, link)


def _refuse(archive: tarfile.TarFile, what: str) -> InputError:
    return InputError(
        f"{archive.name} holds {what}; extract it yourself, and give its folder",
        "unreadable-file",
        path=archive.name,
    )
