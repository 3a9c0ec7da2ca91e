"""The files in own/, which are in the key of everything that your own networks
determine.

DVC follows changes in own/ only, so a module that a network imports from elsewhere is
refused. Other files that a network reads from outside own/ are not noticed.
"""

import os
import shlex
import sys
import sysconfig
from pathlib import Path

from pipeline.networks.custom import OWN
from pipeline.project.artifacts import file_digest
from pipeline.project.errors import InputError

PACKAGE = str(Path(__file__).parents[1])
INSTALLED = (PACKAGE, sysconfig.get_path("stdlib"), "site-packages", "dist-packages")
"""Parts of the paths of installed modules."""


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
                f"{path} is a link to a folder, which DVC does not follow; link its files with "
                f"`rm {path} && cp -Rs {target} {path.parent}/`"
            )
        if path.is_file() and path != OWN / "README.md":
            found[str(path)] = file_digest(path)
    return found


def digest_of(file: str, files: dict[str, str]) -> dict[str, str]:
    """Return the entry of one file in `digests()`.

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
        if not any(folder in file for folder in (str(OWN.absolute()), *INSTALLED)):
            raise _elsewhere(Path(file))


def _elsewhere(path: Path) -> InputError:
    """Return the error for a file outside own/, with the command that links it."""
    while (path.parent / "__init__.py").exists():
        path = path.parent
    return InputError(
        f"{path} is outside own/, where DVC would not see its edits; link it with `cp -Rs "
        f"{shlex.quote(str(path.absolute()))} own/`"
    )
