"""The files in own/, which are in the key of everything that your networks determine.

DVC follows changes in own/ only, so a module that a network imports from elsewhere is
refused, and data that it reads from elsewhere get a notice.
"""

import builtins
import contextlib
import os
import shlex
import sys
import sysconfig
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from unittest import mock

from pipeline.networks.custom import OWN
from pipeline.project.artifacts import file_digest
from pipeline.project.errors import InputError

PACKAGE = Path(__file__).parents[1]
INSTALLED = (
    f"{PACKAGE}/",
    f"{sysconfig.get_path('stdlib')}/",
    "/site-packages/",
    "/dist-packages/",
)
"""Parts of the paths of installed modules."""

SYSTEM = ("/etc/", "/proc/", "/sys/", "/usr/", os.path.join(sys.prefix, ""))
"""Beginnings of the paths of files that are no data of a network."""


def digests() -> dict[str, str]:
    """Return the sha256 of every file below own/ by its path.

    README.md, hidden files and compiled modules do not count.

    Raises:
        InputError: If own/ contains a link to a folder, which DVC does not follow.
    """
    found = {}
    for path in sorted(OWN.rglob("*")):
        if "/." in path.as_posix() or path.suffix == ".pyc":
            continue
        if path.is_symlink() and path.is_dir():
            target = shlex.quote(str(path.resolve()))
            raise InputError(
                f"{path} is a link to a folder, which DVC does not follow; link its "
                f"files with `rm {path} && cp -Rs {target} {path.parent}/`",
                "outside-own",
                path=str(path),
            )
        if path.is_file() and path != OWN / "README.md":
            found[str(path)] = file_digest(path)
    return found


def digest_of(file: str, files: dict[str, str]) -> dict[str, str]:
    """Return the entry of one file in `digests()`.

    Args:
        file: Path of the file.
        files: What `digests()` returned.

    Raises:
        InputError: If the file is not below own/.
    """
    path = os.path.relpath(file)
    if path not in files:
        raise _elsewhere(Path(file))
    return {path: files[path]}


def check_imports(loaded: set[str]) -> None:
    """Check that the modules that networks imported are installed or below own/.

    Args:
        loaded: Names of the modules that were loaded before.

    Raises:
        InputError: If a module is from elsewhere.
    """
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is None or name.partition(".")[0] in loaded or not os.path.isfile(file):
            continue
        if not _is_known(file):
            raise _elsewhere(Path(file))


def is_installed(path: str) -> bool:
    """Return whether a file is one of this package or of an installed one."""
    return any(folder in path for folder in INSTALLED)


def _is_known(path: str) -> bool:
    """Return whether a file is below own/ or installed."""
    return path.startswith(f"{OWN.absolute()}/") or is_installed(path)


def _elsewhere(path: Path) -> InputError:
    """Return the error for a file outside own/, with the command that links it."""
    while (path.parent / "__init__.py").exists():
        path = path.parent
    return InputError(
        f"{path} is outside own/, where DVC would not see its edits; link it with `cp "
        f"-Rs {shlex.quote(str(path.absolute()))} own/`",
        "outside-own",
        path=str(path),
    )


@contextlib.contextmanager
def record_reads() -> Iterator[set[str]]:
    """Context that records the files which are opened with Python's `open`.

    So do NumPy, torch.load and pathlib. Files that a library opens in compiled code,
    such as safetensors, are not recorded.
    """
    paths = set()
    original = builtins.open

    def record(file, mode="r", *arguments, **options):
        if isinstance(file, str | os.PathLike) and "r" in mode:
            paths.add(os.path.abspath(file))
        return original(file, mode, *arguments, **options)

    with mock.patch("builtins.open", record), mock.patch("io.open", record):
        yield paths


def _is_hidden(path: str) -> bool:
    """Return whether a file or a folder that holds it is hidden.

    Folders above the current folder do not count, nor do those above the home folder.
    """
    for folder in (Path.cwd(), Path.home()):
        if Path(path).is_relative_to(folder):
            return "/." in f"/{Path(path).relative_to(folder).as_posix()}"
    return "/." in path


def find_data(paths: Iterable[str]) -> list[str]:
    """Return the files that may be a network's data.

    Hidden files, such as the caches of libraries, and temporary files do not count.

    Args:
        paths: Absolute paths of the files that the network read.
    """
    files = []
    for path in sorted(paths):
        is_data = not _is_hidden(path) and not path.startswith(SYSTEM)
        if is_data and not is_installed(path) and os.path.isfile(path):
            files.append(path)
    return files


def find_reads_elsewhere(import_path: str, paths: Iterable[str]) -> list[str]:
    """Return a sentence on data that no cache key covers.

    Args:
        import_path: `package.module:name` of the network.
        paths: Absolute paths of the files that it read.
    """
    files = [path for path in find_data(paths) if not _is_known(path)]
    if not files:
        return []
    names = textwrap.shorten(", ".join(files), 200)
    return [
        f"{import_path} reads {names} outside own/, so a change of this retrains "
        "nothing; copy it into own/"
    ]
