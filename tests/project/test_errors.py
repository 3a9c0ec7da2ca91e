"""How a command ends before its time: one sentence, and a status by which a shell knows why."""

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
        (InputError("eps1 is wrong\neps2 too"), 1, "error: eps1 is wrong\nerror: eps2 too"),
        (OSError(errno.ENOSPC, "No space", "a.npz"), 1, "error: the disk is full: a.npz cannot be"),
        (OSError("4096 requested and 512 written"), 1, "error: the disk is full: a file below /"),
        (OSError(errno.ENOSPC, "x", "a.part", None, "a"), 1, "the disk is full: a cannot be"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), 1, "error: x: Permission denied"),
        (MemoryError(), 1, "error: there is not enough memory; free some, or ask for fewer"),
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


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A source file of the package that this process has loaded, written before it started."""
    path = tmp_path / "loaded.py"
    path.write_text("x = 1")
    monkeypatch.setattr(pipeline, "STARTED", time.time() + 0.02)
    module = types.ModuleType("pipeline.loaded")
    module.__file__ = str(path)
    monkeypatch.setitem(sys.modules, "pipeline.loaded", module)
    time.sleep(0.05)
    return path


def test_an_edit_of_ones_own_network_ends_a_command(source, monkeypatch):
    (own := source.parent / "own").mkdir()
    monkeypatch.chdir(source.parent)
    module = types.ModuleType("nets")
    module.__file__ = str(own / "nets.py")
    monkeypatch.setitem(sys.modules, "nets", module)
    (own / "nets.py").write_text("x = 1")
    with pytest.raises(InputError, match="own/nets.py was changed while this ran"):
        check_unchanged()


def test_an_edit_of_loaded_source_ends_a_command(source):
    source.with_name("other.py").write_text("x = 2")  # not loaded
    check_unchanged()
    source.write_text("x = 2")
    with pytest.raises(SystemExit, match="loaded.py was changed while this ran.*run it again"):
        with one_sentence():
            pass
