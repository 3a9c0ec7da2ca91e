"""Many independent jobs: on the cores of this machine, an accelerator, or a Dask
cluster.

Each worker makes its context, the data, once in a run and then does one job after
another. The environment variable NADS_CLUSTER holds the address of a Dask scheduler.
Without it, workers are processes of loky, the process pool of joblib.

`joblib.Parallel` itself is not used: it takes as many jobs again from the iterable as
it has workers, which a grid would have to claim long before it trains them; it runs the
jobs of a single worker in this process; and when a worker dies it drops results that
were not asked for yet.
"""

import importlib.util
import os
import signal
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from typing import Any

import torch
from joblib import cpu_count as cores
from joblib.externals import loky
from tqdm import tqdm

from pipeline.machine import worker
from pipeline.project.errors import InputError


def _cluster() -> types.ModuleType | None:
    """Return `pipeline.machine.cluster` if NADS_CLUSTER is set.

    Raises:
        InputError: Dask is not installed.
    """
    if not os.environ.get("NADS_CLUSTER"):
        return None
    if importlib.util.find_spec("distributed") is None:
        raise InputError(
            "NADS_CLUSTER is set, but Dask is not installed; run "
            "`pip install -r requirements-cluster.txt`",
            "missing-package",
            package="distributed",
        )
    from pipeline.machine import cluster  # only here, as Dask takes seconds to import

    return cluster


def find_device(choice: str) -> torch.device:
    """Find the torch device for `device` of params.yaml.

    Turns off TF32, which rounds the factors of float32 products to three digits.

    Args:
        choice: A device type, or 'auto', which is CUDA if this machine has it, else the
            CPU. A cluster works on CPUs only.

    Raises:
        InputError: The device is not there.
    """
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    if _cluster():
        if choice not in ("auto", "cpu"):
            raise InputError(
                f"device is {choice}, but the cluster of NADS_CLUSTER works on CPUs; "
                "set device: cpu, or unset NADS_CLUSTER",
                "conflict",
                device=choice,
            )
        return torch.device("cpu")
    found = str(torch.accelerator.current_accelerator(check_available=True) or "cpu")
    # Apple's and Intel's, which were never tried, must be asked for by name.
    if choice == "auto":
        choice = "cuda" if found == "cuda" else "cpu"
    if choice not in ("cpu", found):
        raise InputError(
            f"device is {choice}, but PyTorch finds none; set device: auto or cpu",
            "missing-device",
            device=choice,
        )
    return torch.device(choice)


def count_slots(device: torch.device) -> int:
    """Return the number of jobs that run at once.

    Args:
        device: Result of `find_device`.
    """
    if device.type != "cpu":
        return 1
    if cluster := _cluster():
        return cluster.count_slots()
    return cores()


def device_name(device: torch.device) -> str:
    """Describe where jobs run, for example '2 cores'.

    Args:
        device: Result of `find_device`.
    """
    if device.type == "cuda":
        return torch.cuda.get_device_name()
    if device.type != "cpu":
        return f"1 {device.type}"
    number = count_slots(device)
    text = f"{number} core{'s' * (number != 1)}"
    return f"{text} of a cluster" if _cluster() else text


def run(
    function: Callable[[Any, Any], Any],
    jobs: Iterable,
    make_context: Callable[[], Any],
    device: torch.device,
) -> Iterator[tuple[Any, Any]]:
    """Do many jobs.

    A job that raises an exception has it as its result. A job whose workers crash again
    and again has an `InputError`.

    Args:
        function: Called as `function(context, job)`. On the CPU, function, jobs and
            results are pickled.
        jobs: Asked for the next job only when a worker is free, so that it may end the
            work early.
        make_context: Called once in each worker.
        device: Result of `find_device`.

    Yields:
        Each job with its result, as soon as it has one.

    Raises:
        Exception: The context could not be made.
    """
    if device.type != "cpu":
        return run_here(function, jobs, make_context)
    if cluster := _cluster():
        return cluster.run(function, jobs, make_context)
    return _run_in_processes(function, jobs, make_context)


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


def _executor() -> loky.Executor:
    """Return the process pool, which all runs of this process share."""
    # The pool warns when it replaces a worker that has grown by 300 MB, as data sets
    # make it grow.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    return loky.get_reusable_executor(
        cores(),
        env=worker.ENVIRONMENT,
        initializer=worker.end_with_parent,
        initargs=(os.getpid(),),
    )


def _submit(recipe: bytes, job: Any) -> Future:
    """Give a job to the process pool."""
    # A terminal sends Ctrl-C to all its processes. Workers inherit that it is blocked,
    # so that only this process ends, which then ends them.
    resource_tracker.ensure_running()  # its start would unblock the signal
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return _executor().submit(worker.answer, recipe, job)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _run_in_processes(
    function: Callable[[Any, Any], Any], jobs: Iterable, make_context: Callable[[], Any]
) -> Iterator[tuple[Any, Any]]:
    """Yield every job with its result from the process pool, in the order in which they
    end.

    The jobs of a worker that crashed run once more, then alone.
    """
    recipe = worker.recipe_of(function, make_context)
    tasks = ((job, 1) for job in jobs)  # each job with the number of its try
    lost = []

    def submit(task):
        return _submit(recipe, task[0])

    def next_task():
        return lost.pop(0) if lost else next(tasks, None)

    try:
        for (job, number), future in worker.run_jobs(submit, next_task, cores):
            try:
                yield job, worker.result_of(future.result())
            except BrokenProcessPool:  # by this job, or by one that ran beside it
                if number == 1:
                    tqdm.write(
                        "notice: a worker crashed; unfinished jobs run again",
                        sys.stderr,
                    )
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
            "the job crashed three workers in a row, the last without other jobs, "
            "probably out of memory; free memory, or look for a crash in its code",
            "crash",
        )
