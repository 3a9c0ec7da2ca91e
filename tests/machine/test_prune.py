"""The store's size, and removal of what was not used for a while."""

import argparse
import os
import time

import numpy as np
import pytest
import torch

from pipeline import prune
from pipeline.machine import store


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A store with a cell, an estimate and the leftover of a killed write, all last used ten days ago, and the rates."""
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    folder = store.default_folder()
    assert folder == tmp_path / ".cells"
    cells, sums = store.Store(folder), store.Sums(folder, "abcd")
    cells.put("ab12", {"w": torch.ones(100_000)}, {"loss": 0.5})
    sums.put(7, {"halves": np.ones((2, 3, 3))})
    (folder / "ab" / "x.part").write_bytes(b"half")
    for item in store.items(folder):
        os.utime(item.path, (time.time() - 864_000,) * 2)
    (folder / "rates.json").write_text("{}")
    return cells, sums


def test_the_size_is_shown_and_nothing_removed_unless_asked(kept, capsys):
    prune.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-4:] for line in lines] == [
        ["1", "files", "0.4", "MB"],
        ["1", "files", "0.0", "MB"],
        ["1", "files", "0.0", "MB"],
    ]
    assert [line[:14] for line in lines] == ["trained cells ", "estimates of N", "leftovers of k"]
    assert len(store.items(store.default_folder())) == 3


def test_what_was_used_lately_stays(kept, capsys):
    cells, sums = kept
    assert cells.get("ab12") and sums.get(7)["halves"].shape == (2, 3, 3)
    prune.main(9)
    assert "removed 1 files, 0.0 MB, not used for 9 days" in capsys.readouterr().out
    assert cells.get("ab12") and sums.counts() == [7]
    prune.main(0)
    assert "removed 2 files, 0.4 MB, not used for 0 days" in capsys.readouterr().out
    assert cells.get("ab12") is None and sums.counts() == []
    assert (store.default_folder() / "rates.json").exists(), "what is no finished work is not counted"


def test_what_is_old_enough_goes(kept, capsys):
    prune.main(10.5)
    assert "removed 0 files" in capsys.readouterr().out
    prune.main(9.5)
    assert "removed 3 files, 0.4 MB, not used for 9.5 days" in capsys.readouterr().out


def test_days_are_a_number():
    assert prune.days("2.5") == 2.5 and prune.days("0") == 0
    for wrong in ("-1", "soon", "nan", "1 2"):
        with pytest.raises(argparse.ArgumentTypeError, match=f"'{wrong}' is not a number of days"):
            prune.days(wrong)
