"""Finished work, kept by content: what was trained or estimated once is never done again.

A cell's key is the digest of everything that decides its weights; its weights lie in one safetensors file under
`.cells/` of the main repository (DVC's `$DVC_ROOT`, so that `--temp` and queued runs share it). The sums of an estimate of
NADs lie there too, under the number of networks they hold, so that more networks go on from them. Writes are atomic: a
process killed at any moment leaves either a whole file or none.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import tempfile
import time
import typing
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy
import safetensors.torch
import torch


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

    def get(self, key: str) -> dict | None:
        """What was kept with the cell `key` (a dict of numbers), or None if it is not kept, whole and readable."""
        try:
            with safetensors.safe_open(self.path(key), "pt") as file:
                outcome = json.loads(file.metadata()["outcome"])
            os.utime(self.path(key))
            return outcome
        except (OSError, safetensors.SafetensorError, KeyError, TypeError, ValueError):
            return None

    def put(self, key: str, tensors: dict[str, torch.Tensor], outcome: dict) -> None:
        """Keep the weights `tensors` (name → tensor) and `outcome` (a dict of numbers) as the cell `key`, atomically."""
        tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        metadata = {"outcome": json.dumps(outcome)}
        atomically(self.path(key), lambda path: safetensors.torch.save_file(tensors, path, metadata))


def atomically(path: Path, write: Callable[[str], None]) -> None:
    """Call `write` on a temporary file beside `path`, which then takes its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    os.close(handle)
    try:
        write(temporary)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)


class Sums:
    """The state of one estimate of NADs after some numbers of networks: arrays in one safetensors file each.

    folder: a store's; key: the digest of everything that decides the estimate but the number of networks.
    """

    def __init__(self, folder: Path | str, key: str) -> None:
        self.folder = Path(folder) / "nads" / key

    def _path(self, count: int) -> Path:
        return self.folder / f"{count:07d}.safetensors"

    def counts(self) -> list[int]:
        """The numbers of networks that are kept, largest first."""
        return sorted((int(path.stem) for path in self.folder.glob("[0-9]*.safetensors")), reverse=True)

    def get(self, count: int, names: Iterable[str] | None = None) -> dict[str, np.ndarray] | None:
        """The arrays (those of `names`, or all) kept after `count` networks; None if they are not whole and readable."""
        try:
            with safetensors.safe_open(self._path(count), "np") as file:
                arrays = {name: file.get_tensor(name) for name in names or file.keys()}
            os.utime(self._path(count))
            return arrays
        except (OSError, safetensors.SafetensorError):
            return None

    def put(self, count: int, arrays: dict[str, np.ndarray]) -> None:
        """Keep `arrays` as the state after `count` networks, atomically."""
        # safetensors writes an array's memory as it lies, so it must lie in row order.
        arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        atomically(self._path(count), lambda path: safetensors.numpy.save_file(arrays, path))

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
                found.append(Item(path, kind, status.st_size, (time.time() - status.st_mtime) / 86_400))
    return found


def default_folder() -> Path:
    """`.cells/` of the main repository."""
    return Path(os.environ.get("DVC_ROOT", ".")) / ".cells"
