"""A grid that one person trained and pushed to a folder, and another pulls from a plain web server:
a finer grid then trains its own cells and nothing else."""

import functools
import re
import sys

import pytest
from repository import Copy, run, smallest
from web_server import web_server

pytestmark = pytest.mark.slow

TARGET = "train@fourier"


def test_after_a_pull_a_finer_grid_trains_its_own_cells_alone(tmp_path):
    mine = Copy(tmp_path / "mine", lambda copy: copy.write("params.yaml", smallest(16)), [TARGET])
    theirs, remote = tmp_path / "theirs", tmp_path / "remote"
    run_there = functools.partial(run, env=mine.environment)

    def dvc(*arguments):
        return run_there(sys.executable, "-m", "dvc", *arguments, where=theirs)

    assert "fourier: 4 cells trained, 0 reused" in mine.output
    mine.dvc("remote", "add", "--default", "shared", str(remote))
    run_there("git", "add", "-A", where=mine.root)
    run_there("git", "commit", "-qm", "trained", where=mine.root)
    mine.dvc("push", "-q", TARGET, "--with-deps")
    run_there("git", "clone", "-q", str(mine.root), str(theirs), where=tmp_path)
    with web_server(remote) as address:
        dvc("remote", "add", "--local", "--default", "web", address)
        dvc("pull", "-q", TARGET, "--with-deps")
    for path in (mine.root / "models").rglob("*.safetensors"):
        assert path.read_bytes() == (theirs / path.relative_to(mine.root)).read_bytes()
    assert not (theirs / ".cells").exists()
    (theirs / "params.yaml").write_text(smallest(8), encoding="utf-8")
    output = dvc("repro", TARGET)
    assert re.search(r"^fourier +10 +4 ", output, re.M), "the plan counts what was pulled"
    assert "fourier: 6 cells trained, 4 reused" in output
