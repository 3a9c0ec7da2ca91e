"""The cores and the memory of a container, by the files of control groups."""

import psutil
import pytest
from small_images import write

from pipeline.machine import workers
from pipeline.project import limits

GB = 10**9
TWO = "0::/system.slice/job\n"
ONE = "5:cpu,cpuacct:/docker/1f\n4:memory:/docker/1f\n3:cpuset:/\n0::/\n"
STAT = "anon 5\ninactive_file 600000000\nactive_file 400000000\n"
HIERARCHY = "inactive_file 0\nactive_file 0\ntotal_inactive_file 6\ntotal_active_file 999999994\n"
FREE = {"memory.max": "4000000000", "memory.current": "3000000000", "memory.stat": STAT}
OLD = {"memory.limit_in_bytes": "4000000000", "memory.usage_in_bytes": "3000000000"}
UNLIMITED = {"memory/memory.limit_in_bytes": "9223372036854771712"}


def below(folder, files):
    """The files of a folder, by their paths."""
    return {f"{folder}/{name}": text for name, text in files.items()}


@pytest.mark.parametrize(
    ("membership", "files", "cores", "memory"),
    [
        (None, {}, 64, 256 * GB),
        (TWO, {"cpu.max": "max 100000", "memory.max": "max", "memory.current": "5"}, 64, 256 * GB),
        ("0::/\n", {"cpu.max": "200000 100000"} | FREE, 2, 2 * GB),
        (TWO, {"system.slice/job/cpu.max": "150000 100000"}, 2, 256 * GB),
        (TWO, below("system.slice", {"cpu.max": "10000 100000"} | FREE), 1, 2 * GB),
        (TWO, {"system.slice/cpu.max": "900000 100000", "cpu.max": "max 100000"}, 9, 256 * GB),
        # A container shows its own group in the place of the root.
        (ONE, below("cpu", {"cpu.cfs_quota_us": "250000", "cpu.cfs_period_us": "100000"}), 3, None),
        (ONE, below("cpu", {"cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000"}), 64, None),
        (ONE, below("memory/docker/1f", OLD | {"memory.stat": HIERARCHY}) | UNLIMITED, 64, 2 * GB),
    ],
)
def test_a_container_has_the_cores_and_the_memory_of_its_groups(
    tmp_path, monkeypatch, membership, files, cores, memory
):
    if membership is not None:
        write(tmp_path, {"self": membership.encode()})
    write(tmp_path / "groups", {name: text.encode() for name, text in files.items()})
    monkeypatch.setattr(limits, "MEMBERSHIP", tmp_path / "self")
    monkeypatch.setattr(limits, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(limits.os, "sched_getaffinity", lambda process: range(64))
    machine = psutil.virtual_memory()._replace(available=256 * GB)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: machine)
    assert limits.cores() == cores == workers.slots(workers.torch.device("cpu"))
    assert limits.free_memory() == (memory or 256 * GB)
