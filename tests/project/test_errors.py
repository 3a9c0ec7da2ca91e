"""A command that fails ends with one sentence, and a status that tells a shell why."""

import errno
import sys
import time
import types

import pytest

from pipeline.project import errors
from pipeline.project.errors import InputError, check_unchanged, one_sentence


def end_with(error):
    """What a command exits with that raises an error."""
    with pytest.raises(SystemExit) as caught, one_sentence():
        raise error
    return caught.value.code


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            InputError("eps1 is wrong\neps2 too"),
            "error: eps1 is wrong\nerror: eps2 too",
        ),
        (OSError(errno.ENOSPC, "No space", "a.npz"), "the disk is full: a.npz cannot"),
        (
            OSError("4096 requested and 512 written"),
            "the disk is full: a file below /",
        ),
        (OSError(errno.ENOSPC, "x", "a.part", None, "a"), "the disk is full: a cannot"),
        (
            PermissionError(errno.EACCES, "Permission denied", "x"),
            "error: x: Permission denied",
        ),
        (MemoryError(), "there is not enough memory; free some, or ask for fewer"),
    ],
)
def test_an_error_ends_a_command_with_one_sentence(error, words):
    sentence = end_with(error)  # a text, with which Python exits with status 1
    assert sentence.startswith("error: ")
    assert words in sentence
    assert sentence.count("\n") == words.count("\n")


def test_ctrl_c_ends_a_command_with_the_status_of_the_signal(capsys):
    assert end_with(KeyboardInterrupt()) == 130
    words = "stopped: finished networks and NADs are kept in"
    assert capsys.readouterr().err.startswith(words)


def test_what_is_no_mistake_of_the_users_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError), one_sentence():
        raise ZeroDivisionError


@pytest.mark.parametrize("name", ["pipeline.loaded", "nets"])
def test_an_edit_of_loaded_source_of_the_package_or_of_your_own_ends_a_command(
    name, folder, monkeypatch
):
    path = folder / "own/loaded.py"
    path.parent.mkdir()
    path.write_text("x = 1")
    monkeypatch.setattr(errors, "STARTED", time.time() + 0.02)
    module = types.ModuleType(name)
    module.__file__ = str(path)
    monkeypatch.setitem(sys.modules, name, module)
    time.sleep(0.05)
    path.with_name("other.py").write_text("x = 2")  # not loaded
    check_unchanged()
    path.write_text("x = 2")
    words = "own/loaded.py was edited during the run.*run it again"
    with pytest.raises(SystemExit, match=words), one_sentence():
        pass
