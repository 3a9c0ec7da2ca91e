"""Finished work, kept by content: what was trained or estimated once is never done again.

A cell's key is the digest of everything that decides what is kept of it: its weights, or what it makes of its test sets. That
lies in one safetensors file under `.cells/` of the main repository (DVC's `$DVC_ROOT`, so that `--temp` and queued runs share it). The sums of an estimate of
NADs lie there too, under the number of networks they hold, so that more networks go on from them. Writes are atomic: a
process killed at any moment leaves either a whole file or none. Every file holds a digest of its contents, which is checked
when they are used: what a disk has altered counts as not kept. A cell's file, models/ and DVC's cache are one file where the
file system knows hard links, so nobody may write into it: it is read-only.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
import typing
from collections.abc import Callable
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy
import safetensors.torch
import torch

from pipeline.project.errors import InputError

Arrays = dict[str, torch.Tensor] | dict[str, np.ndarray]
"""Tensors or arrays by name."""

NOTE = "kept"
"""The one entry of a file's metadata, what `note` makes: safetensors writes several in an order that differs from run to run."""


READ_ONLY = 0o444
"""The mode of a cell's file; DVC gives the files of its cache the same."""


class Unwritable(OSError):
    """A file that the store cannot write: its disk is full, or its folder is not for this user to write in."""


def digest(value: typing.Any) -> str:
    """sha256 of a JSON value, of bytes, or of an array (shape, type and contents), as hexadecimal text."""
    if isinstance(value, np.ndarray):
        header = f"{value.dtype.str}{value.shape}".encode()
        return hashlib.sha256(header + np.ascontiguousarray(value).tobytes()).hexdigest()
    if not isinstance(value, bytes):
        value = json.dumps(value, sort_keys=True, allow_nan=False).encode()
    return hashlib.sha256(value).hexdigest()


class Store:
    """The cells under `folder`."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def path(self, key: str) -> Path:
        """Where the cell `key` lies, whether or not it exists."""
        return self.folder / key[:2] / f"{key}.safetensors"

    def holds(self, key: str) -> bool:
        """Whether the cell `key` is kept, as far as the head of its file tells."""
        return _head(self.path(key)) is not None

    def get(self, key: str) -> dict | None:
        """What was kept with the cell `key` (a dict of numbers), or None unless it is kept and whole."""
        found = whole(self.path(key), "pt", key)
        return None if found is None else found[1]

    def put(self, key: str, tensors: dict[str, torch.Tensor], outcome: dict) -> None:
        """Keep `tensors` (by name) and `outcome` (a dict of numbers) as the cell `key`, atomically."""
        # Cloned, since a file of this kind takes no two tensors that share their memory, as tied weights do.
        tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
        metadata = {NOTE: note(tensors, outcome, key)}
        atomically(self.path(key), lambda path: safetensors.torch.save_file(tensors, path, metadata), READ_ONLY)

    def drop(self, key: str) -> None:
        """Keep the cell `key` no longer."""
        self.path(key).unlink(missing_ok=True)

    def lay_down(self, key: str, path: Path) -> None:
        """Make the cell `key` the file `path` too: a hard link, or a copy where there can be none."""
        with contextlib.suppress(PermissionError):  # another user's
            os.chmod(self.path(key), READ_ONLY)
        _link(self.path(key), path)

    def adopt(self, folder: Path | str) -> int:
        """Keep the cells among the files of `folder` that are not kept yet, such as those that DVC fetched; returns how many.

        A file says in its note which cell it is. Only heads are read: what the rest holds is checked when it is used.
        """
        adopted = 0
        for path in sorted(Path(folder).glob("*.safetensors")):
            key = (_head(path) or {}).get("key")
            if isinstance(key, str) and re.fullmatch("[0-9a-f]{64}", key) and not self.holds(key):
                atomically(self.path(key), lambda temporary, path=path: _link(path, temporary), READ_ONLY)
                adopted += 1
        return adopted


def _link(source: Path, target: Path | str) -> None:
    """Make `target` the same file as `source`, in place of what is there: a hard link, or a copy where there can be none."""
    Path(target).unlink(missing_ok=True)
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(source, target)


def _check(path: Path | str) -> None:
    """Raise ValueError where something else than a file stands in a file's place: to read a pipe is to wait for ever."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError("it is no regular file")


def _head(path: Path) -> dict | None:
    """The note of a file of the store, of which nothing else is read; None where it has none."""
    try:
        _check(path)
        with safetensors.safe_open(path, "pt") as file:
            found = json.loads((file.metadata() or {})[NOTE])
    except (OSError, KeyError, ValueError, RecursionError, safetensors.SafetensorError):
        return None
    return found if isinstance(found, dict) else None


def note(arrays: Arrays, outcome: dict | None, key: str | None = None) -> str:
    """What a file says of its contents: JSON of `outcome`, of the cell's `key` where it is one's, and of the sha256 of all.

    arrays: contiguous, in any order; their names, types, shapes and bytes count.
    """
    said = {"outcome": outcome} | ({} if key is None else {"key": key})
    # Notes without a key begin as earlier versions wrote them.
    found = hashlib.sha256(json.dumps(outcome if key is None else [outcome, key]).encode())
    for name, array in sorted(arrays.items()):
        found.update(json.dumps([name, str(array.dtype), list(array.shape)]).encode())
        flat = array.reshape(-1)
        found.update(flat.view(torch.uint8).numpy() if isinstance(flat, torch.Tensor) else flat.view(np.uint8))
    return json.dumps({"sha256": found.hexdigest()} | said)


def contents(path: Path | str, framework: str) -> tuple[Arrays, str | None]:
    """The arrays of a file, as tensors ('pt') or for NumPy ('np'), and its note where it has one."""
    _check(path)
    with safetensors.safe_open(path, framework) as file:
        return {name: file.get_tensor(name) for name in file.keys()}, (file.metadata() or {}).get(NOTE)


def outcome_of(arrays: Arrays, said: str, key: str | None = None) -> dict | None:
    """The outcome in a file's note; raises ValueError unless the note is that of the arrays, to the letter, and of the cell `key`.

    Earlier versions wrote no key, and None asks for none.
    """
    try:
        found = json.loads(said)
        outcome, named = found["outcome"], found.get("key")
    except (AttributeError, KeyError, TypeError, RecursionError):
        raise ValueError("the note has no outcome") from None
    if note(arrays, outcome, named) != said:
        raise ValueError("the digest is not that of the contents")
    if None not in (key, named) and named != key:
        raise ValueError("it is another cell's")
    return outcome


def whole(path: Path, framework: str, key: str | None = None) -> tuple[Arrays, dict | None] | None:
    """The arrays and the outcome of a file of the store, which counts as used now; None unless it is there as it was written.

    key: of the cell that it shall be. One that is there and damaged is said on stderr. One without a note, as earlier versions
    wrote it, is not kept.
    """
    try:
        arrays, said = contents(path, framework)
        if said is None:
            return None
        outcome = outcome_of(arrays, said, key)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, safetensors.SafetensorError) as error:
        print(f"notice: {path} is damaged and counts as not kept: {' '.join(str(error).split())}", file=sys.stderr)
        with contextlib.suppress(OSError):
            # DVC trusts a file of its cache, which this may be, as long as mode and time are those that it knows.
            os.chmod(path, 0o644)
            os.utime(path)
        return None
    with contextlib.suppress(OSError):  # a store that can only be read
        # Not the time of the contents: DVC would read all links of the file again.
        os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))
    return arrays, outcome


def tensors(path: Path | str, stage: str) -> dict[str, torch.Tensor]:
    """The tensors of a copy of a cell's file; raises InputError naming the stage that makes it if the copy is damaged."""
    try:
        found, said = contents(path, "pt")
        if said is not None:
            outcome_of(found, said)
    except (ValueError, safetensors.SafetensorError) as error:
        raise InputError(
            f"{path} is damaged ({' '.join(str(error).split())}); `python -m pipeline.{stage}` makes it again"
        ) from None
    return found


def atomically(path: Path, write: Callable[[str], None], mode: int = 0o644) -> None:
    """Call `write` on a temporary file beside `path`, which then takes its place; raises Unwritable where the disk refuses."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        os.close(handle)
        write(temporary)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except (OSError, safetensors.SafetensorError) as error:
        # safetensors gives the number of the operating system's error in its text alone.
        told = re.search(r"os error (\d+)", str(error))
        number = int(told[1]) if told else getattr(error, "errno", None)
        if number is None:
            raise
        raise Unwritable(number, os.strerror(number), str(path)) from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


class Sums:
    """The state of one estimate of NADs after some numbers of networks: arrays in one safetensors file each.

    folder: a store's; key: the digest of everything that decides the estimate but the number of networks.
    """

    def __init__(self, folder: Path | str, key: str) -> None:
        self.store, self.key, self.folder = Path(folder), key, Path(folder) / "nads" / key

    def _path(self, count: int) -> Path:
        return self.folder / f"{count:07d}.safetensors"

    def counts(self) -> list[int]:
        """The numbers of networks that are kept, largest first."""
        return sorted((int(path.stem) for path in self.folder.glob("[0-9]*.safetensors")), reverse=True)

    def get(self, count: int) -> dict[str, np.ndarray] | None:
        """The arrays kept after `count` networks; None if they are not whole."""
        found = whole(self._path(count), "np")
        return None if found is None else found[0]

    def put(self, count: int, arrays: dict[str, np.ndarray]) -> None:
        """Keep `arrays` as the state after `count` networks, atomically."""
        # safetensors writes an array's memory as it lies, so it must lie in row order.
        arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        metadata = {NOTE: note(arrays, None)}
        atomically(self._path(count), lambda path: safetensors.numpy.save_file(arrays, path, metadata))

    def drop(self, count: int) -> None:
        """Forget the state after `count` networks."""
        self._path(count).unlink(missing_ok=True)


@dataclasses.dataclass(frozen=True)
class Item:
    """One file of a store: its path, kind ('cell', 'estimate' or 'leftover' of a write that was killed), bytes, and the days
    since it was last used.
    """

    path: Path
    kind: str
    size: int
    days: float


def items(folder: Path | str) -> list[Item]:
    """Every file of the store under `folder`, sorted by path."""
    found = []
    for path in sorted(Path(folder).rglob("*")):
        kind = {".part": "leftover", ".safetensors": "estimate" if "nads" in path.parts else "cell"}.get(path.suffix)
        # Another process may have renamed or removed the file since it was listed.
        with contextlib.suppress(FileNotFoundError):
            if kind and path.is_file():
                status = path.stat()
                found.append(Item(path, kind, status.st_size, (time.time() - status.st_atime) / 86_400))
    return found


def default_folder() -> Path:
    """`.cells/` of the main repository."""
    return Path(os.environ.get("DVC_ROOT", ".")) / ".cells"
