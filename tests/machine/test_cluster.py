"""Dask behind `workers.run`, with a scheduler and two workers on this machine: what is
refused, and the bytes of a local run even if a worker is killed."""

import contextlib
import dataclasses
import functools
import json
import os
import socket
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import psutil
import pytest
import torch
from hand_overs import lay_down_plans
from small_grids import (
    ARCHITECTURES,
    HOW,
    lay_down_nads,
    lay_down_plan,
    orthonormal,
    plan_of,
)
from structure import ROOT

from pipeline import estimate, evaluate, generate, train
from pipeline.machine import workers
from pipeline.nads.estimator import Estimator, NADsPlan, Request, Source
from pipeline.project import artifacts, errors
from pipeline.project.errors import InputError

pytest.importorskip(
    "distributed", reason="Dask is not installed (requirements-cluster.txt)"
)

from pipeline.machine import cluster  # noqa: E402

pytestmark = pytest.mark.slow

CPU = torch.device("cpu")
SETTINGS = {"eps1": 1.0, "eps2": 0.5, "sigma": 1.0}
LONGER = dataclasses.replace(HOW, epochs=10)
ESTIMATOR = Estimator("secant", "readout", 100.0, "normal", False, False)
STAGES = {
    "train": (lambda: train.main("linear_pairs"), artifacts.MODELS),
    "evaluate": (
        lambda: evaluate.main("linear_pairs"),
        artifacts.REPORTS / "linear_pairs",
    ),
    "estimate": (estimate.main, artifacts.NADS),
}


class Cluster:
    """A scheduler with workers, which are processes of this machine."""

    def __init__(self, folder):
        self.file = folder / "scheduler.json"
        self.folder = folder
        self.processes = []
        self.start("dask_scheduler", "--port", "0")
        while not self.file.exists():
            time.sleep(0.1)

    def start(self, module, *options):
        """Start a scheduler or a worker."""
        folders = [ROOT, ROOT / "tests/support", Path(__file__).parent]
        path = ":".join([*map(str, folders), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", f"distributed.cli.{module}", *options]
        process = subprocess.Popen(
            [*command, "--scheduler-file", str(self.file), "--no-dashboard"],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": path},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.processes.append(process)
        return process

    def add_worker(self, threads=1):
        """Start a worker, and wait until all workers have joined."""
        process = self.start("dask_worker", "--nthreads", str(threads))
        cluster._client().wait_for_workers(len(self.processes) - 1, timeout=120)
        return process

    def stop(self, process):
        """Kill a process with its children, as a power cut would."""
        family = psutil.Process(process.pid)
        for each in [*family.children(recursive=True), family]:
            each.kill()
        process.wait()
        self.processes.remove(process)


@pytest.fixture(scope="module", autouse=True)
def dask(tmp_path_factory):
    """A cluster of two workers with one thread each."""
    cluster._client.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("project"))
        dask = Cluster(tmp_path_factory.mktemp("cluster"))
        patch.setenv("NADS_CLUSTER", json.loads(dask.file.read_text())["address"])
        dask.add_worker()
        dask.add_worker()
        yield dask
        cluster._client().close()
        cluster._client.cache_clear()
        for process in dask.processes[::-1]:
            dask.stop(process)


def add(context, job):
    """A job of the tests."""
    return context + job


def test_results_come_back_with_their_jobs():
    found = dict(workers.run(add, range(50), functools.partial(int, 100), CPU))
    assert found == {number: 100 + number for number in range(50)}
    assert (
        workers.count_slots(CPU) == 2
        and workers.device_name(CPU) == "2 cores of a cluster"
    )


def test_jobs_are_asked_for_only_when_a_worker_is_free():
    given = []
    done = 0

    def jobs():
        for number in range(100):
            given.append(number)
            yield number

    for _ in workers.run(add, jobs(), functools.partial(int, 0), CPU):
        done += 1
        assert len(given) <= done + 2


def refusal(action):
    """The reason of a worker that refuses jobs."""
    with pytest.raises(InputError) as caught:
        action()
    assert caught.value.kind == "cluster"
    return caught.value.fields["reason"]


def run():
    """Four jobs on the cluster."""
    return list(workers.run(add, range(4), int, CPU))


def test_a_worker_that_does_not_share_the_folder_or_has_another_torch_ends_the_run(
    monkeypatch,
):
    with monkeypatch.context() as patch:
        probe = contextlib.nullcontext(types.SimpleNamespace(name="/nowhere/probe"))
        patch.setattr(cluster.tempfile, "NamedTemporaryFile", lambda **_: probe)
        assert os.getcwd() in refusal(run)
    version = torch.__version__
    monkeypatch.setattr(torch, "__version__", "1.0")
    assert version in refusal(run)


def test_a_worker_with_several_threads_ends_the_run(dask):
    worker = dask.add_worker(threads=2)
    jobs = workers.run(add, range(100), int, CPU)
    assert "--nthreads 1" in refusal(lambda: list(jobs))
    dask.stop(worker)


def import_own(_, job):
    """A job that imports a module of the project's own/."""
    sys.path.insert(0, "own")
    import older

    return older.__name__


def write_module(monkeypatch):
    """Write the module of `import_own`, before a command starts."""
    Path("own").mkdir(exist_ok=True)
    Path("own/older.py").touch()
    time.sleep(0.05)  # the clock of files is behind
    monkeypatch.setattr(errors, "STARTED", time.time())


def test_a_worker_that_has_loaded_older_code_ends_the_run(monkeypatch):
    write_module(monkeypatch)
    cluster._client().restart()
    assert dict(workers.run(import_own, range(20), int, CPU))[19] == "older"
    write_module(monkeypatch)
    jobs = workers.run(add, range(20), int, CPU)
    assert "edited" in refusal(lambda: list(jobs))
    cluster._client().restart()
    assert len(run()) == 4


def test_a_cluster_has_no_gpu_here(monkeypatch):
    assert workers.find_device("auto") == workers.find_device("cpu") == CPU
    with pytest.raises(InputError) as caught:
        workers.find_device("cuda")
    assert caught.value.kind == "conflict"
    assert caught.value.fields == {"device": "cuda"}


def test_an_address_where_nothing_answers_is_refused(monkeypatch):
    monkeypatch.setattr(cluster, "TIMEOUT", 2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("NADS_CLUSTER", f"tcp://127.0.0.1:{server.getsockname()[1]}")
    with pytest.raises(InputError) as caught:
        cluster._client.__wrapped__()
    assert caught.value.kind == "cluster"
    assert caught.value.fields == {"address": os.environ["NADS_CLUSTER"]}


def die(folder, job):
    """Job 1 kills its process at every try."""
    if job == 1:
        os.kill(os.getpid(), 9)
    return job


def test_a_job_that_kills_its_workers_fails_and_the_others_do_not():
    found = dict(workers.run(die, range(6), dict, CPU))
    assert found.pop(1).kind == "crash"
    assert found == {number: number for number in (0, 2, 3, 4, 5)}


@pytest.fixture
def project(folder):
    """A folder with the package, a grid of six cells and their data, and an estimate of
    48 networks."""
    grids = {
        "lenet": {"indices": (1,)},
        "logreg": {"indices": (1, 9)},
        "mlp": {"indices": (1,)},
    }
    lay_down_plan(
        plan_of(
            "linear_pairs", SETTINGS, grids, seeds=(3,), samples=(2000, 64), how=LONGER
        )
    )
    lay_down_nads(**dict.fromkeys(grids, orthonormal()))
    generate.main("linear_pairs")
    members = {
        "lenet": Request(ARCHITECTURES["lenet"], Source(48, None, (1, 32, 32), 8))
    }
    lay_down_plans(nads=NADsPlan("smoke", 7, ESTIMATOR, members))
    return folder


def laid_down(folder):
    """The bytes of every file below a folder, by path."""
    return {
        path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def kill_when_busy(dask, worker):
    """Kill a worker once it works."""
    family = psutil.Process(worker.pid)
    child = family.children()[-1]
    while child.cpu_percent(0.2) < 20:
        pass
    dask.stop(worker)


def test_a_worker_that_is_killed_changes_no_byte(project, dask, monkeypatch, capfd):
    worker = dask.add_worker()
    expected = {}
    with monkeypatch.context() as patch:
        patch.delenv("NADS_CLUSTER")
        for name, (stage, folder) in STAGES.items():
            stage()
            expected[name] = laid_down(folder)
    for path in Path(".cells").rglob("*.safetensors"):
        path.unlink()
    killer = threading.Thread(target=kill_when_busy, args=(dask, worker), daemon=True)
    killer.start()
    capfd.readouterr()
    for name, (stage, folder) in STAGES.items():
        stage()
        assert laid_down(folder) == expected[name], name
    killer.join(1)
    assert not killer.is_alive()
    assert (
        "linear_pairs: 6 cells trained, 0 reused, 0 failed; " in capfd.readouterr().out
    )
