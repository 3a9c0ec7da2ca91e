"""The worker processes of the process that runs the tests."""

import psutil


def worker_processes():
    """Those that there are, copies of a process that this one has started for that."""
    servers = [child for child in psutil.Process().children() if "forkserver" in " ".join(child.cmdline())]
    return [worker for server in servers for worker in server.children()]
