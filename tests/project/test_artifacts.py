"""Folders that stages hand on: put in their place whole, and refused where a byte was altered."""

import contextlib
from pathlib import Path

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


def altered(path):
    path.write_text(path.read_text().replace("0.25", "0.26"))


@pytest.mark.parametrize(
    ("change", "name"),
    [(altered, "cells.csv"), (Path.unlink, "draw.npy"), (Path.touch, "draw-1.npy")],
)
def test_one_altered_digit_is_refused_with_the_stage_that_made_it(change, name, tmp_path):
    folder = tmp_path / "datasets"
    with artifacts.output(folder) as part:
        pd.DataFrame({"sigma": [0.25, 1.0]}).to_csv(part / "cells.csv", index=False)
        np.save(part / "draw.npy", np.eye(3))
    artifacts.check(folder, "generate flip")
    change(folder / name)
    with pytest.raises(InputError, match=rf"{name} is not as `generate flip` left it; `python -m"):
        artifacts.check(folder, "generate flip")
