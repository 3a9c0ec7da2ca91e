"""What a folder or an archive holds, one entry a file: the common form in which class folders and batches are read."""

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pipeline.images.names import dropped, shown
from pipeline.project.errors import InputError

LARGEST = 100 * 2**20
"""Bytes of the largest file that is read; an image whose file is larger is no image for networks as small as these."""


@dataclass(frozen=True)
class Entry:
    """A file, whose bytes `read` gives; a folder, which has none; or what is neither, with the sentence's end that says why."""

    name: str
    read: Callable[[], bytes] | None = None
    obstacle: str | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The folders on the way, and the name of the thing itself; an archive may call it ./a/b or /a/b."""
        return tuple(part for part in self.name.split("/") if part not in ("", "."))


def refuse_larger(size: int, name: str) -> None:
    """Raise InputError if a file of `size` bytes is larger than any that is read."""
    if size > LARGEST:
        raise InputError(f"{shown(name)} is larger than {LARGEST:,} bytes, the most that is read; make it smaller")


def content(path: Path | str, name: str) -> bytes:
    """The bytes of a regular file, which sentences call `name`; raises InputError if it cannot be read."""
    try:
        # Opening a FIFO would wait for ever.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise InputError(f"{shown(name)} is no regular file; replace it")
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise InputError(f"{shown(name)} is missing; put it back") from None
    except OSError as error:
        raise InputError(f"{shown(name)} cannot be read ({error.strerror}); give access to it or replace it") from None
    refuse_larger(len(data), name)
    return data


def of_folder(root: Path) -> list[Entry]:
    """Everything below the folder `root`, links followed, in the order of the names.

    Raises InputError if a folder cannot be listed, or leads back to itself by a link.
    """
    found, waiting = [], [(str(root), "", frozenset())]
    while waiting:
        folder, name, above = waiting.pop()
        try:
            status = os.stat(folder)
            with os.scandir(folder) as listing:
                inside = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            raise InputError(
                f"the folder {shown(name or root)} cannot be read ({error.strerror}); give access to it or remove it"
            ) from None
        mark = (status.st_dev, status.st_ino)
        if mark in above:
            raise InputError(f"the folder {shown(name)} is a link to a folder that it stands in; remove the link")
        for entry in inside:
            if dropped([entry.name]):
                continue
            below = f"{name}/{entry.name}" if name else entry.name
            try:
                mode = entry.stat().st_mode
            except OSError as error:
                lost = "is a link that leads nowhere; mend or remove it"
                denied = f"cannot be read ({error.strerror}); give access to it or remove it"
                found.append(Entry(below, obstacle=lost if entry.is_symlink() else denied))
                continue
            if stat.S_ISDIR(mode):
                found.append(Entry(below))
                waiting.append((entry.path, below, above | {mark}))
            elif stat.S_ISREG(mode):
                found.append(Entry(below, lambda path=entry.path, name=below: content(path, name)))
            else:
                found.append(Entry(below, obstacle="is neither a file nor a folder; remove it"))
    return sorted(found, key=lambda entry: entry.name)
