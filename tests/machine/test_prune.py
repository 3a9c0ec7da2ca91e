"""The store's size, and removal of what was not used for a while."""

import os
import time

import numpy as np
import pytest
import torch

from pipeline import prune
from pipeline.machine import store


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A store with a cell, an estimate, the leftover of a killed write, all last used ten days
    ago, and the rates."""
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    folder = store.default_folder()
    cells, sums = store.Store(folder), store.Sums(folder, "abcd")
    cells.put("ab12", {"w": torch.ones(100_000)}, {"loss": 0.5})
    sums.put(7, {"halves": np.ones((2, 3, 3))})
    (folder / "ab" / "x.part").write_bytes(b"half")
    for path in folder.rglob("*.*"):
        os.utime(path, (time.time() - 864_000,) * 2)
    (folder / "rates.json").write_text("{}")
    return cells, sums


def test_the_size_is_shown_and_what_was_not_used_lately_removed(kept, capsys):
    cells, sums = kept
    prune.main()
    assert capsys.readouterr().out.splitlines() == [
        "trained cells                    1 files        0.4 MB",
        "estimates of NADs                1 files        0.0 MB",
        "leftovers of killed writes       1 files        0.0 MB",
    ]
    prune.main(10.5)
    assert "removed 0 files" in capsys.readouterr().out
    assert cells.get("ab12") and sums.get(7)["halves"].shape == (2, 3, 3)
    prune.main(9)
    assert "removed 1 files, 0.0 MB, not used for 9 days" in capsys.readouterr().out
    assert cells.get("ab12") and sums.counts() == [7]
    prune.main(0)
    assert "removed 2 files, 0.4 MB, not used for 0 days" in capsys.readouterr().out
    assert cells.get("ab12") is None and sums.counts() == []
    assert (store.default_folder() / "rates.json").exists(), "what is no finished work stays"
