"""`workers.run` on a Dask cluster, the workers of which may be on several machines.

Every machine sees the project's folder at the same path, and reads its code and data
there. Only the process that calls `run` writes to the cache.

The jobs are submitted here and not by joblib's Dask backend, which waits forever for
the result of a job whose workers were killed.
"""

import functools
import os
import platform
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import Any

import distributed
import torch

from pipeline.machine import store, worker
from pipeline.project.errors import InputError, check_unchanged

TIMEOUT = 60
"""Seconds in which the scheduler must answer and a first worker must have joined it."""


@functools.cache
def _client() -> distributed.Client:
    """Join the cluster, until this process ends.

    Raises:
        InputError: No scheduler answers, or no worker has joined it.
    """
    address = os.environ["NADS_CLUSTER"]
    try:
        client = distributed.Client(address, timeout=TIMEOUT)
        client.wait_for_workers(1, timeout=TIMEOUT)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no Dask cluster answers at {address} (NADS_CLUSTER): {error}; start a "
            "scheduler and workers as docs/running.md shows",
            "cluster",
            address=address,
        ) from None
    return client


def count_slots() -> int:
    """Return the number of workers, at least one."""
    return max(1, len(_client().nthreads()))


def _refusal(folder: str, probe: str, version: str) -> str | None:
    """Say why this worker cannot do the jobs of a run; arguments as for `_answer`."""
    if not os.path.exists(probe):
        return f"does not see {folder}, which all machines must share"
    if torch.__version__ != version:
        return f"has torch {torch.__version__}, and the machine that asks has {version}"
    if distributed.get_worker().state.nthreads != 1:
        return (
            "has several threads, which would share random numbers; start it with "
            "--nthreads 1"
        )
    try:
        check_unchanged()
    except InputError:
        return (
            "has loaded code that was edited since; restart the workers after an edit"
        )
    return None


def _answer(folder: str, probe: str, version: str, recipe: bytes, job: Any) -> bytes:
    """Do one job in the project's folder, on a worker.

    Args:
        folder: Path of the project.
        probe: Path of a file that exists in the project's cache during the run.
        version: PyTorch's version of the process that asks, which is part of every key.
        recipe: See `worker.answer`.
        job: See `worker.answer`.

    Raises:
        InputError: The results of this worker might silently be others.
    """
    if refusal := _refusal(folder, probe, version):
        raise InputError(
            f"a worker on {platform.node()} {refusal} (docs/running.md)",
            "cluster",
            reason=refusal,
        )
    os.chdir(folder)
    return worker.answer(recipe, job)


def run(
    function: Callable[[Any, Any], Any], jobs: Iterable, make_context: Callable[[], Any]
) -> Iterator[tuple[Any, Any]]:
    """Yield every job with its result as `workers.run` does."""
    recipe = worker.recipe_of(function, make_context)
    executor: Executor = _client().get_executor(pure=False)
    jobs = iter(jobs)
    store.default_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        dir=store.default_folder(), suffix=".part"
    ) as probe:
        path = os.path.abspath(probe.name)

        def submit(job: Any) -> Future:
            return executor.submit(
                _answer, os.getcwd(), path, torch.__version__, recipe, job
            )

        for job, future in worker.run_jobs(
            submit, lambda: next(jobs, None), count_slots
        ):
            try:
                yield job, worker.result_of(future.result())
            except distributed.KilledWorker as error:
                yield (
                    job,
                    InputError(
                        "the job crashed its workers, probably out of memory; give "
                        f"workers more memory ({error})",
                        "crash",
                    ),
                )
