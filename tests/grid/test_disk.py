"""Room for what is still to be written, on each of the disks that it is written to."""

import shutil
from pathlib import Path

import pytest

from pipeline.grid.forecast import check_room
from pipeline.project.errors import InputError


@pytest.mark.parametrize("full", ["models", "store/.cells", "store/.dvc/cache"])
def test_each_disk_needs_the_room(full, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path / "store"))
    Path(full).mkdir(parents=True)
    usage = shutil.disk_usage(tmp_path)
    free = lambda path: 5_000_000_000 if path == tmp_path / full else 10**12
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=free(path)))
    check_room(5_000_000_000, "scale mine")
    with pytest.raises(InputError) as caught:
        check_room(5_010_000_000, "scale mine")
    assert str(caught.value) == (
        f"scale mine has 5.01 GB still to write, and the disk of {tmp_path / full} has 5.00 GB "
        "free; free space there (`find .cells -type f -atime +30 -delete` and `dvc gc -w` remove "
        "what is no longer used) or ask for less"
    )
