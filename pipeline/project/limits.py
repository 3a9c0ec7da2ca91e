"""The memory that this process may use."""

from pathlib import Path

import psutil

CONTAINER = Path("/sys/fs/cgroup/memory.max")
"""The file with a container's memory limit in bytes, or 'max' (Linux, control groups
version 2)."""


def free_memory() -> int:
    """Return the bytes that this process may still allocate.

    The limit is that of the machine, or that of the container if it is lower.
    """
    free = psutil.virtual_memory().available
    if not CONTAINER.exists():
        return free
    limit = CONTAINER.read_text().strip()
    if limit == "max":
        return free
    return min(free, int(limit) - psutil.Process().memory_info().rss)
