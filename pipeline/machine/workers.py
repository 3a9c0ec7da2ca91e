"""Many independent jobs: on the cores of this machine, an accelerator, or Ray.

Each worker makes its context, the data, once in a run and then does one job after another. The
environment variable NADS_EXECUTOR is `local`, the default, or `ray`. Local workers are processes of
loky, the process pool of joblib.

`joblib.Parallel` itself is not used: it takes as many jobs again from the iterable as it has
workers, which a grid would have to claim long before it trains them; it runs the jobs of a single
worker in this process; and when a worker dies it drops results that were not asked for yet.
"""

import importlib.util
import os
import signal
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from typing import Any

import torch
from joblib import cpu_count as cores
from joblib.externals import loky
from tqdm import tqdm

from pipeline.machine import worker
from pipeline.project.errors import InputError, nearest


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
    three workers crashed has an InputError. Raises the exception that `make_context` raised.
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


def finished(
    submit: Callable[[Any], Future], next_job: Callable[[], Any], at_once: Callable[[], int]
) -> Iterator[tuple[Any, Future]]:
    """Submit jobs as workers get free.

    Args:
        submit: Gives a job to a worker.
        next_job: Returns the next job, or None if there is none at present.
        at_once: Returns the number of workers.

    Yields:
        Each job with its future, as soon as that is done.
    """
    busy: dict[Future, Any] = {}
    while True:
        while len(busy) < at_once() and (job := next_job()) is not None:
            busy[submit(job)] = job
        if not busy:
            return
        for future in wait(busy, return_when=FIRST_COMPLETED).done:
            yield busy.pop(future), future


def _executor() -> loky.Executor:
    """Return the process pool, which all runs of this process share."""
    # The pool warns when it replaces a worker that has grown by 300 MB, as data sets make it grow.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    return loky.get_reusable_executor(
        cores(),
        env=worker.ENVIRONMENT,
        initializer=worker.end_with_parent,
        initargs=(os.getpid(),),
    )


def _submit(recipe: bytes, job: Any) -> Future:
    """Give a job to the process pool."""
    # A terminal sends Ctrl-C to all its processes. Workers inherit that it is blocked, so that
    # only this process ends, which then ends them.
    resource_tracker.ensure_running()  # its start would unblock the signal
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return _executor().submit(worker.answer, recipe, job)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _by_processes(function, jobs, make_context):
    recipe = worker.recipe_of(function, make_context)
    tasks = ((job, 1) for job in jobs)  # each job with the number of its try
    lost = []

    def submit(task):
        return _submit(recipe, task[0])

    def next_task():
        return lost.pop(0) if lost else next(tasks, None)

    try:
        for (job, number), future in finished(submit, next_task, cores):
            try:
                yield job, worker.result_of(future.result())
            except BrokenProcessPool:  # by this job, or by one that ran beside it
                if number == 1:
                    tqdm.write("notice: a worker crashed; unfinished jobs run again", sys.stderr)
                    lost.append((job, 2))
                else:
                    yield job, _last_try(recipe, job)
    except BaseException:
        _executor().shutdown(kill_workers=True)
        raise


def _last_try(recipe: bytes, job: Any) -> Any:
    """Do a job while no other runs, so that it is known which job ends its worker."""
    try:
        return worker.result_of(_submit(recipe, job).result())
    except BrokenProcessPool:
        return InputError(
            "its worker crashed three times, probably out of memory; the third time no other job "
            "ran beside it"
        )
