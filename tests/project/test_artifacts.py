"""Folders that stages hand on: put in their place whole, and refused where a byte was altered."""

import contextlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from structure import ROOT

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


WRITER = """
import sys
from pathlib import Path
from pipeline.project import artifacts

print("started", flush=True)
sys.stdin.readline()
for number in range(300):
    with artifacts.output(Path(sys.argv[1])) as part:
        for name in "abcdef":
            (part / name).write_text(f"{sys.argv[2]} {number}")
"""


def test_of_two_processes_that_write_one_folder_neither_fails_and_one_is_kept_whole(tmp_path):
    folder = tmp_path / "models" / "flip"
    processes = []
    for writer in "xy":
        command = [sys.executable, "-c", WRITER, str(folder), writer]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
        processes.append(process)
    for process in processes:
        assert process.stdout.readline() == "started\n"
    for process in processes:
        print(file=process.stdin, flush=True)
    for process in processes:
        process.communicate(timeout=120)
    assert [process.returncode for process in processes] == [0, 0]
    assert len({(folder / name).read_text() for name in "abcdef"}) == 1
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
