"""What one worker does, here or in a Ray cluster: it takes jobs and answers with results."""

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
"""Environment variables of a worker: one thread, and memory in huge pages, which the C library does
not give back. Training steps take and give back so much of it that this makes them
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
    """What all jobs of a run have in common, pickled: the function, how its context is made, and
    when this process began to read code."""
    return pickle.dumps((function, make_context, pipeline.STARTED))


@functools.lru_cache(1)
def _prepared(recipe):
    """The function and the context of a recipe, which a worker makes once."""
    torch.set_num_threads(1)
    threadpoolctl.threadpool_limits(1)
    function, make_context, pipeline.STARTED = pickle.loads(recipe)
    context = make_context()
    check_unchanged()  # what this worker has imported is what its parent has
    return function, context


def answer(recipe: bytes, job: Any) -> bytes:
    """A worker's answer to a job, pickled: whether the context could be made, and the result or the
    exception."""
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
    """The result or the exception in a worker's answer; raises an exception of the context."""
    ready, result = pickle.loads(answered)
    if not ready:
        raise result
    return result


def died(how: str) -> InputError:
    """The result of a job at which `TRIES` workers died; how: the end of the last one."""
    return InputError(
        f"{TRIES} workers died at it, one after another (the last {how}), most often for want of "
        "memory; what was finished is kept, so run it again once more is free"
    )
