"""Many pieces of work: every one's result or error comes back, whichever finishes first."""

import functools
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import torch
from structure import ROOT

from pipeline.machine import workers
from pipeline.project.errors import InputError


def make_context(base):
    return {"base": base, "threads": torch.get_num_threads()}


def add_or_fail(context, job):
    if job == 3:
        raise ValueError("three")
    return context["base"] + job, context["threads"]


def die(context, job):
    os._exit(9)


@pytest.mark.slow
def test_results_and_errors_come_back_by_position():
    found = dict(workers.run(add_or_fail, range(6), functools.partial(make_context, 10), torch.device("cpu")))
    assert isinstance(found.pop(3), ValueError)
    assert found == {n: (10 + n, 1) for n in (0, 1, 2, 4, 5)}, "and every worker has one thread"


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert workers.device_of("auto") == workers.device_of("cpu") == torch.device("cpu")
    with pytest.raises(InputError, match="PyTorch finds no CUDA device"):
        workers.device_of("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert workers.device_of("auto") == workers.device_of("cuda") == torch.device("cuda")


def test_on_a_gpu_the_work_is_done_in_this_process():
    found = dict(workers.run(add_or_fail, range(5), functools.partial(make_context, 10), torch.device("cuda")))
    assert isinstance(found.pop(3), ValueError)
    assert {n: value for n, (value, _) in found.items()} == {0: 10, 1: 11, 2: 12, 4: 14}


def test_nothing_to_do_starts_nothing():
    assert list(workers.run(die, [], functools.partial(make_context, 0), torch.device("cpu"))) == []


@pytest.mark.slow
def test_a_worker_that_dies_is_said_in_one_sentence():
    with pytest.raises(InputError, match="a worker process died"):
        list(workers.run(die, [1], functools.partial(make_context, 0), torch.device("cpu")))


def note_and_wait(_, path):
    with open(path, "a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(60)


@pytest.mark.slow
def test_workers_leave_when_their_parent_is_killed(tmp_path):
    code = (
        "import torch; from pipeline.machine import workers; from test_workers import note_and_wait\n"
        f"if __name__ == '__main__': list(workers.run(note_and_wait, ['{tmp_path}/pids'] * 2, dict, torch.device('cpu')))"
    )
    (tmp_path / "parent.py").write_text(code)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(__file__).parent), str(ROOT / "tests")])
    }
    parent = subprocess.Popen([sys.executable, str(tmp_path / "parent.py")], env=environment)
    while not (tmp_path / "pids").exists() and parent.poll() is None:
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    (worker, *_) = map(int, (tmp_path / "pids").read_text().split())
    deadline = time.monotonic() + 30
    while psutil.pid_exists(worker) and psutil.Process(worker).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the worker outlives its parent"
        time.sleep(0.05)


@pytest.mark.slow
def test_jobs_are_asked_for_only_when_they_are_needed():
    given, wanted = [], [True]

    def jobs():
        for number in range(1000):
            if not wanted[0]:
                return
            given.append(number)
            yield 10 + number

    for position, _ in workers.run(add_or_fail, jobs(), functools.partial(make_context, 0), torch.device("cpu")):
        wanted[0] = wanted[0] and position < 6
    assert 7 <= len(given) < 8 + 2 * workers.cores()


class Room:
    """A device on which so many jobs fit at once; it notes the groups that were done."""

    def __init__(self, size):
        self.size, self.done = size, []

    def work(self, context, jobs):
        assert context == "the data"
        if len(jobs) > self.size:
            raise torch.OutOfMemoryError(f"{len(jobs)} do not fit")
        self.done.append(jobs)
        return [ValueError("five") if job == 15 else -job for job in jobs]


def test_a_group_that_does_not_fit_is_halved_in_order():
    groups, room = [[(n, 10 + n) for n in range(7)], [(n, 10 + n) for n in range(7, 9)]], Room(2)
    found = list(workers.run_together(room.work, groups, lambda: "the data"))
    assert [position for position, _ in found] == list(range(9))
    assert room.done == [[10], [11, 12], [13, 14], [15, 16], [17, 18]]
    results = dict(found)
    assert isinstance(results.pop(5), ValueError)
    assert results == {n: -(10 + n) for n in (0, 1, 2, 3, 4, 6, 7, 8)}


def test_a_job_that_fits_nowhere_is_given_its_own_error():
    found = dict(workers.run_together(Room(0).work, [[(4, 14), (1, 11)]], lambda: "the data"))
    assert set(found) == {1, 4} and all(isinstance(error, torch.OutOfMemoryError) for error in found.values())
    assert all(str(error) == "1 do not fit" and error.__traceback__ is None for error in found.values())
