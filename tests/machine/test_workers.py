"""Many pieces of work: every one's result or error comes back, whichever finishes first and whatever dies."""

import errno
import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
import torch
from asked_for import asked_for
from structure import ROOT
from worker_processes import worker_processes

from pipeline.machine import forkserver, processes, store, workers
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


def run(function, jobs, make_context=dict):
    """The results by position, from worker processes."""
    return dict(workers.run(function, jobs, make_context, torch.device("cpu")))


def noted(folder, name):
    """Append this process's number to a file of its own; returns how many lines it then has."""
    path = Path(folder) / str(name)
    with path.open("a") as file:
        file.write(f"{os.getpid()}\n")
    return len(path.read_text().splitlines())


def die_at_first(folder, job):
    """Job 1 ends its process at its first try, job 2 at every one; each try is noted."""
    tries = noted(folder, job)
    if job == 2 or (job == 1 and tries == 1):
        os._exit(9)
    return job + 10


@pytest.mark.slow
def test_a_dead_worker_costs_its_job_a_try_and_a_third_death_is_the_jobs_result(tmp_path, capfd):
    found = run(die_at_first, range(6), functools.partial(str, tmp_path))
    died = found.pop(2)
    assert found == {n: n + 10 for n in (0, 1, 3, 4, 5)}
    assert isinstance(died, processes.WorkerDied) and "\n" not in str(died)
    assert str(died).startswith("3 worker processes died at it, one after another (the last ended with status 9); ")
    tries = {int(path.name): len(path.read_text().splitlines()) for path in tmp_path.iterdir()}
    assert tries == {0: 1, 1: 2, 2: 3, 3: 1, 4: 1, 5: 1}, "nothing else is done again"
    line = "notice: a worker process ended with status 9; what it did is tried 3 times\n"
    assert capfd.readouterr().err == 4 * line


def wait_at_first(folder, job):
    """Job 0 waits to be killed at its first try."""
    if noted(folder, job) == 1 and job == 0:
        time.sleep(600)
    return job


@pytest.mark.slow
def test_a_worker_killed_from_outside_is_replaced(tmp_path, capfd):
    def kill():
        while not (tmp_path / "0").exists() or not (tmp_path / "0").read_text().endswith("\n"):
            time.sleep(0.02)
        os.kill(int((tmp_path / "0").read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    assert run(wait_at_first, range(3), functools.partial(str, tmp_path)) == {0: 0, 1: 1, 2: 2}
    killer.join()
    assert "notice: a worker process was ended by SIGKILL; " in capfd.readouterr().err


class Elsewhere:
    """An object that does `function(*arguments)` where it is unpickled in a worker, and nothing in this process."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return in_a_worker, self.call


def in_a_worker(function, arguments):
    return function(*arguments) if multiprocessing.parent_process() else None


def fail():
    raise LookupError("it is not here")


def same(_, job):
    return job


@pytest.mark.slow
def test_jobs_that_cannot_be_unpickled_there_are_failures_and_nothing_waits_for_them(capfd):
    found = run(same, [1, Elsewhere(fail), Elsewhere(os._exit, 3), lambda: None, 5])
    assert (found[0], found[4]) == (1, 5)
    assert isinstance(found[1], LookupError) and str(found[1]) == "it is not here"
    assert isinstance(found[2], processes.WorkerDied) and "the last ended with status 3" in str(found[2])
    assert "pickle" in str(found[3])
    assert "Traceback" not in capfd.readouterr().err


class Strange(Exception):
    """An exception that cannot be made again from what is pickled of it."""

    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


def misbehave(_, job):
    if job == "exit":
        sys.exit(0)
    if job == "strange":
        raise Strange("a", "b")
    return (lambda: None) if job == "lambda" else job


@pytest.mark.slow
def test_whatever_a_job_does_is_its_own_result(capfd):
    found = run(misbehave, ["exit", "strange", "lambda", "good"])
    assert [str(found[n]) for n in (0, 1)] == ["SystemExit: 0", "Strange: a b"]
    assert "pickle" in str(found[2]) and found[3] == "good"
    assert all(isinstance(found[n], Exception) for n in (0, 1, 2))
    assert "in misbehave" in found[1].__notes__[0], "where it was raised is told"
    assert capfd.readouterr().err == ""


def made_at_third(folder):
    """A context at which the first two processes die."""
    return os._exit(7) if noted(folder, "context") < 3 else "the data"


def context_and(context, job):
    return context, job


def broken_data():
    raise InputError("the data are not there")


@pytest.mark.slow
def test_workers_that_die_at_their_data_end_the_run_unless_it_helps_to_try_again(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="^3 worker processes died while they made .* ended with status 4") as caught:
        run(same, range(50), functools.partial(os._exit, 4))
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="^the data are not there$"):
        run(same, range(50), broken_data)
    monkeypatch.setattr(workers, "cores", lambda: 1)
    assert run(context_and, [1], functools.partial(made_at_third, str(tmp_path))) == {0: ("the data", 1)}


@pytest.mark.slow
def test_what_workers_cannot_import_is_said_in_one_sentence(monkeypatch, capfd):
    """As `python -m cProfile -m pipeline.evaluate flip`, whose `__main__` is another one in a worker."""
    monkeypatch.setattr(sys.modules["__main__"], "only_here", fail, raising=False)
    monkeypatch.setattr(fail, "__module__", "__main__")
    monkeypatch.setattr(fail, "__qualname__", "only_here")
    with pytest.raises(InputError, match="cannot import what they are to do .*only_here.* start a stage as"):
        run(fail, range(9))
    monkeypatch.undo()
    with pytest.raises(InputError, match="cannot import what they are to do .*lambda"):
        run(lambda *_: None, range(9))
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.slow
def test_workers_end_at_once_where_no_more_results_are_wanted(tmp_path):
    results = workers.run(wait_at_first, [1, 0, 0, 0], functools.partial(str, tmp_path), torch.device("cpu"))
    next(results)
    there = worker_processes()
    results.close()
    assert there and not [worker for worker in there if worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE]


def environment_of(_, names):
    return {name: os.environ.get(name) for name in names}


@pytest.mark.slow
def test_a_worker_has_the_environment_of_its_parent_as_it_is_now_but_one_thread_and_huge_pages(monkeypatch):
    forkserver.start()
    monkeypatch.setenv("NADS_TEST", "set since")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    found = run(environment_of, [["NADS_TEST", "PATH", *forkserver.WORKER]])[0]
    assert found == {"NADS_TEST": "set since", "PATH": os.environ["PATH"]} | forkserver.WORKER
    assert "OMP_NUM_THREADS" not in os.environ


def imports_of_worker(_, names):
    return os.getppid(), [name in sys.modules for name in names]


@pytest.mark.slow
@pytest.mark.skipif(forkserver.METHOD != "forkserver", reason="workers are no copies here")
def test_the_process_that_workers_are_copies_of_is_started_again_where_it_died():
    servers = []
    for _ in range(2):
        server, imported = run(imports_of_worker, [forkserver.IMPORTED])[0]
        assert all(imported) and server != os.getpid()
        servers.append(psutil.Process(server))
        servers[-1].kill()
        while servers[-1].status() != psutil.STATUS_ZOMBIE:  # multiprocessing buries it itself
            time.sleep(0.01)
    assert servers[0].pid != servers[1].pid


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


def test_a_process_that_cannot_be_started_is_the_reason_that_is_given(monkeypatch):
    """And no thread ends with an exception of its own, which would be a warning here, over a process that there is not."""

    def refused(_):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(processes.CONTEXT.Process, "start", refused)
    with pytest.raises(OSError, match="Too many open files"):
        run(same, [1])


@pytest.mark.slow
def test_jobs_are_asked_for_only_when_they_are_needed():
    started = lambda jobs: workers.run(add_or_fail, jobs, functools.partial(make_context, 0), torch.device("cpu"))
    assert 7 <= asked_for(started, 6) < 8 + 2 * workers.cores()


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


def test_a_store_that_cannot_be_written_ends_work_on_a_gpu_at_its_first_group():
    done = []

    def work(context, jobs):
        done.append(jobs)
        raise store.Unwritable(28, "No space left on device", "cell")

    with pytest.raises(store.Unwritable):
        list(workers.run_together(work, [[(0, 0), (1, 1)], [(2, 2)]], dict))
    assert done == [[0, 1]]
