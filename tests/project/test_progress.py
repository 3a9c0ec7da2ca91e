"""Lines of progress where no bar is shown."""

import re
import sys
import time
import types

import pytest

from pipeline.project import progress as module
from pipeline.project.progress import progress


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(module, "MINUTE", 0.05)


def test_without_a_terminal_counted_work_is_printed_in_lines(capsys):
    counts = iter([0, *range(3, 100)])
    with progress("networks", 100, lambda: next(counts)):
        time.sleep(0.5)
    first, *others = capsys.readouterr().err.splitlines()
    assert re.search("networks: .*3 of 100, about .* min left", first)
    assert others


def test_work_of_which_nothing_is_done_yet_has_no_forecast(capsys):
    with progress("networks", 100, lambda: 5):
        time.sleep(0.2)
    for line in capsys.readouterr().err.splitlines():
        assert "5 of 100" in line and "left" not in line


@pytest.mark.parametrize("place", ["terminal", "notebook"])
def test_where_a_bar_is_shown_only_uncounted_work_has_lines(place, monkeypatch, capsys):
    if place == "terminal":
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    else:
        monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    with progress("networks", 100, lambda: 0):
        time.sleep(0.2)
    assert capsys.readouterr().err == ""
    with progress("decomposing"):
        time.sleep(0.2)
    assert "decomposing: " in capsys.readouterr().err
