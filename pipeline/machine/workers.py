"""Many independent pieces of work: on this machine, a process per core with one thread each or the GPU in this process, or by Ray.

Jobs travel to the workers, tensors do not: each worker makes its own `context` (the data) once, then takes one job
after another. Who does the work is said by the environment alone: NADS_EXECUTOR is `local` unless it is `ray`.
"""

import dataclasses
import functools
import gc
import importlib.util
import itertools
import os
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import torch

from pipeline.machine import store
from pipeline.machine.processes import Crew
from pipeline.project.errors import InputError, nearest

EXECUTORS = ("local", "ray")


@dataclasses.dataclass(frozen=True)
class Machine:
    """Where work runs, and whether finished work is taken from the store: nothing that a result depends on."""

    device: Literal["auto", "cpu", "cuda"]
    reuse: bool


def by_ray() -> types.ModuleType | None:
    """What does the work by Ray, `pipeline.machine.cluster`, or None where this machine does it.

    Raises InputError for an unknown NADS_EXECUTOR, and where Ray is not installed.
    """
    executor = os.environ.get("NADS_EXECUTOR", "local")
    if executor not in EXECUTORS:
        raise InputError(f"NADS_EXECUTOR is {executor!r}; {nearest(executor, EXECUTORS)}")
    if executor == "local":
        return None
    if importlib.util.find_spec("ray") is None:
        raise InputError(
            "NADS_EXECUTOR is ray, but Ray is not installed; `pip install -r requirements-cluster.txt` installs it"
        )
    # What is lost with a node is said in one line of ours; Ray, which reads this when it is imported, would add forty.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    from pipeline.machine import cluster  # only here, since importing Ray takes time and memory

    return cluster


def device_of(choice: str) -> torch.device:
    """The torch device for params.yaml's `device`: 'auto' is CUDA where there is one, here or in Ray's cluster, else the CPU.

    From then on this process multiplies float32 as float32 on it, not as TF32, which rounds to three digits. Raises
    InputError if 'cuda' is asked for and there is none.
    """
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    if (cluster := by_ray()) and choice != "cpu":
        available, finder = cluster.slots(torch.device("cuda")) > 0, "Ray finds no node with a GPU"
    else:
        available, finder = torch.cuda.is_available(), "PyTorch finds no CUDA device here"
    if choice == "cuda" and not available:
        raise InputError(f"device is cuda, but {finder}; set device: auto or cpu in params.yaml")
    return torch.device(choice if choice != "auto" else "cuda" if available else "cpu")


def cores() -> int:
    """Processors that this process may use (a scheduler's affinity mask is respected)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def place(device: torch.device) -> str:
    """Where the work runs, in a few words for a person."""
    if cluster := by_ray():
        return cluster.place(device)
    return f"{cores()} cores" if device.type == "cpu" else torch.cuda.get_device_name()


def room(free: Callable[[torch.device], int], device: torch.device) -> int:
    """Bytes of memory that work may take on the device: those that are `free(device)` where it will run."""
    if cluster := by_ray():
        return cluster.room(free, device)
    return free(device)


def run_together(
    function: Callable[[Any, list], list], groups: Iterable[list[tuple[int, Any]]], make_context: Callable[[], Any]
) -> Iterator[tuple[int, Any]]:
    """Yield (position, result) of every job of every group, in this process, group by group.

    groups: lists of (position, job), asked for when their turn comes; `function(context, jobs)` returns their results, exceptions among them for jobs
    that failed alone. Where the call itself raises, for want of memory on the GPU or through one of the jobs, the group is
    halved, down to the job whose exception it is; a store that cannot be written fails them all, so that is raised.
    By Ray, each group is a task with a GPU or its part of one, and they finish in any order.
    """
    if cluster := by_ray():
        yield from cluster.run(function, groups, make_context, torch.device("cuda"))
        return
    context, groups, halves = make_context(), iter(groups), []
    while group := halves.pop() if halves else next(groups, None):
        try:
            results = function(context, [job for _, job in group])
        except store.Unwritable:
            raise
        except Exception as error:
            results = [error.with_traceback(None)] if len(group) == 1 else None
        if results is None:
            # Only here, after the exception has let go of what the call had allocated; what a cycle still holds is collected,
            # since memory that cannot be given back would make the next, smaller group fail too.
            gc.collect()
            torch.cuda.empty_cache()
            middle = len(group) // 2
            halves += [group[middle:], group[:middle]]
            continue
        yield from zip((position for position, _ in group), results)


def run_here(
    function: Callable[[Any, Any], Any], jobs: Iterable, make_context: Callable[[], Any]
) -> Iterator[tuple[int, Any]]:
    """Yield (position, result) of every job in their order, as `run` does, from this process: for what takes less than starting one."""
    context = make_context()
    for position, job in enumerate(jobs):
        try:
            result = function(context, job)
        except Exception as error:
            result = error
        yield position, result


def run(
    function: Callable[[Any, Any], Any], jobs: Iterable, make_context: Callable[[], Any], device: torch.device
) -> Iterator[tuple[int, Any]]:
    """Yield (position, result) of `function(context, job)` for every job, in the order in which they finish.

    jobs: any iterable; it is asked for the next job only when a worker is about to need it, so it may end the work
    early. `make_context` is called once per worker. On a CPU the workers are processes, so `function`, the jobs and the
    results must pickle; results should be small. An exception in one job is yielded as its result, the rest go on. A worker
    that dies is replaced, and the job that was in progress in it is done again; at its third death `WorkerDied` is its
    result. Raises the exception that `make_context` raised, and InputError if the workers die at it.

    Ray's workers may be on other machines. There, a job's field `folder` is a folder of the node's own, and the files that the
    job leaves in it are put into the real one here; a job's field `file` is the path of a file that it reads; and where
    `make_context` is a class with a static method `reads`, or a partial of one, that gives the folders that it reads.
    """
    jobs = enumerate(jobs)
    if cluster := by_ray():
        yield from cluster.run(
            functools.partial(cluster.node.each, function), ([job] for job in jobs), make_context, device
        )
        return
    if device.type == "cuda":
        yield from run_here(function, (job for _, job in jobs), make_context)
        return
    with Crew(function, make_context, cores()) as crew:
        due = 0
        while True:
            for position, job in itertools.islice(jobs, 2 * cores() - due):
                crew.put(position, job)
                due += 1
            if not due:
                return
            yield crew.get()
            due -= 1
