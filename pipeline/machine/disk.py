"""Room on the disks for the files that a run has still to write."""

import os
import shutil
from pathlib import Path

from pipeline.machine import store
from pipeline.project import artifacts
from pipeline.project.errors import InputError


def check_room(size: int, what: str) -> None:
    """Raise InputError unless the disks of models/, of the store and of DVC's cache each have
    `size` bytes free.

    what: the subject of the error's sentence. Where a file system knows no links the three copies
    of a file take more, so this may ask for too little, never for too much.
    """
    home = Path(os.environ.get("DVC_ROOT", "."))
    for folder in (artifacts.MODELS, store.default_folder(), home / ".dvc" / "cache"):
        path = next(p for p in (folder.resolve(), *folder.resolve().parents) if p.exists())
        if (free := shutil.disk_usage(path).free) < size:
            raise InputError(
                f"{what} has {size / 1e9:,.2f} GB still to write, and the disk of {path} has "
                f"{free / 1e9:,.2f} GB free; free space there (`find .cells -type f -atime +30 "
                "-delete` and `dvc gc -w` remove what is no longer used) or ask for less"
            )
