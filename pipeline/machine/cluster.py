"""Ray behind `workers.run` and `workers.run_together`: the cores or GPUs of several machines, or of one with several GPUs.

What travels to a node is a recipe, and what comes back are results and the bytes of the files that were written there: only the
process that asked for the work, the driver, writes the store. A task is one job, or one group of jobs that share a GPU. What Ray says
of a task that it lost is taken as the death of a worker: the task is done again, and after a third death its jobs have failed.
"""

import atexit
import collections
import contextlib
import dataclasses
import functools
import os
import pickle
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import ray
import ray.exceptions
import torch
from tqdm import tqdm

from pipeline.machine import forkserver, joining, node, processes, store
from pipeline.project import artifacts
from pipeline.project.errors import InputError

LOOK = 0.2
"""Seconds for which Ray waits before this process looks for Ctrl-C: Ray itself would look once a second, which is too late."""

PATIENCE = 60.0
"""Seconds without any result after which it is looked whether a node is left that could make one."""

SHARE = "NADS_GPUS_PER_TASK"
"""The environment variable that says what part of a GPU, or how many, one task takes: 1 unless it is set."""


def share() -> float:
    """The part of a GPU that one task takes; raises InputError unless it is a number that Ray can give."""
    try:
        value = float(os.environ.get(SHARE, 1))
    except ValueError:
        value = 0.0
    # A task uses one GPU at most, and Ray counts in ten-thousandths.
    if not 1e-4 <= value <= 1:
        raise InputError(
            f"{SHARE} is {os.environ[SHARE]!r}; it must be the part of a GPU that one task takes, above 0 and at most 1, as 0.5"
        )
    return value


def connect() -> None:
    """Join the cluster at RAY_ADDRESS, or start a Ray of this machine alone where that is not set, unless it was done before."""
    if not ray.is_initialized():
        share()
        joining.join(os.environ.get("RAY_ADDRESS"))


def slots(device: torch.device) -> int:
    """How many tasks the cluster's nodes can do at once, as it is now."""
    connect()
    resources = ray.cluster_resources()
    cores = int(resources.get("CPU", 0))
    return min(cores, int(resources.get("GPU", 0) / share() + 1e-6)) if device.type == "cuda" else cores


def place(device: torch.device) -> str:
    """The cluster in a few words, for a person; it is not joined for that alone."""
    if not ray.is_initialized():
        return "Ray"
    nodes = sum(node["Alive"] for node in ray.nodes())
    resources = ray.cluster_resources()
    kind, count = ("GPUs", "GPU") if device.type == "cuda" else ("cores", "CPU")
    return f"{resources.get(count, 0):g} {kind} of {nodes} node{'s' * (nodes != 1)} (Ray)"


def room(free: Callable[[torch.device], int], device: torch.device) -> int:
    """Bytes of memory that one task may take: its share of those that are `free(device)` on the node that Ray chooses for this."""
    connect()
    there = ray.get(ray.remote(free).options(**_options(device)).remote(device))
    return int(there * share()) if device.type == "cuda" else there


def _options(device: torch.device) -> dict[str, Any]:
    """What Ray is told of a task: what it takes, and that retries are our business."""
    # A node's own environment may ask for Ray too, since it was started by the same script.
    environment = {"NADS_EXECUTOR": "local"}
    if device.type == "cuda":
        taken = {"num_gpus": share()}
    else:
        environment |= {"CUDA_VISIBLE_DEVICES": ""} | forkserver.WORKER
        taken = {"num_gpus": 0}
    return taken | {"num_cpus": 1, "max_retries": 0, "runtime_env": {"env_vars": environment}}


@dataclasses.dataclass
class Piece:
    """What one task does: (position, job) of each of its jobs; deaths: how many workers died at it."""

    group: list[tuple[int, Any]]
    deaths: int = 0


@contextlib.contextmanager
def probe(wanted: bool) -> Iterator[str | None]:
    """A file in the working folder, by which a node tells whether it shares that disk, for as long as the context lasts."""
    if not wanted:
        yield None
        return
    path = artifacts.DATASETS.parent / f"ray-{uuid.uuid4().hex}"
    path.touch()
    # Where an exception ends the program while it holds the generator of the results, nobody leaves this context.
    remove = functools.partial(path.unlink, missing_ok=True)
    atexit.register(remove)
    try:
        yield str(path)
    finally:
        remove()
        atexit.unregister(remove)


def read_by(make_context: Callable[[], Any]) -> list[Path]:
    """The files from which a context is made, where the class that its recipe makes says so by a static method `reads`."""
    reads = getattr(getattr(make_context, "func", make_context), "reads", None)
    folders = [] if reads is None else reads(*make_context.args)
    return sorted(path for folder in folders for path in Path(folder).rglob("*") if path.is_file())


def sent(paths: list[Path]) -> node.Sent:
    """The files as Ray hands them to the nodes that ask for them."""
    found, files = [], {}
    for path in paths:
        content = path.read_bytes()
        found.append([path.as_posix(), store.digest(content)])
        files[path.as_posix()] = ray.put(content)
    return node.Sent(store.digest(found), files)


def _write(content, path):
    Path(path).write_bytes(content)


def _fatal(error: Exception) -> InputError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return InputError(
        f"Ray's workers cannot do what they are to do ({type(error).__name__}: {lines[-1]}); install the same requirements on every node"
    )


class Run:
    """The tasks of one run: what they are told, which of them are under way, and which are to be done again."""

    def __init__(
        self, function: Callable[[Any, list], list], make_context: Callable[[], Any], device: torch.device
    ) -> None:
        self.device, self.paths = device, read_by(make_context)
        self.work = ray.cloudpickle.dumps((function, make_context))
        self.task = ray.remote(node.do).options(**_options(device))
        self.sent, self.told, self.flying, self.again = None, False, {}, collections.deque()

    def submit(self, piece: Piece, order: node.Order) -> None:
        """Have a piece done."""
        jobs = [job for _, job in piece.group]
        names = {getattr(job, node.READS, None) for job in jobs} - {None} if self.sent is not None else ()
        files = {name: Path(name).read_bytes() for name in names}
        self.flying[self.task.remote(order, ray.cloudpickle.dumps(jobs), files, self.sent)] = piece

    def results(self, reference: ray.ObjectRef) -> Iterator[tuple[int, Any]]:
        """Yield (position, result) of the jobs of a task that has ended, after what they wrote is in the store; none of one that
        is to be done again. Raises what ends the run.
        """
        piece = self.flying.pop(reference)
        try:
            answer = pickle.loads(ray.get(reference))
        except ray.exceptions.RayTaskError as error:
            raise _fatal(error) from None
        except ray.exceptions.RayError as error:
            yield from self._after_death(piece, error)
            return
        if answer.error is not None:
            raise answer.error
        if answer.results is None:
            self._tell(answer)
            self.again.append(piece)
            return
        if self.paths and not self.told:
            self._tell(answer)
        for name, content in answer.files.items():
            path = Path(getattr(piece.group[0][1], node.WRITES), name)
            store.atomically(path, functools.partial(_write, content))
        for position, result in answer.results:
            yield piece.group[position][0], pickle.loads(result)

    def _after_death(self, piece, error):
        piece.deaths += 1
        how, group = type(error).__name__, piece.group
        if piece.deaths < processes.TRIES:
            processes.notice_of_death(f"Ray lost a worker or its node ({how})")
            self.again.append(piece)
        elif isinstance(error, ray.exceptions.RuntimeEnvSetupError):
            raise _fatal(error)
        elif len(group) > 1:  # one of its jobs may be the death of the others
            middle = len(group) // 2
            self.again += [Piece(group[:middle]), Piece(group[middle:])]
        else:
            yield group[0][0], processes.died("workers of Ray or their nodes", f"with {how}")

    def _tell(self, answer):
        """Say once where the nodes find the data, and have them sent where a node does not share the disk."""
        if self.sent is None and not answer.shared:
            size = sum(path.stat().st_size for path in self.paths) / 1e6
            self.sent = sent(self.paths)
            where = f"{answer.node} does not share {os.getcwd()}: {size:.1f} MB of data are sent once to each such node"
        elif self.told:
            return
        else:
            where = f"the nodes read the data in {os.getcwd()}, which they share"
        self.told = True
        tqdm.write(f"notice: {place(self.device)}; {where}", file=sys.stderr)


def run(
    function: Callable[[Any, list], list],
    groups: Iterable[list[tuple[int, Any]]],
    make_context: Callable[[], Any],
    device: torch.device,
) -> Iterator[tuple[int, Any]]:
    """Yield (position, result) of every job of every group, in the order in which the groups finish.

    groups: any iterable of lists of (position, job), asked for the next one only when a slot is near. `function(context, jobs)`
    returns the results of a group, exceptions among them; where it raises, the group is halved on its node, as
    `workers.run_together` does. A task at which three workers die gives `WorkerDied` to its jobs. Raises the exception that
    `make_context` raised, and InputError where a node has other code.
    """
    groups = iter(groups)
    if (first := next(groups, None)) is None:
        return
    connect()
    work = Run(function, make_context, device)
    work.again.append(Piece(first))
    with probe(bool(work.paths)) as name:
        order = node.Order(work.work, node.versions(), os.getcwd(), name, device.type)
        last, warned = time.monotonic(), False
        try:
            while True:
                for _ in range(max(1, 2 * slots(device)) - len(work.flying)):
                    piece = work.again.popleft() if work.again else Piece(next(groups, []))
                    if not piece.group:
                        break
                    work.submit(piece, order)
                if not work.flying:
                    return
                ready, _ = ray.wait(list(work.flying), timeout=LOOK)
                if ready:
                    last = time.monotonic()
                elif time.monotonic() > last + PATIENCE and not warned and not slots(device):
                    warned = True
                    tqdm.write(
                        "notice: no node is left in the Ray cluster that could do this; it goes on when one joins",
                        file=sys.stderr,
                    )
                for reference in ready:
                    yield from work.results(reference)
        except SystemError as error:
            # What a signal raises within Ray's compiled code, if it is not KeyboardInterrupt, is the cause of this one.
            raise (error.__cause__ or error) from None
        finally:
            for reference in work.flying:
                ray.cancel(reference, force=True)
