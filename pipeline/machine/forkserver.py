"""The process of which workers are copies: it imports PyTorch once for all of them, in a stage while the stage itself does."""

import multiprocessing.resource_tracker
import os
import platform
import signal
import sys
from multiprocessing import forkserver

METHOD = "forkserver" if sys.platform == "linux" else "spawn"
"""How worker processes start, as `multiprocessing` calls it; elsewhere than on Linux a system's libraries may not bear being copied."""

WORKING = {"pipeline.estimate", "pipeline.train", "pipeline.evaluate"}
"""Modules that, run as a stage, have workers."""

IMPORTED = ["numpy", "pandas", "torch", "tqdm"]
"""What takes most of a worker's imports. This package's own modules each worker imports itself, after the stage has."""

WORKER = {"OMP_NUM_THREADS": "1"}
"""What the environment of a process that works on a CPU says: one thread, and how memory is had and kept."""

KEPT = 2**30
"""Bytes up to which what a worker gives back stays its own until it ends."""

LIBRARY, VERSION = platform.libc_ver()
"""The C library's name and version, empty where there is none that can be told."""

if LIBRARY == "glibc" and tuple(map(int, VERSION.split(".")[:2])) >= (2, 35):
    # A training step takes and gives back so much memory that single pages take up to a tenth of its time, and pages that are taken
    # anew some per cent of it (`python -m benchmarks.allocation`). Earlier versions have no huge pages, and of the two thresholds
    # they would take the second alone, with which every large piece of memory is taken anew.
    WORKER["GLIBC_TUNABLES"] = (
        f"glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold={KEPT}:glibc.malloc.trim_threshold={KEPT}"
    )


def start() -> None:
    """Have it run, with the environment of a worker; it ends with this process. Where workers are no copies, this process gets that
    environment, which they inherit.
    """
    # The start of the tracker, which each of them needs, unblocks what was blocked.
    multiprocessing.resource_tracker.ensure_running()
    if METHOD == "spawn":
        os.environ.update(WORKER)
        return
    before = {name: os.environ.get(name) for name in WORKER}
    os.environ.update(WORKER)
    # Ctrl-C goes to every process of a terminal; what it ends is the stage, which ends its workers. A process inherits what is blocked.
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.set_forkserver_preload(IMPORTED)
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
