"""`workers.run` on Ray: on the cores or GPUs of several machines, or on one machine's several GPUs.

Every node sees the project's folder at the same path, and reads its code and data there. A task is
one job on one core or one GPU. Only the process that calls `run` writes the store.
"""

import itertools
import os
import pickle
import platform
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import ray
import ray.exceptions
import torch

from pipeline.machine import store, worker
from pipeline.project import limits
from pipeline.project.errors import InputError


def connect() -> None:
    """Join the cluster at RAY_ADDRESS, or start Ray on this machine until this process ends.

    Raises InputError where Ray refuses.
    """
    if ray.is_initialized():
        return
    address = os.environ.get("RAY_ADDRESS", "local")
    started = {"num_cpus": limits.cores(), "include_dashboard": False}
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        ray.init(address, **quiet, **(started if address == "local" else {}))
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise InputError(
            f"Ray cannot be used at {address} ({' '.join(str(error).split())}); docs/running.md "
            "shows how it is started"
        ) from None


def slots(device_type: str) -> int:
    """The number of tasks that the present nodes can do at once, on 'cpu' or 'cuda'."""
    connect()
    return int(ray.cluster_resources().get("GPU" if device_type == "cuda" else "CPU", 0))


def _do(folder: str, probe: str, version: str, recipe: bytes, job: Any) -> bytes:
    """A node's answer to a job (`worker.answer`), given in the project's folder.

    probe: a file that exists in the project's store during the run; version: of the caller's
    PyTorch, which is part of every key.
    """
    if not Path(probe).exists():
        refusal = f"does not see {folder}, which all nodes must share"
    elif torch.__version__ != version:
        refusal = f"has torch {torch.__version__}, and the machine that asks {version}"
    else:
        os.chdir(folder)
        return worker.answer(recipe, job)
    error = InputError(f"{platform.node()}, a node of Ray, {refusal} (docs/running.md)")
    return pickle.dumps((False, error))


def run(
    function: Callable[[Any, Any], Any],
    jobs: Iterable,
    make_context: Callable[[], Any],
    device: torch.device,
) -> Iterator[tuple[Any, Any]]:
    """Yield every job with its result as `workers.run` does.

    Twice as many jobs are submitted as the nodes can do at once, so that none waits for its next.
    """
    connect()
    # Given here and not by `.options`, Ray ends a process after its task on a GPU: CUDA reads only
    # once which GPU it may use, and the next task may have another.
    task = ray.remote(
        num_cpus=1,
        num_gpus=int(device.type == "cuda"),
        max_retries=2,
        runtime_env={"env_vars": worker.ENVIRONMENT},
    )(_do)
    recipe, jobs, submitted = worker.recipe_of(function, make_context), iter(jobs), {}
    store.default_folder().mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=store.default_folder(), suffix=".part") as probe:
        arguments = os.getcwd(), os.path.abspath(probe.name), torch.__version__, recipe
        try:
            while True:
                # The nodes can be fewer than before: one that dies takes its slots along.
                free = max(1, 2 * slots(device.type)) - len(submitted)
                for job in itertools.islice(jobs, max(0, free)):
                    submitted[task.remote(*arguments, job)] = job
                if not submitted:
                    return
                for reference in ray.wait(list(submitted))[0]:
                    job = submitted.pop(reference)
                    try:
                        answered = ray.get(reference)
                    except ray.exceptions.RayTaskError:  # the node cannot import `_do`
                        raise
                    except ray.exceptions.RayError as error:
                        yield job, InputError(f"its worker crashed: {type(error).__name__}")
                    else:
                        yield job, worker.result_of(answered)
        finally:
            for reference in submitted:
                ray.cancel(reference)
