"""Many independent jobs: by one process per core, by this process on an accelerator, or by Ray.

Each worker makes its context, the data, once in a run and then does one job after another. Each has
a pipe of its own, so that only the job of a worker that dies is done again. (After a death,
`concurrent.futures.ProcessPoolExecutor` loses the jobs of all workers, or waits for ever.) The
environment variable NADS_EXECUTOR is `local`, the default, or `ray`.
"""

import contextlib
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
from typing import Any

import torch
from tqdm import tqdm

from pipeline.machine.worker import ENVIRONMENT, TRIES, answer, died, recipe_of, result_of
from pipeline.project.errors import InputError, nearest
from pipeline.project.limits import cores

CONTEXT = multiprocessing.get_context("spawn")
"""Workers are new interpreters: PyTorch and the C library read the environment when loaded."""


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
    """The torch device for params.yaml's `device`: 'auto' is CUDA where this machine or Ray's
    cluster has a GPU, else the CPU.

    Turns off TF32, which rounds the factors of float32 products to three digits. Raises InputError
    for an accelerator that is not there.
    """
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    if cluster := _ray():
        found = "cuda" if cluster.slots("cuda") else "cpu"
    else:
        found = str(torch.accelerator.current_accelerator(check_available=True) or "cpu")
    if choice == "auto":  # Apple's and Intel's, which were never tried, are taken by name alone
        choice = "cuda" if found == "cuda" else "cpu"
    if choice not in ("cpu", found):
        finder = "Ray" if cluster else "PyTorch"
        raise InputError(f"device is {choice}, but {finder} finds none; set device: auto or cpu")
    return torch.device(choice)


def slots(device: torch.device) -> int:
    """The number of jobs done at once: on each core or accelerator one, with Ray on all nodes."""
    if cluster := _ray():
        return cluster.slots(device.type)
    return cores() if device.type == "cpu" else 1


def place(device: torch.device) -> str:
    """The cores or the accelerator on which work runs, in words."""
    if device.type == "cuda" and not _ray():
        return torch.cuda.get_device_name()
    number, kind = slots(device), {"cpu": "core", "cuda": "GPU"}.get(device.type, device.type)
    return f"{number} {kind}{'s' * (number != 1)}{' of Ray' if _ray() else ''}"


def run(
    function: Callable[[Any, Any], Any],
    jobs: Iterable,
    make_context: Callable[[], Any],
    device: torch.device,
) -> Iterator[tuple[Any, Any]]:
    """Yield every job with its result, `function(context, job)`, as jobs finish.

    jobs: an iterable that is asked for the next job only when a worker is free, so that it may end
    the work early. make_context: called once per worker. On a CPU, and with Ray, `function`, jobs
    and results are pickled. A job that raises an exception has it for its result, and one at which
    `TRIES` workers died has an InputError. Raises the exception that `make_context` raised.
    """
    if cluster := _ray():
        return cluster.run(function, jobs, make_context, device)
    return (_by_processes if device.type == "cpu" else run_here)(function, jobs, make_context)


def run_here(
    function: Callable[[Any, Any], Any], jobs: Iterable, make_context: Callable[[], Any]
) -> Iterator[tuple[Any, Any]]:
    """Yield every job with its result, in order, from this process.

    For an accelerator, and for work that takes less time than the start of a process.
    """
    context = make_context()
    for job in jobs:
        try:
            result = function(context, job)
        except Exception as error:
            result = error
        yield job, result


_waiting: dict = {}
"""Workers that wait for the next run, until this process ends: processes by their connections."""


def _by_processes(function, jobs, make_context):
    recipe, tasks = recipe_of(function, make_context), ((job, 0) for job in jobs)
    # By connections: (process, job, deaths at this job) of the workers that are busy.
    busy, again, most = {}, [], cores()
    # Ctrl-C interrupts the main thread alone, so no worker is left half started by this one.
    starter = ThreadPoolExecutor(1)
    try:
        while True:
            while len(busy) < most and (task := again.pop() if again else next(tasks, None)):
                ready = _waiting.popitem() if _waiting else starter.submit(_start).result()
                connection, process = ready
                busy[connection] = process, *task
                with contextlib.suppress(OSError):  # the worker has died, as is noticed below
                    connection.send((recipe, task[0]))
            if not busy:
                return
            for connection in multiprocessing.connection.wait(list(busy)):
                process, job, deaths = busy.pop(connection)
                try:
                    answered = connection.recv_bytes()
                except (EOFError, OSError):
                    process.join()
                    end = f"ended with status {process.exitcode}"
                    if deaths + 1 < TRIES:
                        tqdm.write(f"notice: a worker {end}; its job is done again", sys.stderr)
                        again.append((job, deaths + 1))
                    else:
                        yield job, died(end)
                else:
                    _waiting[connection] = process
                    yield job, result_of(answered)
    finally:
        starter.shutdown()
        for process, *_ in busy.values():
            process.kill()


def _start():
    """Start a worker, and return the connection to it and its process."""
    os.environ.update(ENVIRONMENT)
    connection, workers_end = CONTEXT.Pipe()
    process = CONTEXT.Process(target=_serve, args=(workers_end,), daemon=True)
    # A terminal sends Ctrl-C to all its processes. Workers inherit that it is blocked: this process
    # ends, and ends them. (The resource tracker, started later, would unblock it.)
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    process.start()
    workers_end.close()
    return connection, process


def _serve(connection):
    # After the parent was killed, the pipe is closed, so the worker ends with its job.
    with contextlib.suppress(EOFError, OSError):
        while True:
            connection.send_bytes(answer(*connection.recv()))
