"""Jobs that share an accelerator: their steps are started in turns, from one process.

A recorded step costs the host some ten microseconds, and the step of a small network
fills a few per cent of a GPU. So several jobs run at once, in lanes. On CUDA each lane
has a stream of its own. Meanwhile a thread prepares the data of the next job, which for
images takes as long as the training of a small network.
"""

import contextlib
import functools
import gc
import itertools
import random
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn

from pipeline.project.errors import notice

MAX_LANES = 16
"""Number of lanes at most (our choice; docs/speed.md has what 4 and 16 gain)."""

MEMORY_FRACTION = 0.7
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

    def result(self, seconds: float) -> Any:
        """Return the result.

        Args:
            seconds: The task's share of the time since it began.
        """


def can_record(device: torch.device) -> bool:
    """Return whether steps on a device can be recorded."""
    return device.type == "cuda"


class Recorder:
    """Records what functions do on a GPU as CUDA graphs, without doing it.

    After one failure it records nothing more, because older versions of PyTorch do not
    recover from a failed capture.
    """

    def __init__(self) -> None:
        self.failed = False

    def __call__(self, function: Callable[[], None]) -> Callable[[], None] | None:
        """Record a function.

        Args:
            function: Uses the current stream, and the same memory whenever it is
                called.

        Returns:
            A function that replays the graph on the current stream. None if the
            function cannot be recorded: if it reads a number from the device, or if it
            draws random numbers on the host, which a replay would not draw again.
        """
        if self.failed:
            return None
        before = _host_random_state()
        try:
            replay = _capture(function)
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            self.failed = True
            reason = str(error).partition("\n")[0]
            notice(f"networks train without CUDA graphs from now on: {reason}")
            return None
        if _host_random_state() != before:
            notice(
                "a network draws random numbers on the CPU in its forward pass, so it "
                "trains without CUDA graphs"
            )
            return None
        return replay


def _capture(function: Callable[[], None]) -> Callable[[], None]:
    """Record a function on the current stream, which must not be the default one."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
        function()
    return graph.replay


def _host_random_state() -> tuple[bytes, Any, str]:
    """Return the state of the random numbers of PyTorch, Python and NumPy."""
    torch_state = torch.random.get_rng_state().numpy().tobytes()
    return torch_state, random.getstate(), repr(np.random.get_state())


def align_gradients(network: nn.Module) -> None:
    """Give gradients the strides of their parameters, as fused optimisers require.

    The stride of a dimension of length 1 is arbitrary, and PyTorch may choose another
    one for the gradient than the parameter has.
    """
    for parameter in network.parameters():
        parameter.register_post_accumulate_grad_hook(_align_gradient)


def _align_gradient(parameter: nn.Parameter) -> None:
    gradient = parameter.grad
    if gradient.stride() != parameter.stride():
        parameter.grad = gradient.as_strided(parameter.shape, parameter.stride())


class Prepared:
    """A job with its data, which a thread prepares.

    Attributes:
        job: The job.
    """

    def __init__(
        self, job: Any, prepare: Callable[[Any], Any], thread: ThreadPoolExecutor
    ) -> None:
        """Have the thread prepare the data.

        Args:
            job: The job.
            prepare: Makes the data of a job.
            thread: The thread.
        """
        self.job = job
        self._prepare = prepare
        self._coming: Future | None = thread.submit(prepare, job)

    def take(self) -> Any:
        """Return the data, and let go of them: a second call prepares them again."""
        coming = self._coming
        self._coming = None
        return self._prepare(self.job) if coming is None else coming.result()


def prepare_ahead(jobs: Iterable, prepare: Callable[[Any], Any]) -> Iterator[Prepared]:
    """Yield jobs, while a thread prepares the data of the next one.

    Args:
        jobs: The jobs.
        prepare: Makes the data of a job. No other thread may draw random numbers of
            PyTorch meanwhile, if it does.
    """
    with ThreadPoolExecutor(1) as thread:
        waiting = None
        for job in jobs:
            coming = Prepared(job, prepare, thread)
            if waiting is not None:
                yield waiting
            waiting = coming
        if waiting is not None:
            yield waiting


class _Lane:
    """A job on its way."""

    def __init__(
        self,
        job: Prepared,
        start: Callable[[Prepared], Task],
        stream: torch.cuda.Stream | None,
    ) -> None:
        self.job = job
        self.start = start
        self.stream = stream
        self.seconds = 0.0
        self.task: Task | None = None
        self.result: Any = None

    def advance(self) -> bool:
        """Make a step; return whether the job has its result, which may be an error."""
        try:
            with on(self.stream):
                if self.task is None:
                    self.task = self.start(self.job)
                self.task.advance()
                if not self.task.finished:
                    return False
                self.result = self.task.result(self.seconds)
        except Exception as error:
            # Its frames, and cycles of its objects, would keep data on the device.
            self.result = error.with_traceback(None)
            self.task = None
            gc.collect()
        self.task = None
        return True


def new_stream(device: torch.device) -> torch.cuda.Stream | None:
    """Return a stream of a CUDA device; None for another accelerator."""
    return torch.cuda.Stream(device) if device.type == "cuda" else None


def on(stream: torch.cuda.Stream | None) -> contextlib.AbstractContextManager:
    """Context in which operations go to a stream, if there is one."""
    return contextlib.nullcontext() if stream is None else torch.cuda.stream(stream)


def run(
    start: Callable[[Any, Any, Any], Task],
    prepare: Callable[[Any, Any], Any],
    jobs: Iterable,
    make_context: Callable[[], Any],
    kind: Callable[[Any], Hashable],
    device: torch.device,
    at_most: int = MAX_LANES,
) -> Iterator[tuple[Any, Any]]:
    """Do many jobs, several at once.

    The first job of a kind runs alone until it is known how much memory it takes. A job
    that runs out of memory beside others is done again when they are finished. Jobs
    that raise another exception have it as their result.

    Args:
        start: Called as `start(context, job, data)`; returns the job's task.
        prepare: Called as `prepare(context, job)` in a thread; returns the job's data.
        jobs: Asked for a job only when a lane is free for the one before it.
        make_context: Called once.
        kind: Tells jobs apart that may take different amounts of memory.
        device: The accelerator.
        at_most: Number of lanes at most.

    Yields:
        Each job with its result, as soon as it has one.
    """
    context = make_context()
    streams = [new_stream(device) for _ in range(at_most)]

    def begin(prepared: Prepared) -> Task:
        return start(context, prepared.job, prepared.take())

    ahead = prepare_ahead(jobs, functools.partial(prepare, context))
    for _, alike in itertools.groupby(ahead, lambda prepared: kind(prepared.job)):
        yield from _run_alike(begin, alike, streams, device)


def _run_alike(
    begin: Callable[[Prepared], Task],
    jobs: Iterator[Prepared],
    streams: list[torch.cuda.Stream | None],
    device: torch.device,
) -> Iterator[tuple[Any, Any]]:
    """Do jobs of one kind, at most one per stream at once."""
    lanes: list[_Lane] = []
    free = list(streams)
    again: list[Prepared] = []
    allowed = 1
    measured = False
    reserved = _reserved(device)
    last = time.monotonic()
    while True:
        while len(lanes) < allowed:
            job = next(jobs, None)
            if job is None and not lanes and again:
                job = again.pop()
                allowed = 1
            if job is None:
                break
            lanes.append(_Lane(job, begin, free.pop()))
        if not lanes:
            return
        for lane in list(lanes):
            if lane.advance():
                lanes.remove(lane)
                free.append(lane.stream)
                if lanes and isinstance(lane.result, torch.OutOfMemoryError):
                    allowed = len(lanes)
                    again.append(lane.job)
                else:
                    yield lane.job.job, lane.result
            elif not measured and lane.task.shareable:
                measured = True
                size = _reserved(device) - reserved
                allowed = _room(device, size, len(streams))
        now = time.monotonic()
        for lane in lanes:
            lane.seconds += (now - last) / len(lanes)
        last = now


def _reserved(device: torch.device) -> int:
    """Return the bytes of the device that this process uses."""
    if device.type != "cuda":
        return 0
    torch.cuda.empty_cache()  # what earlier jobs have left belongs to no job
    return torch.cuda.memory_reserved(device)


def _room(device: torch.device, size: int, at_most: int) -> int:
    """Return how many tasks have room, given the bytes of one that is there already."""
    if device.type != "cuda":
        return at_most
    free, _ = torch.cuda.mem_get_info(device)
    # A second graph, of an epoch's last batch, comes on top.
    return min(at_most, 1 + int(MEMORY_FRACTION * free / (2 * max(1, size))))
