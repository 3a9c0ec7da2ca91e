"""How a stage ends before its time: told to stop, left alone by DVC, or refused by the operating system. One sentence each time."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
import torch
from structure import ROOT

from pipeline.machine import store
from pipeline.project.errors import InputError, one_sentence

KEPT = (
    "finished networks, and the sums of NADs as they were last saved, are kept in .cells/, and `dvc repro` or the same"
)
WORKERS = """
    import pathlib, signal, time, torch
    from pipeline.machine import workers
    from pipeline.project.errors import one_sentence

    def wait(_, path):
        pathlib.Path(path).touch()
        time.sleep(600)

    if __name__ == "__main__":
        # Whoever runs these tests may have them ignore it, as a shell's `&` does.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with one_sentence():
            for _ in workers.run(wait, ["first", "second"], dict, torch.device("cpu")):
                pass
"""
LONG_CALL = """
    import ctypes, pathlib, signal
    from pipeline.project.errors import one_sentence

    library, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(256)
    library.pthread_mutex_init(mutex, None)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with one_sentence():
        library.pthread_mutex_lock(mutex)
        pathlib.Path("first").touch()
        library.pthread_mutex_lock(mutex)  # waits for ever, and no signal interrupts it
"""


def started(folder, program, *before, **environment):
    """A program that runs in `folder`, once it has touched the file `first` there; its stderr goes to the file `err`."""
    (folder / "program.py").write_text(textwrap.dedent(program))
    environment = {name: value for name, value in os.environ.items() if name != "DVC_STAGE"} | environment
    with (folder / "err").open("w") as err:
        process = subprocess.Popen(
            [*(before or (sys.executable, "program.py"))],
            cwd=folder,
            env=environment | {"PYTHONPATH": str(ROOT)},
            stderr=err,
            start_new_session=True,
        )
    while not (folder / "first").exists():
        assert process.poll() is None, (folder / "err").read_text()
        time.sleep(0.02)
    return process


def gone(processes):
    """Wait until none of the processes is left."""
    while any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in processes):
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("to_all", [True, False], ids=["group", "alone"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stage_that_is_told_to_stop_ends_with_its_workers_and_one_line(number, to_all, tmp_path):
    process = started(tmp_path, WORKERS)
    family = psutil.Process(process.pid).children(recursive=True)
    (os.killpg if to_all else os.kill)(process.pid, number)
    assert process.wait(60) == 128 + number
    (line,) = (tmp_path / "err").read_text().splitlines()
    assert line.startswith(f"stopped by {number.name}: {KEPT}")
    gone(family)


@pytest.mark.slow
def test_a_long_call_of_a_library_does_not_keep_it(tmp_path):
    process = started(tmp_path, LONG_CALL)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert (tmp_path / "err").read_text().startswith("stopped by SIGINT: ")


@pytest.mark.slow
@pytest.mark.parametrize("shell", [(), ("/bin/sh", "-c")], ids=["itself", "through a shell"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_stage_ends_with_the_dvc_that_started_it(number, shell, tmp_path):
    command = [*shell, f"{sys.executable} program.py; true"] if shell else [sys.executable, "program.py"]
    dvc = sys.executable, "-c", f"import subprocess; subprocess.run({command})"
    process = started(tmp_path, WORKERS, *dvc, DVC_STAGE="train", SHELL="/bin/sh")
    family = psutil.Process(process.pid).children(recursive=True)
    assert len(family) >= 2
    process.send_signal(number)
    process.wait()
    gone(family)
    (line,) = (tmp_path / "err").read_text().splitlines()
    assert line.startswith("stopped by SIGTERM: ")


def test_what_is_ignored_stays_ignored_and_handlers_come_back():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with one_sentence():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) not in (signal.SIG_DFL, signal.SIG_IGN)
        assert signal.getsignal(signal.SIGTERM) == before[1]
        assert signal.set_wakeup_fd(-1) == -1
    finally:
        signal.signal(signal.SIGINT, before[0])


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (InputError("it is wrong"), "it is wrong"),
        (
            OSError(errno.ENOSPC, "No space left on device", "models/a"),
            "the disk is full: models/a cannot be written (No space left on device); free space there and run it again: "
            "what was finished is kept.",
        ),
        (
            OSError(errno.EDQUOT, "Quota exceeded", "from", None, "to"),
            "the disk is full: to cannot be written (Quota exceeded); free space there and run it again: "
            "what was finished is kept.",
        ),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "the disk is full: a file below {here}, or what this prints, cannot be written (No space left on device); free space there and run "
            "it again: what was finished is kept.",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "data/x"),
            "data/x cannot be used: Permission denied; give this user access to it and run it again.",
        ),
        (
            OSError(errno.EROFS, "Read-only file system", "data/x"),
            "data/x cannot be used: Read-only file system; give this user access to it and run it again.",
        ),
        (
            FileNotFoundError(errno.ENOENT, "No such file or directory", "data/y"),
            "data/y is missing; `dvc repro` runs all stages in order, so that each finds what it needs.",
        ),
        (
            OSError(errno.EMFILE, "Too many open files", "data/z"),
            "no more files can be opened (Too many open files); allow more, as `ulimit -n 1024` does, and run it again.",
        ),
        (
            MemoryError(),
            "there is not enough memory; free some, or ask for fewer samples: what was finished is kept.",
        ),
        (IsADirectoryError(errno.EISDIR, "Is a directory", "data"), "data: Is a directory."),
        (OSError("the other\n  end hung up"), "the other end hung up."),
    ],
)
def test_what_is_refused_is_one_sentence_that_fits_it(error, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught, one_sentence():
        raise error
    assert caught.value.code == f"error: {sentence.format(here=tmp_path)}"


def test_numpy_names_no_reason_where_the_disk_is_full(monkeypatch):
    """`np.save` raises "262144 requested and 130944 written" without a number."""
    usage = shutil.disk_usage(".")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=0))
    with pytest.raises(SystemExit, match="^error: the disk is full: a file below "), one_sentence():
        raise OSError("262144 requested and 130944 written")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_store_on_a_full_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted: {mounted.stderr.decode().strip()}")
    try:
        cells, sums = store.Store(disk), store.Sums(disk, "key")
        cells.put("ab12", {"w": torch.ones(1000)}, {"loss": 0.5})
        for put, name in (
            (lambda: cells.put("cd34", {"w": torch.ones(100_000)}, {"loss": 0.5}), "cd/cd34"),
            (lambda: sums.put(7, {"halves": np.ones(50_000)}), "nads/key/0000007"),
        ):
            with pytest.raises(SystemExit) as caught, one_sentence():
                put()
            assert caught.value.code == (
                f"error: the disk is full: {disk}/{name}.safetensors cannot be written (No space left on device); free "
                "space there and run it again: what was finished is kept."
            )
        assert cells.get("ab12") == {"loss": 0.5} and sums.counts() == []
        assert [path.name for path in Path(disk).rglob("*") if path.is_file()] == ["ab12.safetensors"]
    finally:
        subprocess.run(["umount", disk], check=True)
