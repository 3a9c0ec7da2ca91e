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
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy
import safetensors.torch


def digest(value):
    """sha256 of a JSON value, of bytes, or of an array (shape, type and contents), as hexadecimal text."""
    if isinstance(value, np.ndarray):
        header = f"{value.dtype.str}{value.shape}".encode()
        return hashlib.sha256(header + np.ascontiguousarray(value).tobytes()).hexdigest()
    if not isinstance(value, bytes):
        value = json.dumps(value, sort_keys=True, allow_nan=False).encode()
    return hashlib.sha256(value).hexdigest()


class Store:
    """The cells under `folder`."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def path(self, key):
        """Where the cell `key` lies, whether or not it exists."""
        return self.folder / key[:2] / f"{key}.safetensors"

    def get(self, key):
        """What was kept with the cell `key` (a dict of numbers), or None if it is not kept, whole and readable."""
        try:
            with safetensors.safe_open(self.path(key), "pt") as file:
                outcome = json.loads(file.metadata()["outcome"])
            os.utime(self.path(key))
            return outcome
        except (OSError, safetensors.SafetensorError, KeyError, TypeError, ValueError):
            return None

    def put(self, key, tensors, outcome):
        """Keep the weights `tensors` (name → tensor) and `outcome` (a dict of numbers) as the cell `key`, atomically."""
        tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        metadata = {"outcome": json.dumps(outcome)}
        _atomically(self.path(key), lambda path: safetensors.torch.save_file(tensors, path, metadata))


def _atomically(path, write):
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

    def __init__(self, folder, key):
        self.folder = Path(folder) / "nads" / key

    def _path(self, count):
        return self.folder / f"{count:07d}.safetensors"

    def counts(self):
        """The numbers of networks that are kept, largest first."""
        return sorted((int(path.stem) for path in self.folder.glob("[0-9]*.safetensors")), reverse=True)

    def get(self, count, names=None):
        """The arrays (those of `names`, or all) kept after `count` networks; None if they are not whole and readable."""
        try:
            with safetensors.safe_open(self._path(count), "np") as file:
                arrays = {name: file.get_tensor(name) for name in names or file.keys()}
            os.utime(self._path(count))
            return arrays
        except (OSError, safetensors.SafetensorError):
            return None

    def put(self, count, arrays):
        """Keep `arrays` as the state after `count` networks, atomically."""
        # safetensors writes an array's memory as it lies, so it must lie in row order.
        arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        _atomically(self._path(count), lambda path: safetensors.numpy.save_file(arrays, path))

    def drop(self, count):
        """Forget the state after `count` networks."""
        self._path(count).unlink(missing_ok=True)


@dataclasses.dataclass(frozen=True)
class Item:
    """One file of a store: its path, kind ('cell', 'estimate' or 'rest' of a write that was killed), bytes, and the days
    since it was last used.
    """

    path: Path
    kind: str
    size: int
    days: float


def items(folder):
    """Every file of the store under `folder`, sorted by path."""
    found = []
    for path in sorted(Path(folder).rglob("*")):
        kind = {".part": "rest", ".safetensors": "estimate" if "nads" in path.parts else "cell"}.get(path.suffix)
        # Another process may have renamed or removed the file since it was listed.
        with contextlib.suppress(FileNotFoundError):
            if kind and path.is_file():
                status = path.stat()
                found.append(Item(path, kind, status.st_size, (time.time() - status.st_mtime) / 86_400))
    return found


def default_folder():
    """`.cells/` of the main repository."""
    return Path(os.environ.get("DVC_ROOT", ".")) / ".cells"
