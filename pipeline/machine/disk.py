"""Whether the disks have room for what is still to be written."""

import os
import shutil
from pathlib import Path

from dvc.config import Config
from dvc.exceptions import DvcException

from pipeline.machine import store
from pipeline.project import artifacts
from pipeline.project.errors import InputError


def folders() -> list[Path]:
    """Where finished work is written: the store, models/, and DVC's cache, which share one file on one file system."""
    return [store.default_folder(), artifacts.MODELS, _cache()]


def _cache() -> Path:
    """DVC's cache of the main repository."""
    home = Path(os.environ.get("DVC_ROOT", ".")) / ".dvc"
    try:
        return Path(Config(str(home)).get("cache", {}).get("dir") or home / "cache")
    except (DvcException, RuntimeError):  # of which DVC will speak itself, as of a user without a home folder
        return home / "cache"


def _existing(folder: Path) -> Path:
    """A folder, or the nearest one above it that is there."""
    folder = folder.resolve()
    return next(path for path in (folder, *folder.parents) if path.exists())


def check_room(size: int, what: str) -> None:
    """Raise InputError unless every file system of `folders` has room for `size` bytes; what: has so much to write."""
    # Once on each: copies on one file system are links. Where it knows none, this asks for too little, never for too much.
    systems = {path.stat().st_dev: path for path in map(_existing, reversed(folders()))}
    for path in systems.values():
        if (free := shutil.disk_usage(path).free) < size:
            raise InputError(
                f"{what} has {size / 1e9:,.2f} GB still to write, and the disk of {path} has {free / 1e9:,.2f} GB free; free space "
                "there (`python -m pipeline.prune DAYS` and `dvc gc -w` remove what is no longer used) or ask for less"
            )
