"""A stage that was edited while it ran does not pass for one of either version."""

import os
import subprocess
import sys

import pytest
import torch
from structure import ROOT

from pipeline.machine import workers
from pipeline.project import errors, unchanged
from pipeline.project.errors import InputError, one_sentence

ERRORS = errors.__file__


@pytest.fixture
def begun(monkeypatch):
    """A process that has read its code as a stage does when it starts."""
    monkeypatch.setattr(unchanged, "_read", None)
    unchanged.begin()


def test_of_the_package_only_what_is_loaded_counts(begun):
    stage = os.path.join(unchanged.PACKAGE, "a_stage_that_this_process_has_not_loaded.py")
    assert unchanged.changed() == []
    unchanged.begin(unchanged.read() | {stage: "another text"})
    assert unchanged.changed() == []
    unchanged.begin(unchanged.read() | {ERRORS: "another text"})
    assert unchanged.changed() == [ERRORS]


def test_a_file_counts_as_it_was_read_first(begun, tmp_path):
    edited, removed, kept = (tmp_path / name for name in ("edited", "removed", "kept"))
    for path in (edited, removed, kept):
        path.write_bytes(b"one")
        unchanged.note(path, b"one")
    edited.write_bytes(b"two")
    unchanged.note(edited, b"two")
    removed.unlink()
    assert unchanged.changed() == [str(edited), str(removed)]


def test_what_an_editor_leaves_in_the_package_is_no_source_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(unchanged, "PACKAGE", str(tmp_path))
    (tmp_path / "single.py").write_bytes(b"x = 1")
    (tmp_path / ".#single.py").symlink_to("somebody@somewhere.1234")
    assert list(unchanged.digests()) == [str(tmp_path / "single.py")]


def test_where_nobody_has_begun_nothing_is_remembered(monkeypatch, tmp_path):
    monkeypatch.setattr(unchanged, "_read", None)
    unchanged.note(tmp_path / "gone", b"")
    assert unchanged.read() is None and unchanged.changed() == []


def test_an_edit_meanwhile_ends_a_stage_with_one_sentence(begun, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_bytes(b"one")
    unchanged.note("params.yaml", b"one")
    with pytest.raises(SystemExit, match="^error: params.yaml was changed while this ran, [^\n]*$"), one_sentence():
        (tmp_path / "params.yaml").write_bytes(b"two")


def test_no_worker_does_with_other_code_what_is_kept_by_that_of_its_parent(begun):
    unchanged.begin(unchanged.read() | {ERRORS: "another text"})
    with pytest.raises(InputError, match="errors.py was changed while this ran"):
        list(workers.run(pow, [1], int, torch.device("cpu")))


@pytest.mark.slow
def test_a_network_of_ones_own_that_edits_params_meanwhile(tmp_path):
    """In place of a person, so that it is between the stage's first look at params.yaml and its end, on any machine."""
    text = (
        (ROOT / "params.yaml").read_text(encoding="utf-8").replace("{network: lenet}", "{network: 'editing:LeNet'}", 1)
    )
    (tmp_path / "params.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "editing.py").write_text(
        "from pipeline.networks.lenet import LeNet\n"
        "with open('params.yaml', 'a', encoding='utf-8') as file:\n"
        "    file.write('# edited\\n')\n",
        encoding="utf-8",
    )
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}", "DVC_ROOT": str(tmp_path)}
    command = [sys.executable, "-m", "pipeline.plan"]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 1, run.stderr
    assert run.stderr.count("\n") == 1 and "params.yaml was changed while this ran" in run.stderr
