"""Jobs that share an accelerator: their steps are started in turns, from one process.

A recorded step costs the host some ten microseconds, and the step of a small network
fills a few per cent of a GPU. So several jobs run at once, in lanes. On CUDA each lane
has a stream of its own.
"""

import contextlib
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Protocol

import torch

from pipeline.project.errors import notice

AT_MOST = 16
"""Number of lanes at most (our choice; no GPU has measured it yet)."""

SHARE = 0.7
"""Part of the free memory that lanes may take. The rest is for evaluation."""


class Task(Protocol):
    """A job that is done step by step."""

    finished: bool
    """Whether all steps were made."""

    shareable: bool
    """Whether the device can do steps of other tasks between those of this one. It may
    become true after some steps."""

    def advance(self) -> None:
        """Make one step."""

    def result(self, at_once: int) -> Any:
        """Return the result; `at_once` tasks, this one included, share the device."""


def record(function: Callable[[], None]) -> Callable[[], None] | None:
    """Record what a function does on a GPU as a CUDA graph, without doing it.

    Args:
        function: Uses the current stream, and the same memory whenever it is called.

    Returns:
        A function that replays the graph on the current stream. None if the function
        cannot be recorded, for example since it reads a number from the device.
    """
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
            function()
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        notice(f"a network trains without CUDA graphs, and slower: {reason}")
        return None
    return graph.replay


class _Lane:
    """A job on its way."""

    def __init__(
        self,
        job: Any,
        start: Callable[[Any], Task],
        stream: torch.cuda.Stream | None,
    ) -> None:
        self.job = job
        self.start = start
        self.stream = stream
        self.task: Task | None = None
        self.result: Any = None

    def advance(self, at_once: int) -> bool:
        """Make a step; return whether the job has its result, which may be an error."""
        try:
            with on(self.stream):
                if self.task is None:
                    self.task = self.start(self.job)
                self.task.advance()
                if not self.task.finished:
                    return False
                self.result = self.task.result(at_once)
        except Exception as error:
            # Its frames would keep the job's data on the device.
            self.result = error.with_traceback(None)
        self.task = None
        return True


def new_stream(device: torch.device) -> torch.cuda.Stream | None:
    """Return a stream of a CUDA device; None for another accelerator."""
    return torch.cuda.Stream(device) if device.type == "cuda" else None


def on(stream: torch.cuda.Stream | None) -> contextlib.AbstractContextManager:
    """Context in which operations go to a stream, if there is one."""
    return contextlib.nullcontext() if stream is None else torch.cuda.stream(stream)


def run(
    start: Callable[[Any, Any], Task],
    jobs: Iterable,
    make_context: Callable[[], Any],
    kind: Callable[[Any], Hashable],
    device: torch.device,
    at_most: int = AT_MOST,
) -> Iterator[tuple[Any, Any]]:
    """Do many jobs, several at once.

    The first job of a kind runs alone until it is known how much memory it takes. Jobs
    that raise an exception have it as their result.

    Args:
        start: Called as `start(context, job)`; returns the job's task.
        jobs: Asked for the next job only when a lane is free.
        make_context: Called once.
        kind: Tells jobs apart that may take different amounts of memory.
        device: The accelerator.
        at_most: Number of lanes at most.

    Yields:
        Each job with its result, as soon as it has one.
    """
    context = make_context()
    streams = [new_stream(device) for _ in range(at_most)]

    def begin(job: Any) -> Task:
        return start(context, job)

    for _, alike in itertools.groupby(jobs, kind):
        lanes: list[_Lane] = []
        free = list(streams)
        allowed = 1
        reserved = _reserved(device)
        while True:
            while len(lanes) < allowed and (job := next(alike, None)) is not None:
                lanes.append(_Lane(job, begin, free.pop()))
            if not lanes:
                break
            for lane in list(lanes):
                if lane.advance(len(lanes)):
                    lanes.remove(lane)
                    free.append(lane.stream)
                    yield lane.job, lane.result
                elif allowed == 1 and lane.task.shareable:
                    allowed = _room(device, _reserved(device) - reserved, at_most)


def _reserved(device: torch.device) -> int:
    """Bytes of the device that this process holds."""
    return torch.cuda.memory_reserved(device) if device.type == "cuda" else 0


def _room(device: torch.device, size: int, at_most: int) -> int:
    """Return how many tasks have room, given the bytes of one that is there already."""
    if device.type != "cuda":
        return at_most
    free, _ = torch.cuda.mem_get_info(device)
    return min(at_most, 1 + int(SHARE * free / max(1, size)))
