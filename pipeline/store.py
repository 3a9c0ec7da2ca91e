"""Finished cells, kept by content: what was trained once is never trained again.

A cell's key is the digest of everything that decides its weights; its weights lie in one safetensors file under
`.cells/` of the main repository (DVC's `$DVC_ROOT`, so that `--temp` and queued runs share it). Writes are atomic: a
process killed at any moment leaves either a whole file or none.
"""

import ast
import hashlib
import inspect
import json
import os
import tempfile
from pathlib import Path

import numpy as np
import safetensors
import safetensors.torch


def digest(value):
    """sha256 of a JSON value, of bytes, or of an array (shape, type and contents), as hexadecimal text."""
    if isinstance(value, np.ndarray):
        header = f"{value.dtype.str}{value.shape}".encode()
        return hashlib.sha256(header + np.ascontiguousarray(value).tobytes()).hexdigest()
    if not isinstance(value, bytes):
        value = json.dumps(value, sort_keys=True, allow_nan=False).encode()
    return hashlib.sha256(value).hexdigest()


def syntax_digest(source):
    """Digest of what Python source computes: its syntax tree without docstrings, so that prose may change."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        # A bare string is a docstring of its module, class, function or constant: it decides nothing.
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            node.body = [
                part for part in node.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
            ]
    return digest(ast.dump(tree))


def code_digest(*pieces):
    """Digest of what the given modules and functions compute."""
    return digest([syntax_digest(inspect.getsource(piece)) for piece in pieces])


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
                return json.loads(file.metadata()["outcome"])
        except (OSError, safetensors.SafetensorError, KeyError, TypeError, ValueError):
            return None

    def put(self, key, tensors, outcome):
        """Keep the weights `tensors` (name → tensor) and `outcome` (a dict of numbers) as the cell `key`, atomically."""
        path = self.path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        os.close(handle)
        try:
            tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
            safetensors.torch.save_file(tensors, temporary, {"outcome": json.dumps(outcome)})
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        finally:
            Path(temporary).unlink(missing_ok=True)


def default_folder():
    """`.cells/` of the main repository."""
    return Path(os.environ.get("DVC_ROOT", ".")) / ".cells"
