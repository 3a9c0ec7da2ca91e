"""How a stage ends before its time: by bad input, by a disk that refuses, or because it is told to stop. One sentence, no traceback."""

import atexit
import contextlib
import difflib
import errno
import gc
import os
import select
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from pipeline.project import unchanged

STOPS = (signal.SIGINT, signal.SIGTERM)
"""What tells a stage to stop: Ctrl-C, and what `kill` and schedulers send."""

GRACE = 1.0
"""Seconds in which a stage that is told to stop may leave by itself; one long call of a library would keep it for longer."""

FULL = (errno.ENOSPC, errno.EDQUOT)
CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS)


class InputError(Exception):
    """Something given from outside is wrong; the message says what and what to do, a sentence a line where there are several."""


class Stopped(BaseException):
    """The process was told to stop, by the signal `number`."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    def __str__(self) -> str:
        return (
            f"stopped by {signal.Signals(self.number).name}: finished networks, and the sums of NADs as they were last "
            "saved, are kept in .cells/, and `dvc repro` or the same command goes on from them"
        )


def nearest(name: object, known: Iterable[object]) -> str:
    """The end of a sentence that refuses a name: the known one that is nearest, or all."""
    known = [str(other) for other in known]
    near = difflib.get_close_matches(str(name), known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(known)}."


def refusal(error: OSError) -> str:
    """What the operating system refused, and what to do about it."""
    said = " ".join(str(error.strerror or error).split())
    # Where a file is copied or renamed, the second is the one that could not be made.
    file = error.filename2 or error.filename
    # NumPy tells a write that the disk cut short in words alone: "4096 requested and 512 written".
    short = error.errno is None and (" requested and " in said or shutil.disk_usage(os.getcwd()).free < 1e6)
    if error.errno in FULL or short:
        where = file or f"a file below {os.getcwd()}, or what this prints,"
        return f"the disk is full: {where} cannot be written ({said}); free space there and run it again: what was finished is kept"
    if error.errno in CLOSED:
        where = file or f"a file below {os.getcwd()}"
        return f"{where} cannot be used: {said}; give this user access to it and run it again"
    if error.errno in (errno.EEXIST, errno.ENOTDIR) and file:
        way = [*reversed(Path(file).parents), Path(file)]
        if odd := [path for path in way if os.path.lexists(path) and not path.is_dir()]:
            return f"{odd[0]} is no folder, and one must be there; move it away and run it again"
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return f"no more files can be opened ({said}); allow more, as `ulimit -n 1024` does, and run it again"
    if error.errno == errno.ENOENT and file:
        return f"{file} is missing; `dvc repro` runs all stages in order, so that each finds what it needs"
    return f"{file}: {said}" if file else said


def check_unchanged() -> None:
    """Raise InputError where a file is not any more as this process has read it."""
    if files := unchanged.changed():
        raise InputError(
            f"{os.path.relpath(files[0])} was changed while this ran, so that what it makes may be of either version; run it again: "
            "finished networks are kept"
        )


def _told(text: str) -> None:
    # Whoever started this process may have gone, and its terminal too.
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


def _leave(numbers: list[int]) -> None:
    """End the process here and now where it was told to stop: taking torch down alone takes a second or two."""
    if numbers:
        with contextlib.suppress(OSError, ValueError):
            print(end="", flush=True)
        os._exit(128 + numbers[0])


def _starters() -> tuple[int, ...]:
    """Numbers of the processes that started this one: its parent, and that one's where it is the shell that DVC puts between."""
    try:
        parent = psutil.Process(os.getppid())
        command = parent.cmdline()
        shell = command[:1] == [os.environ.get("SHELL") or "/bin/sh"] and "-c" in command
        return (parent.pid, parent.ppid()) if shell else (parent.pid,)
    except psutil.Error:
        return ()


def _watch(arrived: socket.socket) -> None:
    """End this process where a signal that has arrived is not heeded, and stop it when the `dvc` that started it has gone.

    Runs in a thread until the other end of `arrived` is closed.
    """
    due, starters = None, _starters() if "DVC_STAGE" in os.environ else None
    while True:
        if select.select([arrived], [], [], GRACE / 2 if due is None else GRACE)[0]:
            numbers = arrived.recv(64)
            if not numbers:
                return
            due = next((number for number in numbers if number in STOPS), due)
        elif due is not None:
            # Worker processes end with their parent.
            _told(str(Stopped(due)))
            os._exit(128 + due)
        elif starters is not None and _starters() != starters:
            starters = None
            os.kill(os.getpid(), signal.SIGTERM)


@contextlib.contextmanager
def _stopping() -> Iterator[None]:
    """Context in which SIGINT and SIGTERM raise `Stopped`; so does the end of DVC, where that has started this process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    stopped = []

    def stop(number, _):
        stopped.append(number)
        # The way out is not interrupted.
        for each in STOPS:
            signal.signal(each, signal.SIG_IGN)
        raise Stopped(number)

    # Of what is to be done at the end, what is registered from here on is done before.
    atexit.register(_leave, stopped)
    arrived, arriving = socket.socketpair()
    arriving.setblocking(False)
    # What whoever started this process has it ignore, as `nohup` and a shell's `&` do, stays ignored.
    handlers = {n: signal.signal(n, stop) for n in STOPS if signal.getsignal(n) is not signal.SIG_IGN}
    earlier = signal.set_wakeup_fd(arriving.fileno(), warn_on_full_buffer=False)
    watch = threading.Thread(target=_watch, args=(arrived,), daemon=True)
    watch.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(earlier)
        arriving.close()
        watch.join()
        arrived.close()
        if not stopped:
            atexit.unregister(_leave)
            for number, handler in handlers.items():
                signal.signal(number, handler)


@contextlib.contextmanager
def _printed() -> Iterator[None]:
    """Context at whose end all is written that was printed in it; raises the OSError that says why it is not."""
    # `print`, here and below, takes it that there may be no standard output at all.
    try:
        yield
    except SystemExit:  # after the help, say
        print(end="", flush=True)
        raise
    print(end="", flush=True)


def _hush() -> None:
    """Where what was printed cannot be written, let it go nowhere: Python would try again at its end, and speak of it."""
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def one_sentence() -> Iterator[None]:
    """Context of a stage: what ends it early is said on stderr in one sentence, and then the process ends.

    An `InputError`, or what the operating system refuses, ends it with exit status 1; SIGINT (Ctrl-C) with 130; SIGTERM, and
    the end of the `dvc` that started it, with 143. Where nobody reads any more what it prints, as `| head` does not, it ends
    without a word, with 141.
    """
    gc.enable()
    try:
        with _stopping(), _printed():
            yield
            check_unchanged()
    except BrokenPipeError:
        raise SystemExit(128 + signal.SIGPIPE) from None
    except InputError as error:
        sys.exit("\n".join(f"error: {sentence}" for sentence in str(error).split("\n")))
    except OSError as error:
        # The stage's outputs are removed by DVC; finished cells stay in the store.
        sys.exit(f"error: {refusal(error)}.")
    except MemoryError:
        sys.exit("error: there is not enough memory; free some, or ask for fewer samples: what was finished is kept.")
    except Stopped as stop:
        _told(str(stop))
        raise SystemExit(128 + stop.number) from None
    finally:
        _hush()
