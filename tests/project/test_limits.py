"""The cores and the memory that a process may use."""

import os
import subprocess
import sys

import psutil
import pytest
from structure import ROOT

from pipeline.project import limits

PROGRAM = """
import os, torch
from pipeline.machine import workers

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
print(workers.count_slots(torch.device("cpu")))
"""


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system has no affinity"
)
def test_a_process_that_may_use_one_core_has_one_worker():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "1\n"


@pytest.mark.parametrize(
    ("limit", "free"), [(None, 4), ("max\n", 4), ("3000000000\n", 2)]
)
def test_the_memory_of_a_container_has_a_limit(limit, free, tmp_path, monkeypatch):
    """The machine has 4 GB free, and this process uses 1 GB."""
    if limit is not None:
        (tmp_path / "memory.max").write_text(limit)
    machine = psutil.virtual_memory()._replace(available=4 * 10**9)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: machine)
    used = psutil.Process().memory_info()._replace(rss=10**9)
    monkeypatch.setattr(psutil.Process, "memory_info", lambda process: used)
    monkeypatch.setattr(limits, "CONTAINER", tmp_path / "memory.max")
    assert limits.free_memory() == free * 10**9
