"""Finished work: kept whole or not at all, found by content, and not after a bit has
turned, also where DVC's cache has the same file."""

import errno
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
import safetensors
import safetensors.torch
import torch
from structure import ROOT

from pipeline.machine import store

W = {"w": torch.tensor([1.0, -2.5])}
MODEL = pathlib.Path("models/flip/lenet.safetensors")


@pytest.fixture
def kept(tmp_path):
    """An empty store."""
    return store.Store(tmp_path / "store")


def files(folder):
    """The names of all files below a folder."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_what_is_kept_is_found_again_and_may_be_replaced(kept):
    assert kept.get("ab12") is None and not kept.holds("ab12")
    tensors = {"one": torch.arange(6.0), "other": torch.ones(2, 3)}
    kept.put("ab12", tensors, {"losses": [0.5, 1e-05], "steps": None})
    path = kept.folder / "ab" / "ab12.safetensors"
    assert kept.holds("ab12") and kept.get("ab12") == {
        "losses": [0.5, 1e-05],
        "steps": None,
    }
    assert kept.path("ab12") == path and path.stat().st_mode & 0o777 == 0o444
    found = safetensors.torch.load_file(path)
    assert all(torch.equal(found[name], tensors[name]) for name in tensors)
    kept.put("ab12", W, {"accuracy": 0.5})
    assert kept.get("ab12") == {"accuracy": 0.5} and kept.get("ab13") is None
    assert files(kept.folder) == ["ab12.safetensors"]


def test_a_failed_write_leaves_nothing(kept, monkeypatch):
    with pytest.raises(TypeError):
        kept.put("ab12", W, {"loss": object()})

    def half(path, contents):
        path.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(pathlib.Path, "write_bytes", half)
    with pytest.raises(OSError, match="No space left on device"):
        kept.put("ab12", W, {"loss": 0.5})
    assert kept.get("ab12") is None and files(kept.folder) == []


def test_digests_tell_values_shapes_and_types_apart():
    a = np.arange(4.0)
    assert store.digest(a) == store.digest(a[::1].copy())
    others = a, a.reshape(2, 2), a.astype("f4"), a + 1
    assert len({store.digest(other) for other in others}) == 4
    assert store.digest({"a": 1, "b": 2}) == store.digest({"b": 2, "a": 1})
    assert store.digest({"a": 1}) != store.digest({"a": 2})
    with pytest.raises(ValueError, match="JSON compliant"):
        store.digest({"sigma": float("nan")})


@pytest.mark.slow
def test_one_turned_bit_anywhere_is_found(kept):
    kept.put(
        "ab12",
        {"w": W["w"][:1], "n": torch.tensor(3)},
        {"losses": [0.5], "steps": None},
    )
    path = kept.path("ab12")
    content = path.read_bytes()
    for bit in range(8 * len(content)):
        turned = bytearray(content)
        turned[bit // 8] ^= 1 << bit % 8
        path.unlink(missing_ok=True)  # it is read-only
        path.write_bytes(turned)
        assert kept.get("ab12") is None, bit
    path.write_bytes(content)
    assert kept.get("ab12") is not None


@pytest.mark.parametrize(
    "damage", [lambda _: safetensors.torch.save(W), lambda whole: whole[:-7]]
)
def test_a_damaged_file_counts_as_not_kept_and_is_said(damage, kept, capsys):
    """One without a note, and one that was cut short."""
    kept.put("ab12", W, {"loss": 0.5})
    path = kept.path("ab12")
    path.chmod(0o644)
    path.write_bytes(damage(path.read_bytes()))
    assert kept.get("ab12") is None and not path.exists()
    assert capsys.readouterr().err.startswith(f"notice: {path} ")
    kept.put("ab12", W, {"loss": 0.5})
    assert kept.get("ab12") == {"loss": 0.5}


def test_one_cell_in_anothers_place_is_found(kept):
    kept.put("ab12", W, {"loss": 0.5})
    kept.path("ab12").rename(kept.path("ab13"))
    assert kept.get("ab13") is None


def test_a_cell_and_its_copy_are_one_file_that_nobody_writes_into(kept, tmp_path):
    copy = tmp_path / "copy.safetensors"
    kept.put("ab12", W, {"loss": 0.5})
    kept.link_to("ab12", copy)
    assert copy.samefile(kept.path("ab12")) and copy.stat().st_mode & 0o777 == 0o444
    # Who replaces or removes one of the two has a file of their own.
    content = copy.read_bytes()
    copy.unlink()
    copy.write_bytes(b"")
    assert kept.path("ab12").read_bytes() == content


def test_where_no_link_can_be_made_there_is_a_copy(kept, tmp_path, monkeypatch):
    def other_file_system(*_):
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", other_file_system)
    copy = tmp_path / "copy.safetensors"
    kept.put("ab12", W, {"loss": 0.5})
    kept.link_to("ab12", copy)
    assert copy.read_bytes() == kept.path("ab12").read_bytes()
    assert not copy.samefile(kept.path("ab12"))


def test_use_is_noted_beside_the_time_of_the_contents_and_damage_with_it(
    kept, tmp_path, capsys
):
    """DVC, whose cache may hold the same file, takes it for unchanged as long as mode,
    time and size are."""
    kept.put("ab12", W, {"loss": 0.5})
    path = kept.path("ab12")
    copy = tmp_path / "copy.safetensors"
    kept.link_to("ab12", copy)
    os.utime(path, (1e9, 1e9))
    assert kept.get("ab12")
    assert path.stat().st_mtime == 1e9 and path.stat().st_atime > 1.7e9
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    path.chmod(0o444)
    os.utime(path, (1e9, 1e9))
    assert kept.get("ab12") is None and str(path) in capsys.readouterr().err
    assert copy.stat().st_mtime > 1.7e9 and copy.stat().st_mode & 0o777 == 0o644


def dvc(*arguments):
    """A command of DVC, whose cache may hold the same files, in the current folder."""
    environment = os.environ | {
        "HOME": str(pathlib.Path.cwd()),
        "DVC_NO_ANALYTICS": "1",
    }
    command = [sys.executable, "-m", "dvc", *arguments]
    done = subprocess.run(command, env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr


def lay_down(kept):
    """Train a cell, as it were, and lay out models/flip/."""
    kept.put("ab12", {"w": torch.arange(1000.0)}, {"loss": 0.5})
    shutil.rmtree("models/flip", ignore_errors=True)
    pathlib.Path("models/flip").mkdir(parents=True)
    kept.link_to("ab12", MODEL)


def cached():
    """The bytes of the file in DVC's cache that has the cell's size."""
    size = MODEL.stat().st_size
    files = pathlib.Path(".dvc/cache").rglob("*")
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
    content = mine.read_bytes()
    status = mine.stat()
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
