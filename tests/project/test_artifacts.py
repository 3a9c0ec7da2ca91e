"""Folders that stages hand on: put in their place whole, and refused where a byte was altered."""

import contextlib
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pipeline.project import artifacts
from pipeline.project.errors import InputError


def test_a_folder_takes_its_place_only_when_it_is_whole(tmp_path):
    folder = tmp_path / "models" / "flip"
    with artifacts.output(folder) as part:
        (part / "old").write_text("old")
    with contextlib.suppress(KeyboardInterrupt), artifacts.output(folder) as part:
        (part / "new").write_text("half")
        raise KeyboardInterrupt
    assert {path.name for path in folder.iterdir()} == {"old", artifacts.SEAL}
    with artifacts.output(folder) as part:
        assert list(part.iterdir()) == []
        (part / "new").write_text("whole")
    assert {path.name for path in folder.iterdir()} == {"new", artifacts.SEAL}
    assert [path.name for path in folder.parent.iterdir()] == ["flip"]


def altered(folder):
    text = (folder / "cells.csv").read_text()
    (folder / "cells.csv").write_text(text.replace("0.25", "0.26"))


def removed(folder):
    (folder / "draw.npy").unlink()


def added(folder):
    (folder / "draw-1.npy").write_bytes(b"")


@pytest.mark.parametrize(
    ("change", "name"), [(altered, "cells.csv"), (removed, "draw.npy"), (added, "draw-1.npy")]
)
def test_one_altered_digit_is_refused_with_the_stage_that_made_it(change, name, tmp_path):
    folder = tmp_path / "datasets"
    with artifacts.output(folder) as part:
        pd.DataFrame({"sigma": [0.25, 1.0]}).to_csv(part / "cells.csv", index=False)
        np.save(part / "draw.npy", np.eye(3))
    artifacts.check(folder, "generate flip")
    change(folder)
    with pytest.raises(InputError, match=rf"{name} is not as `generate flip` left it; `python -m"):
        artifacts.check(folder, "generate flip")


def test_an_edit_of_a_file_of_ones_own_needs_another_plan(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("x = 1")
    members = {"mine": SimpleNamespace(own={str(path): artifacts.file_digest(path)})}
    artifacts.check_own(members)
    for change in (lambda: path.write_text("x = 2"), path.unlink):
        change()
        with pytest.raises(InputError, match="mine.py was edited since it was planned"):
            artifacts.check_own(members)
