"""A command that fails ends with one sentence, and a status that tells a shell why."""

import ast
import errno
import pickle
import sys
import time
import types
import typing

import cloudpickle
import pytest
from refusals import refused
from structure import ROOT, files

from pipeline.project import errors
from pipeline.project.errors import (
    KEPT,
    InputError,
    Kind,
    check_unchanged,
    one_sentence,
    prefix_errors,
)

KINDS = typing.get_args(Kind)


def calls_of(name):
    """All calls of a function in the package and the studies, as syntax trees."""
    for path in [*files(), *(ROOT / "studies").glob("*.py")]:
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
                yield path, node


def test_every_kind_that_is_raised_is_listed_and_all_that_are_listed_are_raised():
    raised = set()
    without = set()
    for path, call in calls_of("InputError"):
        kinds = call.args[1:]
        if not kinds:
            without.add(path)
        raised |= {kind.value for kind in kinds if isinstance(kind, ast.Constant)}
    texts = "".join((ROOT / path).read_text(encoding="utf-8") for path in files())
    assert raised <= set(KINDS)
    assert all(texts.count(f'"{kind}"') > 1 for kind in KINDS)
    assert not without


@pytest.mark.parametrize("library", [pickle, cloudpickle])
def test_an_error_comes_back_whole_from_another_process(library):
    error = InputError("eps1 is wrong", "unknown-key", name="eps1")
    again = library.loads(library.dumps(error))
    assert type(again) is InputError
    assert str(again) == "eps1 is wrong"
    assert (again.kind, again.fields) == ("unknown-key", {"name": "eps1"})


def test_a_place_is_added_to_the_message_and_the_fields():
    with refused("unknown-key", name="eps1", place="fourier") as caught:
        with prefix_errors("fourier: "):
            raise InputError("eps1 is wrong", "unknown-key", name="eps1")
    assert str(caught.value) == "fourier: eps1 is wrong"


def test_another_exception_becomes_an_error_of_the_kind_that_is_given():
    with refused("images", place="birds"), prefix_errors("birds: ", OSError):
        raise InputError("no such folder", "images")
    with refused("unreadable-file", place="birds"):
        with prefix_errors("birds: ", OSError, kind="unreadable-file"):
            raise OSError("it is truncated")
    with pytest.raises(ValueError, match="a bug"), prefix_errors("birds: ", OSError):
        raise ValueError("a bug")


def end_with(error):
    """What a command exits with that raises an error."""
    with pytest.raises(SystemExit) as caught, one_sentence():
        raise error
    return caught.value.code


@pytest.mark.parametrize(
    ("error", "file"),
    [
        (InputError("eps1 is wrong"), ""),
        (OSError(errno.ENOSPC, "No space", "a.npz"), "a.npz"),
        (OSError("4096 requested and 512 written"), "a file below /"),
        (OSError(errno.ENOSPC, "x", "a.part", None, "a"), " a "),
        (PermissionError(errno.EACCES, "Permission denied", "x"), "x"),
        (MemoryError(), "memory"),
    ],
)
def test_an_error_ends_a_command_with_one_sentence(error, file):
    sentence = end_with(error)  # a text, with which Python exits with status 1
    assert sentence.startswith("error: ")
    assert file in sentence
    assert "\n" not in sentence


def test_several_mistakes_end_a_command_with_a_line_each():
    error = InputError("eps1 is wrong\neps2 too", "settings")
    assert end_with(error) == "error: eps1 is wrong\nerror: eps2 too"


def test_ctrl_c_ends_a_command_with_the_status_of_the_signal(capsys):
    assert end_with(KeyboardInterrupt()) == 130
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert KEPT in lines[0]


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
    with pytest.raises(SystemExit, match="^error: own/loaded.py "), one_sentence():
        pass
