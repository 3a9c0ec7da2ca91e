"""The worker processes of the process that runs the tests."""

import multiprocessing

import psutil


def worker_processes():
    """Those that there are."""
    return [psutil.Process(child.pid) for child in multiprocessing.active_children()]
