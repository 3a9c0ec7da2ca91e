"""Room for what is still to be written, on each of the file systems that it is written to."""

import pwd
import shutil
from pathlib import Path

import pytest

from pipeline.machine import disk
from pipeline.project.errors import InputError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty repository."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    return tmp_path


def test_the_cache_lies_where_dvc_is_told_to_keep_it(folder):
    """dvc.org/doc/user-guide/project-structure/configuration: cache.dir, from the folder of the file that names it."""
    assert disk.folders() == [folder / ".cells", Path("models"), folder / ".dvc/cache"]
    (folder / ".dvc").mkdir()
    (folder / ".dvc/config").write_text("[core]\n    analytics = false\n")
    assert disk.folders()[2] == folder / ".dvc/cache"
    (folder / ".dvc/config.local").write_text("[cache]\n    dir = ../elsewhere\n")
    assert disk.folders()[2].resolve() == folder / "elsewhere"
    (folder / ".dvc/config").write_text("[no\n")
    assert disk.folders()[2] == folder / ".dvc/cache", "DVC itself says what is wrong with its settings"


def test_a_user_without_a_home_folder_has_a_cache_too(folder, monkeypatch):
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    assert disk.folders()[2] == folder / ".dvc/cache"


def test_one_file_system_needs_the_room_once_and_each_needs_it(folder, monkeypatch):
    usage, asked = shutil.disk_usage(folder), []
    monkeypatch.setattr(shutil, "disk_usage", lambda path: asked.append(path) or usage._replace(free=5_000_000_000))
    disk.check_room(5_000_000_000, "scale mine")
    assert asked == [folder]
    with pytest.raises(InputError) as caught:
        disk.check_room(5_010_000_000, "scale mine")
    assert str(caught.value) == (
        f"scale mine has 5.01 GB still to write, and the disk of {folder} has 5.00 GB free; free space there "
        "(`python -m pipeline.prune DAYS` and `dvc gc -w` remove what is no longer used) or ask for less"
    )


def test_a_cache_on_another_file_system_that_is_full_is_found(folder, monkeypatch):
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == folder.stat().st_dev:
        pytest.skip("/dev/shm is no file system of its own here")
    usage = shutil.disk_usage(folder)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=0 if path == other else 10**12))
    disk.check_room(10, "scale mine")
    (folder / ".dvc").mkdir()
    (folder / ".dvc/config").write_text(f"[cache]\n    dir = {other}/no-such-folder\n")
    with pytest.raises(
        InputError, match="^scale mine has 0.00 GB still to write, and the disk of /dev/shm has 0.00 GB"
    ):
        disk.check_room(10, "scale mine")
