"""Worker processes of this machine: each makes its context once and does one job after another; a dead one is replaced.

A thread of the parent tends each process and gives it one job at a time. So the job that was in progress in a process that died is
known for certain: it alone is done again, and nothing else is lost.
"""

import atexit
import contextlib
import multiprocessing
import multiprocessing.connection
import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

import torch
from tqdm import tqdm

from pipeline.machine import forkserver
from pipeline.project import unchanged
from pipeline.project.errors import InputError, check_unchanged

TRIES = 3
"""Processes that may die at one job, or at making their context, before it is given up."""

PATIENCE = 0.5
"""Seconds between a death and its consequences: where everything is being ended, a worker may go before its parent does."""

CONTEXT = multiprocessing.get_context(forkserver.METHOD)


class WorkerDied(InputError):
    """A job at which one worker process after another died."""


def died(what: str, last: object) -> WorkerDied:
    """The result of a job at which `TRIES` of `what` died; last: what became of the last, as text."""
    return WorkerDied(
        f"{TRIES} {what} died at it, one after another (the last {last}); what was finished is kept, so run it again once the "
        "cause is gone, most often a want of memory"
    )


def notice_of_death(how: str) -> None:
    """Say that a worker died, and what follows."""
    tqdm.write(f"notice: {how}; what it did is tried {TRIES} times", file=sys.stderr)


class _Death(Exception):
    """A worker process died; the text says how."""


class _Over(Exception):
    """The work is over, finished or not."""


# In a worker process.


def _leave_with_parent() -> None:
    # A killed parent cannot tell its workers to stop: they would wait for work, and keep their memory, for ever.
    multiprocessing.parent_process().join()
    os._exit(1)


def portable(error: BaseException) -> Exception:
    """An exception as one that travels to the parent, with where it was raised as a note unless it is the user's affair."""
    note = "In a worker process:\n" + "".join(traceback.format_exception(error))
    try:
        # Some can be pickled and not be made again from that.
        travels = isinstance(error, Exception) and pickle.loads(pickle.dumps(error)) is not None
    except Exception:
        travels = False
    error = error if travels else RuntimeError(f"{type(error).__name__}: {error}")
    if not isinstance(error, InputError):
        error.add_note(note)
    return error


def _not_handed_over(error: Exception) -> InputError:
    return InputError(
        f"worker processes cannot import what they are to do ({type(error).__name__}: {error}); start a stage as "
        "`python -m pipeline.STAGE`, not through another program"
    )


def _context(task: bytes) -> tuple[Callable, Any]:
    """The function of the jobs and the context that it is given, from both pickled together."""
    try:
        function, make_context = pickle.loads(task)
    except Exception as error:
        raise _not_handed_over(error) from None
    return function, make_context()


def _outcome(function: Callable, context: Any, job: bytes) -> bytes:
    """What `function` makes of a job, or the exception that it or the job's way here and back raised, pickled."""
    try:
        return pickle.dumps(function(context, pickle.loads(job)))
    except BaseException as error:
        return pickle.dumps(portable(error))


def _serve(
    connection: multiprocessing.connection.Connection,
    task: bytes,
    read: dict[str, str] | None,
    environment: dict[str, str],
) -> None:
    """The life of a worker process: sends None when its context is made, or why not, then an outcome for each job.

    read: what the parent has read of its code (`pipeline.project.unchanged`), by which the jobs' results are kept; environment: the
    parent's, since that of the process copied is as old as it is.
    """
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    os.environ.clear()
    os.environ.update(environment | forkserver.WORKER)
    torch.set_num_threads(1)
    try:
        function, context = _context(task)
        if read is not None:
            unchanged.begin(read)
            check_unchanged()
    except BaseException as error:
        connection.send_bytes(pickle.dumps(portable(error)))
        return
    with contextlib.suppress(EOFError, OSError):  # the parent has gone
        connection.send_bytes(pickle.dumps(None))
        while True:
            connection.send_bytes(_outcome(function, context, connection.recv_bytes()))


# In the parent.


class _Worker:
    """A worker process and those that take its place, seen from the thread that tends it.

    task: the pickled function and recipe of the context; stop: a connection that can be read when the work is over.
    """

    starting = threading.Lock()
    """Processes are started and waited for one at a time: multiprocessing looks after all children at each start."""

    def __init__(self, task: bytes, stop: multiprocessing.connection.Connection) -> None:
        self.task, self.stop, self.process, self.connection = task, stop, None, None

    def do(self, job: Any) -> Any:
        """The result of a job, or the exception that is its result."""
        try:
            message = pickle.dumps(job)
        except Exception as error:
            return error
        for _ in range(TRIES):
            if self.process is None or not self.process.is_alive():
                self._start()
            try:
                with contextlib.suppress(OSError):  # it has died since, and the answer says so
                    self.connection.send_bytes(message)
                answer = self._answer()
            except _Death as death:
                last = death
                continue
            try:
                return pickle.loads(answer)
            except Exception as error:
                return error
        return died("worker processes", last)

    def _start(self) -> None:
        """Start a process in place of the last and wait until it has made its context; raises the exception that this raised,
        or InputError if processes die at it.
        """
        for _ in range(TRIES):
            self.end()
            self.connection, there = CONTEXT.Pipe()
            with self.starting:
                forkserver.start()  # again, if it has died
                # Only here: elsewhere another thread may be changing the environment in `start`.
                given = there, self.task, unchanged.read(), dict(os.environ)
                self.process = CONTEXT.Process(target=_serve, args=given, daemon=True)
                # Ctrl-C ends this process, and with it its workers (`forkserver.start`).
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
                self.process.start()
            there.close()
            try:
                problem = pickle.loads(self._answer())
            except _Death as death:
                last = death
                continue
            if problem is not None:
                raise problem
            return
        raise InputError(
            f"{TRIES} worker processes died while they made their data, one after another (the last {last}); free memory "
            "and run it again: what was finished is kept"
        )

    def _answer(self) -> bytes:
        """The next message of the process; raises _Death if it dies first, and _Over if the work ends first."""
        ready = multiprocessing.connection.wait([self.connection, self.process.sentinel, self.stop])
        if self.stop in ready:
            raise _Over
        if self.connection in ready:
            with contextlib.suppress(EOFError, OSError):
                return self.connection.recv_bytes()
        if multiprocessing.connection.wait([self.stop], PATIENCE):
            raise _Over
        process = self.process
        self.end()
        code = process.exitcode
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
        notice_of_death(f"a worker process {how}")
        raise _Death(how)

    def end(self) -> None:
        """Let there be no process, whatever it is doing."""
        if self.process is not None and self.process.pid is not None:  # it has none where it could not be started
            with self.starting:
                self.process.kill()
                self.process.join()
            self.connection.close()
        self.process = None


def _tend(task, stop, jobs, results):
    """The life of a thread that tends a worker."""
    worker = _Worker(task, stop)
    try:
        while (numbered := jobs.get()) is not None:
            position, job = numbered
            results.put((position, worker.do(job)))
    except _Over:
        pass
    except BaseException as error:
        results.put((None, error))
    finally:
        worker.end()


class Crew:
    """Up to `size` worker processes, started as they are needed; as a context manager, they end with it at once.

    Each does `function(make_context(), job)` for one job after another, making its context once.
    """

    def __init__(self, function: Callable[[Any, Any], Any], make_context: Callable[[], Any], size: int) -> None:
        try:
            self.task = pickle.dumps((function, make_context))
        except Exception as error:
            raise _not_handed_over(error) from None
        self.size, self.threads = size, []
        self.jobs, self.results = queue.SimpleQueue(), queue.SimpleQueue()
        self.stopped, self.stop = CONTEXT.Pipe(duplex=False)

    def put(self, position: int, job: Any) -> None:
        """Have a job done; `position` tells its result from the others'."""
        self.jobs.put((position, job))
        if len(self.threads) < self.size:
            arguments = self.task, self.stopped, self.jobs, self.results
            self.threads.append(threading.Thread(target=_tend, args=arguments, daemon=True))
            self.threads[-1].start()

    def get(self) -> tuple[int, Any]:
        """(position, result) of a job that was put in, as soon as one is done; an exception that the job raised is its result.

        Raises the exception that making a context raised, or InputError if the workers cannot do anything.
        """
        position, result = self.results.get()
        if position is None:
            raise result
        return position, result

    def __enter__(self) -> "Crew":
        # Where an exception ends the program while it holds the generator of the results, nobody leaves this context.
        atexit.register(self.end)
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        atexit.unregister(self.end)

    def end(self) -> None:
        """End every process, whatever it is doing."""
        self.stop.close()
        for _ in self.threads:
            self.jobs.put(None)
        for thread in self.threads:
            thread.join()
