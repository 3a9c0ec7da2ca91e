"""Whether the disks have room for what is still to be written."""

import os
import shutil
from pathlib import Path

from pipeline.machine import store
from pipeline.project import artifacts
from pipeline.project.errors import InputError


def check_room(size: int, what: str) -> None:
    """Raise InputError unless the disks of models/, of the store and of DVC's cache have room for
    `size` bytes each; what: has so much to write.

    They share one file on one file system; where it knows no links, this asks for too little,
    never for too much.
    """
    home = Path(os.environ.get("DVC_ROOT", "."))
    for folder in (artifacts.MODELS, store.default_folder(), home / ".dvc" / "cache"):
        path = next(p for p in (folder.resolve(), *folder.resolve().parents) if p.exists())
        if (free := shutil.disk_usage(path).free) < size:
            raise InputError(
                f"{what} has {size / 1e9:,.2f} GB still to write, and the disk of {path} has "
                f"{free / 1e9:,.2f} GB free; free space there (`python -m pipeline.prune DAYS` and "
                "`dvc gc -w` remove what is no longer used) or ask for less"
            )
