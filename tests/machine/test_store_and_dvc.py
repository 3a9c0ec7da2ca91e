"""One file in the store, in models/ and in DVC's cache: what happens when the disk damages it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from structure import ROOT

from pipeline.machine import store

MODEL = Path("models/flip/lenet.safetensors")


def dvc(*arguments):
    """A command of DVC in the current folder."""
    environment = os.environ | {"HOME": str(Path.cwd()), "DVC_NO_ANALYTICS": "1"}
    command = [sys.executable, "-m", "dvc", *arguments]
    done = subprocess.run(command, env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr


def lay_down(kept):
    """Train a cell, as it were, and lay out models/flip/."""
    kept.put("ab12", {"w": torch.arange(1000.0)}, {"loss": 0.5})
    shutil.rmtree("models/flip", ignore_errors=True)
    Path("models/flip").mkdir(parents=True)
    kept.lay_down("ab12", MODEL)


def cached():
    """The bytes of the file in DVC's cache that has the cell's size."""
    size, files = MODEL.stat().st_size, Path(".dvc/cache").rglob("*")
    (path,) = (path for path in files if path.is_file() and path.stat().st_size == size)
    return path.read_bytes()


@pytest.mark.slow
def test_a_damaged_file_is_made_again_in_all_three_places(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q"], check=True)
    dvc("init", "-q")
    shutil.copy(ROOT / ".dvc/config", ".dvc/config")
    kept = store.Store(".cells")
    lay_down(kept)
    dvc("add", "-q", "models/flip")
    mine = kept.path("ab12")
    content, status = mine.read_bytes(), mine.stat()
    mine.chmod(0o644)
    with open(mine, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"x")
    # As a disk does it: mode and time stay as they were.
    mine.chmod(0o444)
    os.utime(mine, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert cached() != content and kept.get("ab12") is None
    lay_down(kept)
    dvc("commit", "-f", "-q", "models/flip.dvc")
    assert MODEL.read_bytes() == cached() == mine.read_bytes() == content
