"""How a command ends before its time: one sentence, and a status by which a shell knows
why."""

import errno
import sys
import time
import types

import pytest

import pipeline
from pipeline.project.errors import InputError, check_unchanged, one_sentence


def ended(error, capsys):
    """The status and the words with which a command ends that raises an error."""
    with pytest.raises(SystemExit) as caught, one_sentence():
        raise error
    if isinstance(caught.value.code, str):
        return 1, caught.value.code
    return caught.value.code, capsys.readouterr().err.strip()


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (
            InputError("eps1 is wrong\neps2 too"),
            1,
            "error: eps1 is wrong\nerror: eps2 too",
        ),
        (
            OSError(errno.ENOSPC, "No space", "a.npz"),
            1,
            "error: the disk is full: a.npz cannot be",
        ),
        (
            OSError("4096 requested and 512 written"),
            1,
            "error: the disk is full: a file below /",
        ),
        (
            OSError(errno.ENOSPC, "x", "a.part", None, "a"),
            1,
            "the disk is full: a cannot be",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "x"),
            1,
            "error: x: Permission denied",
        ),
        (
            MemoryError(),
            1,
            "error: there is not enough memory; free some, or ask for fewer",
        ),
        (KeyboardInterrupt(), 130, "stopped: finished networks and NADs are kept in"),
    ],
)
def test_an_error_ends_a_command_in_one_sentence(error, status, words, capsys):
    code, said = ended(error, capsys)
    assert code == status and words in said
    assert said.count("\n") == words.count("\n")


def test_what_is_no_mistake_of_the_users_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError), one_sentence():
        raise ZeroDivisionError


@pytest.mark.parametrize("name", ["pipeline.loaded", "nets"])
def test_an_edit_of_loaded_source_of_the_package_or_of_ones_own_ends_a_command(
    name, folder, monkeypatch
):
    (path := folder / "own/loaded.py").parent.mkdir()
    path.write_text("x = 1")
    monkeypatch.setattr(pipeline, "STARTED", time.time() + 0.02)
    module = types.ModuleType(name)
    module.__file__ = str(path)
    monkeypatch.setitem(sys.modules, name, module)
    time.sleep(0.05)
    path.with_name("other.py").write_text("x = 2")  # not loaded
    check_unchanged()
    path.write_text("x = 2")
    with pytest.raises(
        SystemExit, match="own/loaded.py was edited during the run.*run it again"
    ):
        with one_sentence():
            pass
