"""A folder with networks of one's own, whose modules each test imports anew."""

import linecache
import sys

import pytest


@pytest.fixture
def repository(tmp_path, monkeypatch, request):
    """An empty repository as the current folder, with own/ in it."""
    root = tmp_path / "repository"
    (root / "own").mkdir(parents=True)
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "path", list(sys.path))
    loaded = set(sys.modules)
    # PyTorch reads the source of all that is being called when it sets a seed, this test's as well.
    linecache.getlines(str(request.path))
    yield root
    for name in set(sys.modules) - loaded:
        if str(tmp_path) in str(vars(sys.modules[name]).get("__spec__")):
            del sys.modules[name]
