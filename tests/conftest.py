"""What tests of several rooms share: one thread, as in the workers (more would fight over the cores), and params.yaml."""

import copy

import pytest
import torch
from structure import ROOT

from pipeline.settings import read

torch.set_num_threads(1)

SHIPPED = read(ROOT / "params.yaml")


@pytest.fixture
def shipped():
    """The document of the shipped params.yaml, a copy that a test may change."""
    return copy.deepcopy(SHIPPED)
