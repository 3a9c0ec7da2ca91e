"""What a stage has read and must find as it was: the code that it runs, and files that a person edits while it does.

DVC looks at a stage's dependencies when the stage has ended, so an edit meanwhile would pass for what was run.
"""

import hashlib
import os
import sys
from pathlib import Path

PACKAGE = str(Path(__file__).parents[1])

_read: dict[str, str] | None = None


def digests() -> dict[str, str]:
    """Path → sha256 of every source file of this package, as they are now."""
    # An editor may put links beside the files that it has open, `.#single.py`, which lead nowhere.
    found = {str(path): _now(path) for path in sorted(Path(PACKAGE).rglob("*.py"))}
    return {path: digest for path, digest in found.items() if digest is not None}


def begin(read: dict[str, str] | None = None) -> None:
    """Take the package's files as they are now, or all that another process had `read`, for those that this process reads."""
    global _read
    _read = digests() if read is None else dict(read)


def read() -> dict[str, str] | None:
    """Path → sha256 of what this process has read, as far as it is known; None where nobody has begun."""
    return _read


def note(path: Path | str, content: bytes) -> None:
    """Remember what was read from a file, where this is a stage; the first time counts."""
    if _read is not None:
        _read.setdefault(os.path.abspath(path), _digest(content))


def changed() -> list[str]:
    """The files that are not as they were read. Of this package, only modules that are loaded count: no other has any say here."""
    loaded = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    return [path for path, there in (_read or {}).items() if _counts(path, loaded) and _now(path) != there]


def _counts(path, loaded):
    return path in loaded or not path.startswith(PACKAGE + os.sep)


def _now(path):
    try:
        return _digest(Path(path).read_bytes())
    except OSError:
        return None


def _digest(content):
    return hashlib.sha256(content).hexdigest()
