"""Folders of stages are replaced as a whole, and plans are refused after an edit."""

import contextlib
import dataclasses
import functools
import subprocess
import sys
import time
from pathlib import Path

import pytest
from refusals import refused
from small_grids import lay_down_plan, plan_of
from structure import ROOT

from pipeline import experiments
from pipeline.experiments.plan import Plan
from pipeline.project import artifacts, errors
from pipeline.project.errors import check_unchanged


def test_a_folder_takes_its_place_only_when_it_is_whole(tmp_path):
    folder = tmp_path / "models" / "flip"
    with artifacts.output(folder) as part:
        (part / "old").write_text("old")
    with contextlib.suppress(KeyboardInterrupt), artifacts.output(folder) as part:
        (part / "new").write_text("half")
        raise KeyboardInterrupt
    assert {path.name for path in folder.iterdir()} == {"old"}
    with artifacts.output(folder) as part:
        assert list(part.iterdir()) == []
        (part / "new").write_text("whole")
    assert {path.name for path in folder.iterdir()} == {"new"}
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


def start_writer(folder, name):
    """Start a process that replaces a folder again and again after a line of input."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), name],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_of_two_processes_that_write_one_folder_neither_fails_and_one_is_kept_whole(
    tmp_path,
):
    folder = tmp_path / "models" / "flip"
    processes = [start_writer(folder, "x"), start_writer(folder, "y")]
    for process in processes:
        assert process.stdout.readline() == "started\n"
    for process in processes:
        print(file=process.stdin, flush=True)
    for process in processes:
        process.communicate(timeout=120)
    assert [process.returncode for process in processes] == [0, 0]
    assert len({(folder / name).read_text() for name in "abcdef"}) == 1
    assert [path.name for path in folder.parent.iterdir()] == ["flip"]


@pytest.fixture
def planned(folder):
    """A plan with one member, whose network reads a file of the user's own."""
    (folder / "own").mkdir()
    (folder / "own/width.txt").write_text("4")
    own = {"own/width.txt": artifacts.file_digest("own/width.txt")}
    plan = plan_of("flip", {}, {"logreg": {}})
    plan.members["logreg"] = dataclasses.replace(plan.members["logreg"], own=own)
    lay_down_plan(plan)
    return functools.partial(Plan.read, experiments.find("flip"))


def test_a_plan_is_refused_after_an_edit_of_your_own_file(planned):
    assert planned().experiment == "flip"
    Path("own/width.txt").write_text("5")
    with refused("stale", path="own/width.txt"):
        planned()


def test_a_plan_is_refused_after_an_edit_of_params(planned):
    """DVC runs `plan` after no other edits either."""
    artifacts.PARAMS.write_text("scale: smoke\nsigma: 1.0\n")
    with refused("stale", path="params.yaml"):
        planned()
    artifacts.write_json(artifacts.PLAN / "params.json", artifacts.read_params())
    artifacts.PARAMS.write_text("sigma: 1   # as before\nscale: smoke\n")
    assert planned().experiment == "flip"


def test_an_edit_of_your_own_file_during_a_run_is_noticed(planned, monkeypatch):
    time.sleep(0.05)  # the clock of files is behind
    monkeypatch.setattr(errors, "STARTED", time.time())
    planned()
    check_unchanged()
    time.sleep(0.05)
    Path("own/width.txt").write_text("5")
    with refused("edited", path="own/width.txt"):
        check_unchanged()
