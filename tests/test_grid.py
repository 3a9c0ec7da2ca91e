"""Many pieces of work: every one's result or error comes back, whichever finishes first."""

import functools
import os
import subprocess
import sys
import time

import psutil
import pytest
import torch
from structure import ROOT

from pipeline.machine import workers
from pipeline.project.errors import InputError


def make_context(base):
    return {"base": base, "threads": torch.get_num_threads()}


def add_or_fail(context, recipe):
    if recipe == 3:
        raise ValueError("three")
    return context["base"] + recipe, context["threads"]


def die(context, recipe):
    os._exit(9)


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


def test_a_worker_that_dies_is_said_in_one_sentence():
    with pytest.raises(InputError, match="a worker process died"):
        list(workers.run(die, [1], functools.partial(make_context, 0), torch.device("cpu")))


def note_and_wait(_, path):
    with open(path, "a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(60)


def test_workers_leave_when_their_parent_is_killed(tmp_path):
    code = (
        "import torch; from pipeline import grid; from test_grid import note_and_wait\n"
        f"if __name__ == '__main__': list(workers.run(note_and_wait, ['{tmp_path}/pids'] * 2, dict, torch.device('cpu')))"
    )
    (tmp_path / "parent.py").write_text(code)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "tests")))}
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


def test_recipes_are_asked_for_only_when_they_are_needed():
    given, wanted = [], [True]

    def recipes():
        for number in range(1000):
            if not wanted[0]:
                return
            given.append(number)
            yield 10 + number

    for position, _ in workers.run(add_or_fail, recipes(), functools.partial(make_context, 0), torch.device("cpu")):
        wanted[0] = position < 6
    assert 7 <= len(given) < 8 + 2 * workers.cores()
