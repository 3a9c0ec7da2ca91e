"""The code of a network of one's own: the bytes of every file that is opened while `plan` imports,
builds and runs it, unless that file is installed or belongs to this package.

Such a file lies in `own/`, or a link to it does: DVC sees the edits of that folder.
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
INSTALLED = (
    *(os.path.join(os.path.realpath(path), "") for path in (sysconfig.get_path("stdlib"), OURS)),
    *("/proc/", "/sys/", "/dev/", "/etc/", "/usr/"),
)


@contextlib.contextmanager
def recorded() -> Iterator[dict[str, str]]:
    """Context that gives, at its end, the digests of every own file read in it (see `digests`)."""
    opened, found = _opened(), {}
    for name, module in list(sys.modules.items()):
        if os.path.join(OWN.absolute(), "") in repr(getattr(module, "__spec__", None)):
            del sys.modules[name]  # so that each network reads it anew
    opened.clear()
    yield found
    if read := digests(filter(os.path.isfile, map(_source, list(opened)))):
        # What libraries read by means of their own (HDF5, safetensors) Python is not told.
        read |= digests(p for p in linked() if not p.endswith((".py", ".pyc", ".md", ".npy")))
    found.update(sorted(read.items()))


def digests(files: Iterable[str]) -> dict[str, str]:
    """Path below own/ → sha256 of those files that are a person's own.

    Raises InputError, with the command that links it, for one that lies elsewhere.
    """
    below, found = linked(), {}
    for file in map(os.path.realpath, files):
        if file in below:
            found[below[file]] = file_digest(file)
        elif not _ignored(file):
            whole = Path(file)
            while (whole.parent / "__init__.py").exists():
                whole = whole.parent
            raise InputError(
                f"{file} lies outside own/, where DVC would not see its edits; link it there with "
                f"`cp -Rs {shlex.quote(str(whole))} own/`"
            )
    return found


def linked() -> dict[str, str]:
    """The files in own/: where each really lies → its path below own/.

    Raises InputError for a link to a folder, into which DVC does not look.
    """
    found = {}
    for path in OWN.rglob("[!.]*"):
        if path.is_symlink() and path.is_dir():
            command = f"rm {path} && cp -Rs {shlex.quote(str(path.resolve()))} {path.parent}/"
            raise InputError(
                f"{path} is a link to a folder, into which DVC does not look; link its files with "
                f"`{command}`"
            )
        if path.is_file():
            found[os.path.realpath(path)] = str(path)
    return found


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
    # Python opens a compiled module in its source's stead.
    with contextlib.suppress(ValueError):  # no compiled module, or one without its source
        return importlib.util.source_from_cache(path)
    return path


def _ignored(file: str) -> bool:
    """Whether a file is installed, ours, the system's, or in a hidden folder such as a cache."""
    parts = Path(os.path.relpath(file)).parts
    return (
        file.startswith(INSTALLED)
        or not {"site-packages", "dist-packages"}.isdisjoint(parts)
        or any(part.startswith(".") and part != ".." for part in parts)
    )
