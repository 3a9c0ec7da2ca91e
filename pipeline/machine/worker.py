"""Jobs on their way to a worker, a process of this machine or of a Dask cluster, and
back."""

import functools
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

import cloudpickle
import threadpoolctl
import torch

from pipeline.project import errors
from pipeline.project.errors import WATCHED, InputError

ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=1073741824"
    ":glibc.malloc.trim_threshold=1073741824",
}
"""Environment variables of a worker: one thread, and memory in huge pages that the C
library keeps, with which LeNet trains 1.2 times as fast (`python -m
benchmarks.allocation`)."""


def end_with_parent(parent: int) -> None:
    """End this process as soon as its parent has ended, even if the parent was killed.

    A worker of loky would otherwise wait for ever until somebody reads its result.

    Args:
        parent: Process number of the parent.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def recipe_of(function: Callable, make_context: Callable) -> bytes:
    """Pickle what a worker needs to know about a run, apart from the jobs.

    Functions of a program's `__main__` are pickled by value, as workers do not import
    it.

    Args:
        function: Called as `function(context, job)`.
        make_context: Called once in each worker.
    """
    return cloudpickle.dumps((function, make_context, errors.STARTED, WATCHED))


@functools.lru_cache(1)
def _prepare(recipe: bytes) -> tuple[Callable, Any]:
    """Load the function of a run and make its context, once in each worker."""
    # The number of threads decides the last bits of a sum.
    torch.set_num_threads(1)
    threadpoolctl.threadpool_limits(1)
    # As `workers.find_device` does in the process that asks.
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    function, make_context, started, watched = cloudpickle.loads(recipe)
    errors.STARTED = min(errors.STARTED, started)  # for `check_unchanged`
    WATCHED.update(watched)
    return function, make_context()


def answer(recipe: bytes, job: Any) -> bytes:
    """Do one job.

    Args:
        recipe: Result of `recipe_of`.
        job: Second argument of the run's function.

    Returns:
        What `result_of` reads, pickled here so that a result that cannot be pickled is
        an exception of its job.
    """
    ready = False
    try:
        function, context = _prepare(recipe)
        ready = True
        return cloudpickle.dumps((ready, function(context, job)))
    except (Exception, SystemExit) as error:
        if isinstance(error, SystemExit):
            error = InputError(
                f"the code called sys.exit({error.code!r}); raise an exception instead",
                "crash",
            )
        if not isinstance(error, InputError):
            error.add_note(
                "In a worker:\n" + "".join(traceback.format_exception(error))
            )
        return cloudpickle.dumps((ready, error))


def result_of(answered: bytes) -> Any:
    """Unpickle the result or the exception of a job.

    Args:
        answered: Result of `answer`.

    Raises:
        Exception: The context could not be made.
    """
    ready, result = cloudpickle.loads(answered)
    if not ready:
        raise result
    return result


def run_jobs(
    submit: Callable[[Any], Future],
    next_job: Callable[[], Any],
    at_once: Callable[[], int],
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
