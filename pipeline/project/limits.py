"""The memory that this process may use."""

from pathlib import Path

import psutil

CONTAINER = Path("/sys/fs/cgroup/memory.max")
"""The file with a container's memory limit in bytes, or 'max' (Linux, control groups
version 2)."""


def free_memory() -> int:
    """Return the bytes that this process may still allocate, on this machine and in a
    container."""
    free = psutil.virtual_memory().available
    limit = CONTAINER.read_text().strip() if CONTAINER.exists() else "max"
    if limit != "max":
        free = min(free, int(limit) - psutil.Process().memory_info().rss)
    return free
