"""Many jobs: every one's result or error comes back, whichever finishes first and
whatever dies."""

import functools
import os
import signal
import threading
import time
from pathlib import Path

import psutil
import pytest
import threadpoolctl
import torch
from refusals import refused

from pipeline.machine import worker, workers
from pipeline.project import errors
from pipeline.project.errors import InputError, check_unchanged

CPU = torch.device("cpu")
CUDA = torch.device("cuda")


def run(function, jobs, make_context=dict):
    """The results by job, from worker processes."""
    return dict(workers.run(function, jobs, make_context, CPU))


def add_or_fail(context, job):
    if job == 3:
        raise ValueError("three")
    return context + job


@pytest.mark.parametrize("device", [CPU, CUDA], ids=["processes", "this process"])
def test_results_and_errors_come_back_with_their_jobs(device):
    found = dict(workers.run(add_or_fail, range(6), functools.partial(int, 10), device))
    error = found.pop(3)
    assert isinstance(error, ValueError) and str(error) == "three"
    assert found == {n: 10 + n for n in (0, 1, 2, 4, 5)}
    if device == CPU:
        assert "in add_or_fail" in error.__notes__[0], "where it was raised is told"


def sleep(_, seconds):
    time.sleep(seconds)
    return os.getpid()


def test_what_is_done_first_comes_first_and_a_worker_does_many_jobs(monkeypatch):
    monkeypatch.setattr(workers, "cores", lambda: 2)
    found = list(workers.run(sleep, [2.0, 0.0, 0.0, 0.0], dict, CPU))
    assert [seconds for seconds, _ in found] == [0.0, 0.0, 0.0, 2.0]
    assert len({worker for _, worker in found} - {os.getpid()}) == 2


def context_made(folder):
    noted(folder, os.getpid())
    return folder


def surroundings(context, job):
    threads = {pool["num_threads"] for pool in threadpoolctl.threadpool_info()}
    found = {name: os.environ.get(name) for name in worker.ENVIRONMENT}
    tf32 = torch.backends.cudnn.allow_tf32 or torch.backends.cuda.matmul.allow_tf32
    return context, job, torch.get_num_threads(), threads, found, tf32


def test_a_worker_has_one_context_one_thread_and_whole_products(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    found = run(surroundings, range(20), functools.partial(context_made, str(tmp_path)))
    assert found == {
        n: (str(tmp_path), n, 1, {1}, worker.ENVIRONMENT, False) for n in range(20)
    }
    assert all(path.read_text().count("\n") == 1 for path in tmp_path.iterdir())


def broken_data():
    raise InputError("the data are not there", "missing-file", path="data")


@pytest.mark.parametrize("device", [CPU, CUDA], ids=["processes", "this process"])
def test_what_makes_no_context_is_raised_once_and_no_jobs_result(device):
    with refused("missing-file", path="data"):
        list(workers.run(add_or_fail, range(50), broken_data, device))


def test_jobs_are_asked_for_only_when_a_worker_is_free():
    given = []
    done = 0

    def jobs():
        for number in range(100, 1100):
            if done > 6:  # as where the results so far are enough
                return
            given.append(number)
            yield number

    for _ in workers.run(add_or_fail, jobs(), functools.partial(int, 0), CPU):
        done += 1
        assert len(given) <= done + 2 * workers.cores()
    assert done == len(given) < 8 + 2 * workers.cores()


def noted(folder, name):
    """Append this process's number to a file of its own; returns how many lines it then
    has."""
    path = Path(folder) / str(name)
    with path.open("a") as file:
        file.write(f"{os.getpid()}\n")
    return len(path.read_text().splitlines())


def die(folder, job):
    """Job 1 kills its process at its first try, job 2 at every one; each try is
    noted."""
    tries = noted(folder, job)
    if job == 2 or (job == 1 and tries == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.2)  # so that others are under way when a worker dies
    return job + 10


def test_a_job_that_kills_three_workers_fails_and_no_other_job_does(tmp_path):
    found = run(die, range(8), functools.partial(str, tmp_path))
    assert found.pop(2).kind == "crash"
    assert found == {n: n + 10 for n in (0, 1, 3, 4, 5, 6, 7)}
    tries = {
        int(path.name): len(path.read_text().splitlines())
        for path in tmp_path.iterdir()
    }
    assert tries[1] >= 2 and all(count <= 3 for count in tries.values())


def finish_then_die(folder, job):
    """Job 9 kills its process after the others are done; each try is noted."""
    if noted(folder, job) == 1 and job == 9:
        time.sleep(2)
        os.kill(os.getpid(), signal.SIGKILL)
    return job


def test_no_job_that_was_done_is_done_again_after_a_crash(tmp_path, monkeypatch):
    """Also if its result was not asked for yet."""
    monkeypatch.setattr(workers, "cores", lambda: 2)
    results = workers.run(
        finish_then_die, [9, 0], functools.partial(str, tmp_path), CPU
    )
    assert next(results) == (0, 0)
    assert list(results) == [(9, 9)]
    tries = {
        path.name: len(path.read_text().splitlines()) for path in tmp_path.iterdir()
    }
    assert tries == {"0": 1, "9": 2}


def leave(_, job):
    raise SystemExit(job)


def test_a_job_that_calls_exit_fails_alone():
    found = run(leave, range(3))
    assert [result.kind for result in found.values()] == ["crash"] * 3


def wait_at_first(folder, job):
    """Job 0 waits to be killed at its first try."""
    if noted(folder, job) == 1 and job == 0:
        time.sleep(600)
    return job


def numbered(context, job):
    return os.getpid(), context + job


def misbehave(_, job):
    return threading.Lock() if job == "lock" else torch.arange(3.0)


def test_whatever_a_job_gives_is_its_own_result(capfd):
    found = run(misbehave, ["lock", "tensor"])
    assert isinstance(found["lock"], Exception) and "pickle" in str(found["lock"])
    assert found["tensor"].tolist() == [0, 1, 2]
    assert capfd.readouterr().err == ""


def test_workers_end_where_no_more_results_are_wanted(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "cores", lambda: 2)
    results = workers.run(
        wait_at_first, [1, 0, 0, 0], functools.partial(str, tmp_path), CPU
    )
    next(results)
    while not (begun := tmp_path / "0").exists() or not begun.read_text():
        time.sleep(0.01)
    busy = psutil.Process(int(begun.read_text().splitlines()[0]))
    results.close()
    assert not psutil.wait_procs([busy], 20)[1]


def test_workers_do_the_jobs_of_one_run_after_another(monkeypatch):
    monkeypatch.setattr(workers, "cores", lambda: 1)
    first, second = (run(numbered, [0, 1], functools.partial(int, n)) for n in (10, 20))
    assert len({worker for worker, _ in [*first.values(), *second.values()]}) == 1
    assert [sums for _, sums in [*first.values(), *second.values()]] == [10, 11, 20, 21]


def check(_, job):
    check_unchanged()


def test_a_worker_knows_when_its_command_started(monkeypatch):
    assert run(check, range(3)) == dict.fromkeys(range(3))
    monkeypatch.setattr(errors, "STARTED", 0.0)
    found = run(check, range(3)).values()
    assert [result.kind for result in found] == ["edited"] * 3


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    def there(device):
        return monkeypatch.setattr(
            torch.accelerator, "current_accelerator", lambda check_available: device
        )

    there(None)
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = True
    assert workers.find_device("auto") == workers.find_device("cpu") == CPU
    with refused("missing-device", device="cuda"):
        workers.find_device("cuda")
    there(CUDA)
    assert workers.find_device("auto") == workers.find_device("cuda") == CUDA
    there(torch.device("mps"))
    assert workers.find_device("auto") == CPU, (
        "what was never tried is taken by name alone"
    )
    assert workers.device_name(workers.find_device("mps")) == "1 mps"
    with refused("missing-device", device="xpu"):
        workers.find_device("xpu")
    assert not (
        torch.backends.cudnn.allow_tf32 or torch.backends.cuda.matmul.allow_tf32
    )


def test_a_cluster_without_dask_is_refused_before_any_work(monkeypatch):
    monkeypatch.setenv("NADS_CLUSTER", "tcp://127.0.0.1:8786")
    monkeypatch.setattr(workers.importlib.util, "find_spec", lambda name: None)
    with refused("missing-package", package="distributed"):
        workers.find_device("cpu")
