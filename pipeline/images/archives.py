"""Archives, extracted with the standard library."""

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
        InputError: The file is not an archive, or is only a part of one.
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
    # Python has filters since 3.11.4, and ignores this attribute before.
    archive.extraction_filter = getattr(tarfile, "data_filter", None)
    archive.extractall(folder)
    # tarfile takes a cut between two files for the end of the archive, and loses the
    # rest in silence. A complete archive ends with empty blocks, read after its files.
    if archive.fileobj.tell() < archive.offset + tarfile.BLOCKSIZE:
        raise tarfile.ReadError("the end is missing")
