"""What tests of several rooms share: one thread, as in the workers (more would fight over the cores), and params.yaml."""

import copy

import pytest
import torch
from structure import ROOT

from pipeline.settings import read

torch.set_num_threads(1)

SHIPPED = read(ROOT / "params.yaml")


def pytest_collection_modifyitems(config, items):
    """Shared by several processes, files of slow tests come first: else one process would end minutes after the others."""
    if hasattr(config, "workerinput"):
        slow = {
            item.path for item in items if "slow" in {mark.name for mark in item.getparent(pytest.Module).own_markers}
        }
        items.sort(key=lambda item: item.path not in slow)


@pytest.fixture
def shipped():
    """The document of the shipped params.yaml, a copy that a test may change."""
    return copy.deepcopy(SHIPPED)
