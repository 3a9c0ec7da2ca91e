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

pytestmark = pytest.mark.slow


def dvc(*arguments):
    """A command of DVC in the current folder."""
    environment = os.environ | {"HOME": str(Path.cwd()), "DVC_NO_ANALYTICS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "dvc", *arguments], env=environment, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A cell in the store, in models/ and in the cache of a repository with this project's
    settings."""
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q"], check=True)
    dvc("init", "-q")
    shutil.copy(ROOT / ".dvc/config", ".dvc/config")
    kept = store.Store(".cells")
    lay_down(kept)
    dvc("add", "-q", "models/flip")
    return kept


def lay_down(kept):
    """Train a cell, as it were, and lay out models/flip/."""
    kept.put("ab12", {"w": torch.arange(1000.0)}, {"loss": 0.5})
    shutil.rmtree("models/flip", ignore_errors=True)
    Path("models/flip").mkdir(parents=True)
    kept.lay_down("ab12", MODEL)


MODEL = Path("models/flip/lenet.safetensors")


def cached():
    """The file in DVC's cache of the cell's size."""
    size = MODEL.stat().st_size
    (path,) = (
        path
        for path in Path(".dvc/cache").rglob("*")
        if path.is_file() and path.stat().st_size == size
    )
    return path


def test_a_damaged_file_is_made_again_in_all_three_places(files, capsys):
    mine = files.path("ab12")
    content = mine.read_bytes()
    status = mine.stat()
    mine.chmod(0o644)
    with open(mine, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"x")
    # As a disk does it: mode and time stay as they were.
    mine.chmod(0o444)
    os.utime(mine, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert cached().read_bytes() != content
    assert files.get("ab12") is None
    lay_down(files)
    dvc("commit", "-f", "-q", "models/flip.dvc")
    assert MODEL.read_bytes() == cached().read_bytes() == files.path("ab12").read_bytes() == content
