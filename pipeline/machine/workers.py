"""Many independent pieces of work on this machine: a process per core with one thread each, or the GPU in this process.

Jobs travel to the workers, tensors do not: each worker makes its own `context` (the data) once, then takes one job
after another.
"""

import concurrent.futures
import dataclasses
import itertools
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import torch

from pipeline.project.errors import InputError

_context = None


@dataclasses.dataclass(frozen=True)
class Machine:
    """Where work runs, and whether finished work is taken from the store: nothing that a result depends on."""

    device: Literal["auto", "cpu", "cuda"]
    reuse: bool


def device_of(choice: str) -> torch.device:
    """The torch device for params.yaml's `device`: 'auto' is CUDA where there is one, else the CPU.

    From then on this process multiplies float32 as float32 on it, not as TF32, which rounds to three digits. Raises
    InputError if 'cuda' is asked for and there is none.
    """
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    available = torch.cuda.is_available()
    if choice == "cuda" and not available:
        raise InputError(
            "device is cuda, but PyTorch finds no CUDA device here; set device: auto or cpu in params.yaml"
        )
    return torch.device(choice if choice != "auto" else "cuda" if available else "cpu")


def cores() -> int:
    """Processors that this process may use (a scheduler's affinity mask is respected)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _leave_with_parent():
    # A killed parent cannot tell its workers to stop: they would wait for work, and keep their memory, for ever.
    multiprocessing.parent_process().join()
    os._exit(1)


def _start(make_context):
    global _context
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    _context = make_context()


def _work(function, job):
    return function(_context, job)


def run_together(
    function: Callable[[Any, list], list], groups: list[list[tuple[int, Any]]], make_context: Callable[[], Any]
) -> Iterator[tuple[int, Any]]:
    """Yield (position, result) of every job of every group, in this process, group by group.

    groups: lists of (position, job); `function(context, jobs)` returns their results, exceptions among them for jobs
    that failed alone. Where the call itself raises, for want of memory on the GPU or through one of the jobs, the group is
    halved, down to the job whose exception it is.
    """
    context, waiting = make_context(), list(reversed(groups))
    while waiting:
        group = waiting.pop()
        try:
            results = function(context, [job for _, job in group])
        except Exception as error:
            results = [error.with_traceback(None)] if len(group) == 1 else None
        if results is None:
            # Only here, after the exception has let go of what the call had allocated.
            torch.cuda.empty_cache()
            middle = len(group) // 2
            waiting += [group[middle:], group[:middle]]
            continue
        yield from zip((position for position, _ in group), results)


def run(
    function: Callable[[Any, Any], Any], jobs: Iterable, make_context: Callable[[], Any], device: torch.device
) -> Iterator[tuple[int, Any]]:
    """Yield (position, result) of `function(context, job)` for every job, in the order in which they finish.

    jobs: any iterable; it is asked for the next job only when a worker is about to need it, so it may end the work
    early. `make_context` is called once per worker. On a CPU the workers are processes, so `function`, the jobs and the
    results must pickle; results should be small. An exception in one job is yielded as its result, the rest go on.
    """
    jobs = enumerate(jobs)
    if device.type == "cuda":
        context = make_context()
        for position, job in jobs:
            try:
                result = function(context, job)
            except Exception as error:
                result = error
            yield position, result
        return
    head = list(itertools.islice(jobs, 1))
    if not head:
        return
    os.environ["OMP_NUM_THREADS"] = "1"
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(cores(), spawn, _start, (make_context,)) as pool:
        jobs, due = itertools.chain(head, jobs), {}
        try:
            while True:
                for position, job in itertools.islice(jobs, 2 * cores() - len(due)):
                    due[pool.submit(_work, function, job)] = position
                if not due:
                    return
                done, _ = concurrent.futures.wait(due, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    error = future.exception()
                    if isinstance(error, concurrent.futures.BrokenExecutor):
                        raise InputError(
                            "a worker process died, most likely because memory ran out; what was finished is "
                            "kept, so free memory and run it again"
                        )
                    yield due.pop(future), error or future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
