"""The store's size, and removal of what was not used for a while."""

import os
import time

import numpy as np
import pytest
import torch

from pipeline import prune
from pipeline.machine import store
from pipeline.project.errors import InputError


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A store with a cell, an estimate and the rest of a killed write, all last used ten days ago."""
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    cells, sums = store.Store(store.default_folder()), store.Sums(store.default_folder(), "abcd")
    cells.put("ab12", {"w": torch.ones(100)}, {"loss": 0.5})
    sums.put(7, {"halves": np.ones((2, 3, 3))})
    (store.default_folder() / "ab" / "x.part").write_bytes(b"half")
    for item in store.items(store.default_folder()):
        os.utime(item.path, (time.time() - 864_000,) * 2)
    return cells, sums


def test_the_size_is_shown_and_nothing_removed_unless_asked(kept, capsys):
    prune.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-4] for line in lines] == ["1", "1", "1"] and len(store.items(store.default_folder())) == 3


def test_what_was_used_lately_stays(kept, capsys):
    cells, sums = kept
    assert cells.get("ab12") and sums.get(7)["halves"].shape == (2, 3, 3)
    prune.main(9)
    assert "removed 1 files" in capsys.readouterr().out
    assert cells.get("ab12") and sums.counts() == [7]
    prune.main(0)
    assert cells.get("ab12") is None and sums.counts() == []


def test_days_are_a_number():
    assert prune.days_of([]) is None and prune.days_of(["2.5"]) == 2.5
    for wrong in (["-1"], ["soon"], ["1", "2"], ["nan"]):
        with pytest.raises(InputError, match="number of days"):
            prune.days_of(wrong)
