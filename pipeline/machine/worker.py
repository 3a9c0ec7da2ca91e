"""One worker, a process on this machine or a task of Ray: it answers each job with its result."""

import functools
import pickle
import platform
import traceback
from collections.abc import Callable
from typing import Any

import threadpoolctl
import torch

import pipeline
from pipeline.project.errors import InputError, check_unchanged

TRIES = 3  # a job has failed when so many workers have died at it

ENVIRONMENT = {"OMP_NUM_THREADS": "1"}
"""Environment variables of a worker: one thread, and memory in huge pages that the C library keeps.
Training steps allocate and free so much memory that this makes them 1.05 to 1.2 times as fast
(`python -m benchmarks.allocation`)."""

if platform.libc_ver() >= ("glibc", "2.35"):
    ENVIRONMENT["GLIBC_TUNABLES"] = (
        "glibc.malloc.hugetlb=1:"
        f"glibc.malloc.mmap_threshold={2**30}:glibc.malloc.trim_threshold={2**30}"
    )


def recipe_of(function: Callable, make_context: Callable) -> bytes:
    """A run's function, the maker of its context, and when this process began to read code."""
    return pickle.dumps((function, make_context, pipeline.STARTED))


@functools.lru_cache(1)
def _prepared(recipe):
    """The function of a recipe and its context, made once in each worker."""
    torch.set_num_threads(1)
    threadpoolctl.threadpool_limits(1)
    # As `workers.device_of` does in the process that asks, which is no task of Ray on a GPU.
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    function, make_context, pipeline.STARTED = pickle.loads(recipe)
    context = make_context()
    check_unchanged()  # this worker has imported the same code as its parent
    return function, context


def answer(recipe: bytes, job: Any) -> bytes:
    """A worker's answer to a job, pickled: whether the context was made; the result or error."""
    ready = False
    try:
        function, context = _prepared(recipe)
        ready = True
        return pickle.dumps((ready, function(context, job)))
    except Exception as error:
        if not isinstance(error, InputError):
            error.add_note("In a worker:\n" + "".join(traceback.format_exception(error)))
        return pickle.dumps((ready, error))


def result_of(answered: bytes) -> Any:
    """The result or the exception of a job, from a worker's answer.

    Raises the exception with which the context could not be made.
    """
    ready, result = pickle.loads(answered)
    if not ready:
        raise result
    return result


def died(end: str) -> InputError:
    """The result of a job at which `TRIES` workers died; end: of the last one, in words."""
    return InputError(
        f"{TRIES} workers died at it, one after another (the last {end}), for want of memory, by a "
        "crash or by its own code, as sys.exit; what was finished is kept"
    )
