"""Archives, extracted with the standard library."""

import shutil
import tarfile
import zipfile
from pathlib import Path

from pipeline.images.settings import CONVERT
from pipeline.project.errors import InputError


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
        # shutil.unpack_archive skips files of a zip with ".." in their names.
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                archive.extractall(folder)
        else:
            with tarfile.open(path) as archive:
                _extract_tar(archive, folder)
    except (tarfile.ReadError, zipfile.BadZipFile, EOFError):
        raise InputError(
            f"{path} is not a complete .tar, .tar.gz or .zip archive; download it "
            f"again, or {CONVERT}",
            "unreadable-file",
            path=str(path),
        ) from None


def _extract_tar(archive: tarfile.TarFile, folder: str) -> None:
    # Files are copied one by one, because tarfile has extracted safely only since
    # Python 3.11.4. A link becomes a copy of the file that it names in the archive.
    root = Path(folder).resolve()
    for member in archive:
        target = (root / member.name).resolve()
        if not target.is_relative_to(root):
            raise _refuse(archive, f"the path {member.name}, outside its folder")
        if member.isdir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        try:
            content = archive.extractfile(member)
        except KeyError:  # a link to a file outside the archive
            content = None
        if content is None:
            raise _refuse(archive, f"{member.name}, which leads to no file in it")
        target.parent.mkdir(parents=True, exist_ok=True)
        with content, target.open("wb") as file:
            shutil.copyfileobj(content, file)
    # tarfile takes a cut between two files for the end of the archive, and loses the
    # rest in silence. A complete archive has empty blocks after its files.
    archive.fileobj.seek(archive.offset)
    if len(archive.fileobj.read(tarfile.BLOCKSIZE)) < tarfile.BLOCKSIZE:
        raise tarfile.ReadError("the end is missing")


def _refuse(archive: tarfile.TarFile, what: str) -> InputError:
    return InputError(
        f"{archive.name} holds {what}; extract it yourself, and give its folder",
        "unreadable-file",
        path=archive.name,
    )
