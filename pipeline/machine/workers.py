"""Many independent jobs: a process per core with one thread each, the GPU in this process, or Ray.

Each worker makes its context, the data, once, then does one job after another. Each has a pipe of
its own: if it dies, its job alone is done again. (`concurrent.futures.ProcessPoolExecutor` loses
the jobs of all workers then, and waits for ever if the dead one was sending.) The environment
variable NADS_EXECUTOR chooses who works: `local`, the default, or `ray`.
"""

import contextlib
import dataclasses
import importlib.util
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import resource_tracker
from typing import Any, Literal

import torch
from tqdm import tqdm

from pipeline.machine.worker import ENVIRONMENT, TRIES, answer, cores, died, recipe_of, result_of
from pipeline.project.errors import InputError, nearest

CONTEXT = multiprocessing.get_context("spawn")
"""How workers start: as new interpreters, which find in their environment what PyTorch and the C
library read when they are loaded."""


@dataclasses.dataclass(frozen=True)
class Machine:
    """Where work runs, and whether finished work is taken from the store; no result depends on
    it."""

    device: Literal["auto", "cpu", "cuda"]
    reuse: bool


def _ray() -> types.ModuleType | None:
    """`pipeline.machine.cluster`, where NADS_EXECUTOR asks for Ray."""
    executor = os.environ.get("NADS_EXECUTOR", "local")
    if executor == "local":
        return None
    if executor != "ray":
        raise InputError(f"NADS_EXECUTOR is {executor!r}; {nearest(executor, ('local', 'ray'))}")
    if importlib.util.find_spec("ray") is None:
        raise InputError(
            "NADS_EXECUTOR is ray, but Ray is not installed; "
            "`pip install -r requirements-cluster.txt` installs it"
        )
    from pipeline.machine import cluster  # only here, since importing Ray takes seconds

    return cluster


def device_of(choice: str) -> torch.device:
    """The torch device for params.yaml's `device`: 'auto' is CUDA where there is one, here or in
    Ray's cluster, else the CPU.

    From then on this process multiplies float32 as float32 on it, not as TF32, which rounds to
    three digits. Raises InputError if 'cuda' is asked for and there is none.
    """
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    cluster = _ray()
    if choice == "cpu":
        return torch.device("cpu")
    if cluster:
        available, finder = cluster.slots("cuda") > 0, "Ray finds no node with a GPU"
    else:
        available, finder = torch.cuda.is_available(), "PyTorch finds no CUDA device here"
    if choice == "cuda" and not available:
        raise InputError(f"device is cuda, but {finder}; set device: auto or cpu in params.yaml")
    return torch.device("cuda" if available else "cpu")


def place(device: torch.device) -> str:
    """Where the work runs, in a few words for a person."""
    if cluster := _ray():
        return f"{cluster.slots(device.type)} {'GPU' if device.type == 'cuda' else 'core'}s of Ray"
    return f"{cores()} cores" if device.type == "cpu" else torch.cuda.get_device_name()


def run(
    function: Callable[[Any, Any], Any],
    jobs: Iterable,
    make_context: Callable[[], Any],
    device: torch.device,
) -> Iterator[tuple[int, Any]]:
    """Yield (position, result) of `function(context, job)` for every job, in the order in which
    they finish.

    jobs: any iterable; it is asked for the next job only when a worker is free for it, so it may
    end the work early. `make_context` is called once per worker. On a CPU, and by Ray, the workers
    are processes, so `function`, the jobs and the results must pickle; on a GPU without Ray this
    process is the only one. An exception in one job is its result, and the others go on; a job at
    which `TRIES` workers died has an InputError for its result. Raises the exception that
    `make_context` raised.
    """
    if cluster := _ray():
        return cluster.run(function, jobs, make_context, device)
    return (run_here if device.type == "cuda" else _by_processes)(function, jobs, make_context)


def run_here(
    function: Callable[[Any, Any], Any], jobs: Iterable, make_context: Callable[[], Any]
) -> Iterator[tuple[int, Any]]:
    """Yield (position, result) of every job in their order, as `run` does, from this process: for
    what takes less than starting one."""
    context = make_context()
    for position, job in enumerate(jobs):
        try:
            result = function(context, job)
        except Exception as error:
            result = error
        yield position, result


_kept: dict | None = None


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Context in which worker processes outlive a `run` and wait for the next one."""
    global _kept
    _kept = {}
    try:
        yield
    finally:
        for process in _kept.values():
            process.kill()
        _kept = None


def _by_processes(function, jobs, make_context):
    recipe, tasks = recipe_of(function, make_context), ((n, job, 0) for n, job in enumerate(jobs))
    # By their connections: all processes, and (position, job, deaths at it) of those at work.
    processes, busy = {} if _kept is None else _kept, {}
    idle, again, results = list(processes), [], []
    # Ctrl-C never interrupts a thread other than the main one, so that no worker is half started.
    starter = ThreadPoolExecutor(1)
    try:
        while True:
            while len(busy) < cores() and (task := again.pop() if again else next(tasks, None)):
                connection = idle.pop() if idle else starter.submit(_start, processes).result()
                busy[connection] = task
                with contextlib.suppress(OSError):  # it has died, which is found below
                    connection.send((recipe, task[1]))
            # Only now, when each worker has its next job, are the results of the last handed out.
            yield from results
            if not busy:
                return
            results = []
            for connection in multiprocessing.connection.wait(list(busy)):
                position, job, deaths = busy.pop(connection)
                try:
                    answered = connection.recv_bytes()
                except (EOFError, OSError):
                    process = processes.pop(connection)
                    process.join()
                    how = f"ended with status {process.exitcode}"
                    if deaths + 1 < TRIES:
                        tqdm.write(f"notice: a worker {how}; its job is done again", sys.stderr)
                        again.append((position, job, deaths + 1))
                    else:
                        results.append((position, died(how)))
                else:
                    idle.append(connection)
                    results.append((position, result_of(answered)))
    finally:
        starter.shutdown()
        for connection in list(processes if _kept is None else busy):
            processes.pop(connection).kill()


def _start(processes):
    """Start a worker, note its process by the connection to it, and return that connection."""
    os.environ.update(ENVIRONMENT)
    connection, there = CONTEXT.Pipe()
    process = CONTEXT.Process(target=_serve, args=(there,), daemon=True)
    # Ctrl-C, which a terminal sends to all its processes, ends this one, and this one its workers:
    # they inherit that it is blocked. (The start of the tracker would unblock it.)
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    process.start()
    processes[connection] = process
    there.close()
    return connection


def _serve(connection):
    # Where the parent was killed, its worker finds the pipe closed when it has done its job.
    with contextlib.suppress(EOFError, OSError):
        while True:
            connection.send_bytes(answer(*connection.recv()))
