"""What tests of several rooms share: one thread, as in the workers (more would fight
over the cores), one seed, params.yaml, pictures, and a folder to run stages in."""

import copy
import linecache
import os
import sys

import numpy as np
import pytest
import threadpoolctl
import torch
from joblib.externals import loky
from structure import ROOT

from pipeline.config import read
from pipeline.machine import workers
from pipeline.project.errors import WATCHED

torch.set_num_threads(1)
os.environ["CUDA_VISIBLE_DEVICES"] = (
    ""  # a GPU's sums come in no order, and tests compare bytes
)

SHIPPED = read(ROOT / "params.yaml")


def pytest_collection_modifyitems(config, items):
    """Shared by several processes, files of slow tests come first: else one process
    would end minutes after the others."""
    if hasattr(config, "workerinput"):
        slow = {
            item.path
            for item in items
            if item.getparent(pytest.Module).get_closest_marker("slow")
        }
        items.sort(key=lambda item: item.path not in slow)


@pytest.fixture
def shipped():
    """The document of the shipped params.yaml, a copy that a test may change."""
    return copy.deepcopy(SHIPPED)


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    """NumPy's own threads would fight over the cores, with those of other processes
    too."""
    with threadpoolctl.threadpool_limits(1):
        yield


@pytest.fixture(autouse=True)
def _own_workers():
    """A test's workers end with it: those of another work in another folder."""
    yield
    loky.get_reusable_executor(kill_workers=True).shutdown()


@pytest.fixture(autouse=True)
def _own_files():
    """A test's files of one's own are not those of another."""
    yield
    WATCHED.clear()


@pytest.fixture(autouse=True)
def _seeded():
    """A test's networks are the same in every run."""
    torch.manual_seed(0)


@pytest.fixture
def images():
    """Sixty training and twenty test pictures of four classes, at random, as
    `pipeline.project.artifacts.read_images` gives them."""
    rng = np.random.default_rng(0)
    found = {
        "classes": list("abcd"),
        "mean": [0.5, 0.4, 0.3],
        "deviation": [0.2, 0.25, 0.3],
    }
    for split, count in (("train", 60), ("test", 20)):
        pictures = rng.integers(0, 256, (count, 3, 32, 32))
        found[f"{split}_images"] = pictures.astype(np.uint8)
        found[f"{split}_labels"] = rng.permutation(np.arange(count, dtype=np.int32) % 4)
    return found


@pytest.fixture
def normalised(images):
    """From uint8 pictures (N, 3, 32, 32) to the same in [0, 1], less their mean and
    divided by their deviation, float64."""
    mean, deviation = (
        np.reshape(images[key], (1, 3, 1, 1)) for key in ("mean", "deviation")
    )
    return lambda pictures: (pictures / 255 - mean) / deviation


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder in which the stages run, with a store of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    return tmp_path


@pytest.fixture
def repository(tmp_path, monkeypatch, request):
    """An empty repository as the current folder, with own/ in it, whose modules each
    test imports anew."""
    root = tmp_path / "repository"
    (root / "own").mkdir(parents=True)
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "path", list(sys.path))
    loaded = set(sys.modules)
    # PyTorch reads the source of all that is being called when it sets a seed, this
    # test's as well.
    linecache.getlines(str(request.path))
    yield root
    for name in set(sys.modules) - loaded:
        if str(tmp_path) in str(vars(sys.modules[name]).get("__spec__")):
            del sys.modules[name]


@pytest.fixture
def in_this_process(monkeypatch):
    """The work of the grid is done in this process."""
    monkeypatch.setattr(workers, "run", lambda *given: workers.run_here(*given[:3]))
