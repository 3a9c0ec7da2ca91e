"""The cores and the memory that this process may use: the machine's, or what its container and its
scheduler leave it of them (control groups of Linux, version 1 or 2)."""

import math
import os
from pathlib import Path

import psutil

GROUPS, MEMBERSHIP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def cores() -> int:
    """Processors that this process may use, by its affinity mask and by the quotas of its groups;
    of a part of a processor one more."""
    most = [len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()]
    for group in _groups("cpu"):
        period = _numbers(group / "cpu.cfs_period_us")
        match _numbers(group / "cpu.max") or _numbers(group / "cpu.cfs_quota_us") + period:
            case [quota, period] if quota > 0:
                most.append(math.ceil(quota / period))
    return min(most)


def free_memory() -> int:
    """Bytes that this process may still allocate; what files are cached in counts as free."""
    free = [psutil.virtual_memory().available]
    for group in _groups("memory"):
        limit = _numbers(group / "memory.max") or _numbers(group / "memory.limit_in_bytes")
        used = _numbers(group / "memory.current") or _numbers(group / "memory.usage_in_bytes")
        if limit and used:
            stat = dict(map(str.split, (group / "memory.stat").read_text().splitlines()))
            kinds = ("active_file", "inactive_file")
            cache = sum(int(stat.get(f"total_{kind}") or stat.get(kind, 0)) for kind in kinds)
            free.append(limit[0] - used[0] + cache)
    return max(0, min(free))


def _groups(controller: str) -> list[Path]:
    """The folders of this process's group of a controller and of the groups around it, some of
    which a container does not show."""
    folders = []
    for line in MEMBERSHIP.read_text().splitlines() if MEMBERSHIP.exists() else ():
        _, controllers, path = line.split(":", 2)
        if not controllers or controller in controllers.split(","):
            root = GROUPS / controller if controllers else GROUPS
            group = root / path.lstrip("/")
            folders += [each for each in (group, *group.parents) if each.is_relative_to(root)]
    return folders


def _numbers(file: Path) -> list[int]:
    """The numbers in a group's file: none where it is not there, or sets no limit."""
    text = file.read_text() if file.exists() else "max"
    return [] if "max" in text else [int(word) for word in text.split()]
