"""Finished work, kept by content: what was trained or estimated once is never done again.

A cell's key is the digest of everything that decides what is kept of it: its weights, or what it
makes of its test sets. That is one safetensors file below `.cells/`, and the sums of NADs after
some number of networks are another. Writes are atomic: a process killed at any moment leaves a
whole file or none. Every file holds a digest of its contents, which is checked when they are used:
what a disk has altered counts as not kept. A cell's file, models/ and DVC's cache are one file
where the file system knows hard links, so it is read-only.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import sys
import time
import typing
from collections.abc import Callable
from pathlib import Path

import numpy as np
import safetensors
import safetensors.torch
import torch

from pipeline.project.errors import InputError

NOTE = "kept"
"""The one entry of a file's metadata: safetensors writes several in an order that differs from run
to run."""


def digest(value: typing.Any) -> str:
    """sha256 of a JSON value, of bytes, or of an array (shape, type and contents), as hexadecimal
    text."""
    if isinstance(value, np.ndarray):
        header = f"{value.dtype.str}{value.shape}".encode()
        sha256 = hashlib.sha256(header)
        sha256.update(np.ascontiguousarray(value))
        return sha256.hexdigest()
    if not isinstance(value, bytes):
        value = json.dumps(value, sort_keys=True, allow_nan=False).encode()
    return hashlib.sha256(value).hexdigest()


def default_folder() -> Path:
    """`.cells/` of the main repository, which `$DVC_ROOT` names, so that all its experiments share
    it."""
    return Path(os.environ.get("DVC_ROOT", ".")) / ".cells"


def atomically(path: Path, write: Callable[[str], None], mode: int = 0o644) -> None:
    """Call `write` on a temporary file beside `path`, which then takes its place; raises OSError
    where the disk refuses."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        write(str(temporary))
        temporary.chmod(mode)
        temporary.replace(path)
    except safetensors.SafetensorError as error:
        # It has the number of the operating system's error in its text alone.
        if not (number := re.search(r"os error (\d+)", str(error))):
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from None
    finally:
        temporary.unlink(missing_ok=True)


def _note(tensors: dict[str, torch.Tensor], outcome: typing.Any, key: str) -> str:
    """What a file says of itself: JSON of `outcome`, of its key, and of the sha256 of all that and
    of the names, types, shapes and bytes of its tensors."""
    sha256 = hashlib.sha256(json.dumps([outcome, key]).encode())
    for name, tensor in sorted(tensors.items()):
        sha256.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        sha256.update(tensor.reshape(-1).view(torch.uint8).numpy())
    return json.dumps({"sha256": sha256.hexdigest(), "outcome": outcome, "key": key})


def _save(path: Path, tensors: dict[str, torch.Tensor], outcome: typing.Any, key: str) -> None:
    metadata = {NOTE: _note(tensors, outcome, key)}
    atomically(path, lambda file: safetensors.torch.save_file(tensors, file, metadata), 0o444)


def _contents(path: Path | str, key: str | None) -> tuple[dict[str, torch.Tensor], typing.Any]:
    """The tensors and the outcome of a file; raises ValueError or SafetensorError unless it is as
    it was written, under the key `key`, or under its own for None."""
    with safetensors.safe_open(path, "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}
        note = (file.metadata() or {}).get(NOTE, "{}")
    fields = dict(json.loads(note))
    if note != _note(tensors, fields.get("outcome"), key or fields.get("key")):
        raise ValueError("the digest is not that of the contents")
    return tensors, fields["outcome"]


def _used(path: Path, key: str) -> tuple[dict[str, torch.Tensor], typing.Any] | None:
    """The tensors and the outcome of a file of the store, whose time of use becomes now.

    None where there is no such file, or a damaged one, which a line on stderr names.
    """
    try:
        contents = _contents(path, key)
    except FileNotFoundError:
        return None
    except (TypeError, ValueError, safetensors.SafetensorError) as error:
        print(
            f"notice: {path} is damaged and counts as not kept: {' '.join(str(error).split())}",
            file=sys.stderr,
        )
        # DVC trusts a file of its cache, which this may be, as long as mode and time are those
        # that it knows.
        os.chmod(path, 0o644)
        os.utime(path)
        return None
    with contextlib.suppress(PermissionError):  # another user's
        # Not the time of the contents: DVC would read all links of the file again.
        os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))
    return contents


def tensors(path: Path | str, stage: str) -> dict[str, torch.Tensor]:
    """The tensors of a copy of a cell's file; raises InputError naming the stage that makes it if
    the copy is damaged."""
    try:
        return _contents(path, None)[0]
    except (TypeError, ValueError, safetensors.SafetensorError) as error:
        raise InputError(
            f"{path} is damaged ({' '.join(str(error).split())}); "
            f"`python -m pipeline.{stage}` makes it again"
        ) from None


def _link(source: Path, target: Path | str) -> None:
    """Make `target` the same file as `source`, in place of what is there: a hard link, or a copy
    where there can be none."""
    Path(target).unlink(missing_ok=True)
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(source, target)


class Store:
    """The cells under `folder`."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def path(self, key: str) -> Path:
        """Where the cell `key` lies, whether or not it exists."""
        return self.folder / key[:2] / f"{key}.safetensors"

    def holds(self, key: str) -> bool:
        """Whether there is a file of the cell `key`; `get` tells whether it is whole."""
        return self.path(key).exists()

    def get(self, key: str) -> dict | None:
        """What was kept with the cell `key` (a dict of numbers), or None unless it is kept and
        whole."""
        contents = _used(self.path(key), key)
        return None if contents is None else contents[1]

    def put(self, key: str, tensors: dict[str, torch.Tensor], outcome: dict) -> None:
        """Keep `tensors` (by name) and `outcome` (a dict of numbers) as the cell `key`,
        atomically."""
        # Cloned, since a file of this kind takes no two tensors that share their memory, as tied
        # weights do.
        tensors = {
            name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()
        }
        _save(self.path(key), tensors, outcome, key)

    def drop(self, key: str) -> None:
        """Keep the cell `key` no longer."""
        self.path(key).unlink(missing_ok=True)

    def lay_down(self, key: str, path: Path) -> None:
        """Make the cell `key` the file `path` too: a hard link, or a copy where there can be
        none."""
        _link(self.path(key), path)

    def adopt(self, folder: Path | str) -> int:
        """Keep the cells among the files of `folder` that are not kept yet, such as those that
        `dvc pull` fetched; returns how many.

        A file says in its note which cell it is. Only heads are read: what the rest holds is
        checked when it is used.
        """
        adopted = 0
        for path in sorted(Path(folder).glob("*.safetensors")):
            try:
                with safetensors.safe_open(path, "pt") as file:
                    key = str(json.loads(file.metadata()[NOTE])["key"])
            except (KeyError, TypeError, ValueError, safetensors.SafetensorError):  # damaged
                continue
            if re.fullmatch("[0-9a-f]{64}", key) and not self.holds(key):
                atomically(self.path(key), lambda file, path=path: _link(path, file), 0o444)
                adopted += 1
        return adopted


class Sums:
    """The state of one estimate of NADs after some numbers of networks: arrays in one safetensors
    file each.

    folder: a store's; key: the digest of everything that decides the estimate but the number of
    networks.
    """

    def __init__(self, folder: Path | str, key: str) -> None:
        self.store, self.key, self.folder = Path(folder), key, Path(folder) / "nads" / key

    def _path(self, count: int) -> Path:
        return self.folder / f"{count:07d}.safetensors"

    def counts(self) -> list[int]:
        """The numbers of networks that are kept, largest first."""
        return sorted((int(path.stem) for path in self.folder.glob("*.safetensors")), reverse=True)

    def get(self, count: int) -> dict[str, np.ndarray] | None:
        """The arrays kept after `count` networks; None if they are not whole."""
        contents = _used(self._path(count), f"{self.key}-{count}")
        return contents and {name: tensor.numpy() for name, tensor in contents[0].items()}

    def put(self, count: int, arrays: dict[str, np.ndarray]) -> None:
        """Keep `arrays` as the state after `count` networks, atomically."""
        tensors = {
            name: torch.from_numpy(np.require(array, requirements="CW"))
            for name, array in arrays.items()
        }
        _save(self._path(count), tensors, None, f"{self.key}-{count}")

    def drop(self, count: int) -> None:
        """Forget the state after `count` networks."""
        self._path(count).unlink(missing_ok=True)
