"""One worker, here or in a Ray cluster: what it is told of its jobs, and what it answers."""

import functools
import os
import pickle
import platform
import traceback
from collections.abc import Callable
from typing import Any

import threadpoolctl
import torch

import pipeline
from pipeline.project.errors import InputError, check_unchanged

TRIES = 3
"""Workers that may die at one job before it has failed."""

ENVIRONMENT = {"OMP_NUM_THREADS": "1"}
"""What a worker finds in its environment when it starts: one thread, and, by the C library, memory
in huge pages that it keeps. Training steps take and give back so much of it that this makes them
1.05 to 1.2 times as fast (`python -m benchmarks.allocation`)."""

if platform.libc_ver() >= ("glibc", "2.35"):
    ENVIRONMENT["GLIBC_TUNABLES"] = (
        "glibc.malloc.hugetlb=1:"
        f"glibc.malloc.mmap_threshold={2**30}:glibc.malloc.trim_threshold={2**30}"
    )


def cores() -> int:
    """Processors that this process may use (a scheduler's affinity mask is respected)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def recipe_of(function: Callable, make_context: Callable) -> bytes:
    """What a worker is told of all jobs: what it does, its data, and since when this process
    reads code."""
    return pickle.dumps((function, make_context, pipeline.STARTED))


@functools.lru_cache(1)
def _prepared(recipe):
    """The function of the jobs and the context, made once, in a worker."""
    torch.set_num_threads(1)
    threadpoolctl.threadpool_limits(1)
    function, make_context, pipeline.STARTED = pickle.loads(recipe)
    context = make_context()
    check_unchanged()  # what this worker has imported is what its parent has
    return function, context


def answer(recipe: bytes, job: Any) -> bytes:
    """What a worker sends back of a job, pickled: whether it has made its context, and the result
    or the exception that was raised."""
    ready = False
    try:
        function, context = _prepared(recipe)
        ready = True
        return pickle.dumps((ready, function(context, job)))
    except Exception as error:
        trace = "".join(traceback.format_exception(error))
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # of a class that cannot be made again from what is pickled of it
            error = RuntimeError(f"{type(error).__name__}: {error}")
        if not isinstance(error, InputError):
            error.add_note(f"In a worker:\n{trace}")
        return pickle.dumps((ready, error))


def result_of(answered: bytes) -> Any:
    """The result, or the exception that is a job's result, in a worker's answer; raises the
    exception that making its context raised."""
    ready, result = pickle.loads(answered)
    if not ready:
        raise result
    return result


def died(how: str) -> InputError:
    """The result of a job at which `TRIES` workers died; how: the last one did."""
    return InputError(
        f"{TRIES} workers died at it, one after another (the last {how}), most often for want of "
        "memory; what was finished is kept, so run it again once more is free"
    )
