"""The files of a person's own network: all that Python opens while `plan` imports, builds and runs
it, except installed files and this package's.

Such a file, or a link to it, must lie in `own/`, since DVC sees the edits of that folder alone.
"""

import contextlib
import functools
import importlib.util
import os
import shlex
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

from pipeline.networks import OWN
from pipeline.project.artifacts import file_digest
from pipeline.project.errors import InputError

OURS = Path(__file__).parents[1]
INSTALLED = tuple(
    os.path.join(os.path.realpath(path), "") for path in (sysconfig.get_path("stdlib"), OURS)
)
SYSTEM = ("/proc/", "/sys/", "/dev/", "/etc/", "/usr/")  # where a clone may lie too


@contextlib.contextmanager
def recorded() -> Iterator[dict[str, str]]:
    """Context that gives a dict, filled at its end with the digests of the own files read in it."""
    opened, recorded_digests = _opened(), {}
    for name, module in list(sys.modules.items()):
        if os.path.join(OWN.absolute(), "") in repr(getattr(module, "__spec__", None)):
            del sys.modules[name]  # so that each network reads it anew
    opened.clear()
    yield recorded_digests
    if read := digests(filter(os.path.isfile, map(_source, list(opened)))):
        # Python does not see the files that libraries open themselves (HDF5, safetensors).
        read |= digests(p for p in linked() if not p.endswith((".py", ".pyc", ".md", ".npy")))
    recorded_digests.update(sorted(read.items()))


def digests(files: Iterable[str]) -> dict[str, str]:
    """The sha256, by path below own/, of a person's own files among `files`.

    Raises InputError, with the command that links it, for an own file that lies elsewhere.
    """
    below, own_digests = linked(), {}
    for file in map(os.path.realpath, files):
        if file in below:
            own_digests[below[file]] = file_digest(file)
        elif not _ignored(file):
            whole = Path(file)
            while (whole.parent / "__init__.py").exists():
                whole = whole.parent
            raise InputError(
                f"{file} lies outside own/, where DVC would not see its edits; link it there with "
                f"`cp -Rs {shlex.quote(str(whole))} own/`"
            )
    return own_digests


def linked() -> dict[str, str]:
    """The files in own/: from the real path of each to its path below own/.

    Raises InputError for a link to a folder, into which DVC does not look.
    """
    paths = {}
    for path in OWN.rglob("[!.]*"):
        if path.is_symlink() and path.is_dir():
            command = f"rm {path} && cp -Rs {shlex.quote(str(path.resolve()))} {path.parent}/"
            raise InputError(
                f"{path} is a link to a folder, into which DVC does not look; link its files with "
                f"`{command}`"
            )
        if path.is_file():
            paths[os.path.realpath(path)] = str(path)
    return paths


@functools.cache
def _opened() -> set[str]:
    """The set of the paths of all files that this process opens for reading from now on."""
    opened = set()

    def hook(event, arguments):
        if event == "open" and not isinstance(arguments[0], int):
            path, _, flags = arguments
            if flags & os.O_ACCMODE != os.O_WRONLY:
                opened.add(os.path.abspath(os.fsdecode(path)))

    sys.addaudithook(hook)
    return opened


def _source(path: str) -> str:
    # Python opens a compiled module in place of its source.
    with contextlib.suppress(ValueError):  # the path is no compiled module
        return importlib.util.source_from_cache(path)
    return path


def _ignored(file: str) -> bool:
    """Whether a file is installed, ours, the system's, or in a hidden folder such as a cache."""
    parts = Path(os.path.relpath(file)).parts
    return (
        file.startswith(INSTALLED)
        or (file.startswith(SYSTEM) and parts[0] == "..")
        or not {"site-packages", "dist-packages"}.isdisjoint(parts)
        or any(part.startswith(".") and part != ".." for part in parts)
    )
