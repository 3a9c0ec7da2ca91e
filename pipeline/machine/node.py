"""What a Ray worker does on its node: the same work as a worker process of this machine, told by `pipeline.machine.cluster`.

Its working folder is where the data are: the driver's own folder where the node shares that disk, else a copy on the node.
"""

import dataclasses
import fcntl
import functools
import hashlib
import os
import pickle
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ray
import torch

from pipeline.machine import processes, store, workers
from pipeline.project import unchanged
from pipeline.project.errors import InputError

WRITES, READS = "folder", "file"
"""The fields by which a job says where it writes, a folder, and what it reads besides its context, one file."""


def code_digest() -> str:
    """The digest of the source of this package, as this process imports it."""
    return store.digest(
        {os.path.relpath(path, unchanged.PACKAGE): found for path, found in unchanged.digests().items()}
    )


@dataclasses.dataclass(frozen=True)
class Order:
    """What each task of one run is told besides its jobs.

    work: function and recipe of its context, pickled together; versions: what the driver runs with, by name; folder: the driver's
    working folder; probe: a file in it that is there while the run lasts, or None where the context reads no files.
    """

    work: bytes
    versions: dict[str, str]
    folder: str
    probe: str | None
    device: str


@dataclasses.dataclass(frozen=True)
class Sent:
    """Files for nodes that do not share the driver's disk: by path, where Ray holds their bytes; key: the digest of them all."""

    key: str
    files: dict[str, ray.ObjectRef]


@dataclasses.dataclass(frozen=True)
class Answer:
    """What comes back of a task: the results of its jobs, or an exception that ends the run, or neither from a node that needs files.

    results: (position in the group, its result or exception, pickled); files: what the jobs wrote, by path below their folder; shared: whether
    the node read the driver's disk.
    """

    node: str
    shared: bool = False
    error: Exception | None = None
    results: list[tuple[int, bytes]] | None = None
    files: dict[str, bytes] = dataclasses.field(default_factory=dict)


def versions() -> dict[str, str]:
    """What decides results and must be the same on every node: torch's version, and the digest of this package's source."""
    return {"torch": torch.__version__, "pipeline": code_digest()}


@functools.cache
def _first() -> tuple[dict[str, str], Path]:
    """This worker's versions, and the folder in which Ray started it: taken at its first task."""
    return versions(), Path.cwd()


def _agree(order: Order) -> None:
    """Raise InputError unless this node would compute what the driver would."""
    for name, here in _first()[0].items():
        if here != (there := order.versions[name]):
            raise InputError(
                f"{platform.node()}, a node of the Ray cluster, has {name} {here[:16]} and this machine {there[:16]}, so results would "
                "differ; install the same requirements, and the same code, on every node"
            )


def copied(sent: Sent, below: Path) -> Path:
    """The folder with the files that were sent, below a folder of this node: written by the first worker that asks for it."""
    below.mkdir(exist_ok=True)
    place = below / sent.key
    with open(below / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            part = Path(tempfile.mkdtemp(dir=below))
            for name, reference in sent.files.items():
                (part / name).parent.mkdir(parents=True, exist_ok=True)
                (part / name).write_bytes(ray.get(reference))
            part.rename(place)
    return place


@functools.lru_cache(1)
def _prepared(work: bytes, folder: Path, device: str) -> tuple[Callable, Any]:
    """The function and its context: made once, since a worker does many tasks of one run."""
    if device == "cpu":
        torch.set_num_threads(1)
    else:
        workers.device_of(device)
    function, make_context = pickle.loads(work)
    return function, make_context()


def _relocated(job: Any, folder: Path, files: dict[str, bytes]) -> Any:
    """The job, writing below `folder`, and reading its file from there too where that was sent along."""
    if hasattr(job, WRITES):
        job = dataclasses.replace(job, **{WRITES: str(folder / "written")})
    if (content := files.get(getattr(job, READS, None))) is not None:
        path = folder / f"{hashlib.sha256(content).hexdigest()}.read"
        path.write_bytes(content)
        job = dataclasses.replace(job, **{READS: str(path)})
    return job


def each(function: Callable[[Any, Any], Any], context: Any, jobs: list) -> list:
    """The results of `function(context, job)`, or the exceptions that are results."""
    results = []
    for job in jobs:
        try:
            results.append(function(context, job))
        except BaseException as error:
            results.append(processes.portable(error))
    return results


def _packed(result: Any) -> bytes:
    """A result pickled, or the exception that this raised."""
    try:
        return ray.cloudpickle.dumps(processes.portable(result) if isinstance(result, Exception) else result)
    except Exception as error:
        return ray.cloudpickle.dumps(processes.portable(error))


def _answer(order: Order, jobs: bytes, files: dict[str, bytes], sent: Sent | None) -> Answer:
    _agree(order)
    node, shared = platform.node(), order.probe is not None and Path(order.folder, order.probe).exists()
    folder = _first()[1]
    if shared:
        folder = Path(order.folder)
    elif order.probe is not None and sent is None:
        return Answer(node)
    elif sent is not None:
        folder = copied(sent, folder / "sent")
    os.chdir(folder)
    function, context = _prepared(order.work, folder, order.device)
    with tempfile.TemporaryDirectory() as temporary:
        here = Path(temporary)
        group = [list(enumerate(_relocated(job, here, files) for job in pickle.loads(jobs)))]
        results = [(n, _packed(result)) for n, result in workers.run_together(function, group, lambda: context)]
        written = {
            path.relative_to(here / "written").as_posix(): path.read_bytes()
            for path in (here / "written").rglob("*")
            if path.is_file()
        }
    return Answer(node, shared, results=results, files=written)


def do(order: Order, jobs: bytes, files: dict[str, bytes], sent: Sent | None) -> bytes:
    """One task: a pickled `Answer` to a pickled list of jobs; files: those that the jobs read, by path, where they travel."""
    try:
        return ray.cloudpickle.dumps(_answer(order, jobs, files, sent))
    except BaseException as error:
        return ray.cloudpickle.dumps(Answer(platform.node(), error=processes.portable(error)))
