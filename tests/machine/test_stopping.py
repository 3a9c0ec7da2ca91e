"""Runs that end before their time: their workers end with them, and what was finished
is kept."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time

import psutil
import pytest
from structure import ROOT

pytestmark = pytest.mark.slow

PROGRAM = """
    import pathlib, signal, time, torch
    from pipeline.machine import workers
    from pipeline.project.errors import one_sentence

    def wait(_, job):
        pathlib.Path("begun").touch()
        time.sleep(600)

    if __name__ == "__main__":
        # Whoever runs these tests may have them ignore it, as a shell's `&` does.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with one_sentence():
            list(workers.run(wait, range(2), dict, torch.device("cpu")))
"""


def start(folder):
    """The program at work in a folder, in a group of its own as in a terminal."""
    (folder / "program.py").write_text(textwrap.dedent(PROGRAM))
    return subprocess.Popen(
        [sys.executable, "program.py"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def starting(process, _):
    """Whether one of the process's workers is there."""
    for child in psutil.Process(process.pid).children():
        with contextlib.suppress(
            psutil.NoSuchProcess
        ):  # another child, which has just ended
            if "popen_loky_posix" in " ".join(child.cmdline()):
                return True
    return False


def working(_, folder):
    """Whether a worker does its job."""
    return (folder / "begun").exists()


@pytest.mark.parametrize(
    ("number", "send", "reached"),
    [
        (signal.SIGINT, os.killpg, working),
        (signal.SIGTERM, os.kill, working),
        (signal.SIGINT, os.killpg, starting),
    ],
)
def test_a_run_that_is_told_to_stop_ends_with_its_workers_and_one_line(
    number, send, reached, tmp_path
):
    process = start(tmp_path)
    while not reached(process, tmp_path):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    family = psutil.Process(process.pid).children(recursive=True)
    send(process.pid, number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.startswith("stopped") and said.count("\n") == 1, said
    assert not psutil.wait_procs(family, 20)[1]


def test_workers_end_with_a_run_that_is_killed(tmp_path):
    process = start(tmp_path)
    while not working(process, tmp_path):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    family = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate(timeout=60)
    assert not psutil.wait_procs(family, 20)[1]
