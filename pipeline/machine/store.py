"""The store of finished work, `.cells/`: trained cells, and NADs.

A key is the digest of everything that decides a result: a cell's weights or its outputs
on the test sets, or an architecture's NADs. Each result is one safetensors file. Writes
are atomic: a process killed at any moment leaves a whole file or none. Every file holds
a digest of its contents, which the store checks; a damaged file counts as missing.
Where the file system knows hard links, one file is a cell's entry here, its copy in
models/ and its copy in DVC's cache, so it is read-only.
"""

import contextlib
import hashlib
import json
import os
import shutil
import time
import typing
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import safetensors
import safetensors.torch
import torch

from pipeline.project.errors import notice

# The only key of a file's metadata: safetensors writes several in an order that varies
# by run.
NOTE = "kept"


def digest(value: typing.Any) -> str:
    """sha256, in hexadecimal, of a JSON value, or of an array (shape, type,
    contents)."""
    if isinstance(value, np.ndarray):
        sha256 = hashlib.sha256(f"{value.dtype.str}{value.shape}".encode())
        sha256.update(np.ascontiguousarray(value))
        return sha256.hexdigest()
    text = json.dumps(value, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def digests(arrays: Mapping[str, np.ndarray]) -> dict[str, str]:
    """The digest of each array, by name."""
    return {name: digest(array) for name, array in sorted(arrays.items())}


def default_folder() -> Path:
    """`.cells/` of the main repository, `$DVC_ROOT`, which all its DVC experiments
    share."""
    return Path(os.environ.get("DVC_ROOT", ".")) / ".cells"


def atomically(path: Path, write: Callable[[Path], None], mode: int = 0o644) -> None:
    """Call `write` on a temporary file beside `path`, which then takes the place of
    `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        write(temporary)
        temporary.chmod(mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _note(tensors: dict[str, torch.Tensor], outcome: typing.Any, key: str) -> str:
    """A file's metadata, as JSON: its outcome, and the sha256 of its key, its outcome,
    and its tensors' names, types, shapes and bytes."""
    sha256 = hashlib.sha256(json.dumps([outcome, key]).encode())
    for name, tensor in sorted(tensors.items()):
        sha256.update(
            json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode()
        )
        sha256.update(tensor.reshape(-1).view(torch.uint8).numpy())
    return json.dumps({"sha256": sha256.hexdigest(), "outcome": outcome})


class Store:
    """The trained cells and the NADs under `folder`, by key."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def path(self, key: str) -> Path:
        """The place of a cell's file, which may not exist."""
        return self.folder / key[:2] / f"{key}.safetensors"

    def holds(self, key: str) -> bool:
        """Whether a cell has a file; only `get` reads it, and tells whether it is
        whole."""
        return self.path(key).exists()

    def contents(self, key: str) -> tuple[dict[str, torch.Tensor], dict] | None:
        """The tensors and the outcome under a key, or None where its file is missing or
        damaged.

        Its access time becomes now, also where the disk notes none. A damaged one is
        removed.
        """
        path = self.path(key)
        try:
            with safetensors.safe_open(path, "pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}
                note = (file.metadata() or {}).get(NOTE, "{}")
            outcome = dict(json.loads(note)).get("outcome")
            if note != _note(tensors, outcome, key):
                raise ValueError("the digest is not that of the contents")
        except FileNotFoundError:
            return None
        except (TypeError, ValueError, safetensors.SafetensorError) as error:
            notice(
                f"{path} is damaged and counts as not kept: "
                f"{' '.join(str(error).split())}"
            )
            # The file may be one with DVC's copy, which DVC trusts until mode or time
            # change.
            path.chmod(0o644)
            os.utime(path)
            path.unlink(missing_ok=True)
            return None
        with contextlib.suppress(PermissionError):  # another user's
            # A new modification time would make DVC read all links of the file again.
            os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))
        return tensors, outcome

    def get(self, key: str) -> dict | None:
        """A cell's outcome, a dict of numbers, or None where its file is missing or
        damaged."""
        contents = self.contents(key)
        return contents and contents[1]

    def put(self, key: str, tensors: dict[str, torch.Tensor], outcome: dict) -> None:
        """Write a result.

        Args:
            key: The result's key.
            tensors: Its tensors by name, which must be contiguous and share no memory.
            outcome: Numbers and texts by name.
        """
        contents = safetensors.torch.save(tensors, {NOTE: _note(tensors, outcome, key)})
        atomically(self.path(key), lambda file: file.write_bytes(contents), 0o444)

    def link_to(self, key: str, path: Path) -> None:
        """Make `path` a hard link to a cell's file, or a copy where no link can be
        made."""
        try:
            os.link(self.path(key), path)
        except OSError:
            shutil.copyfile(self.path(key), path)
