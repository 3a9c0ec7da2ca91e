"""Ray behind `workers.run`: on a cluster of two nodes on this machine, the same results as by processes, whatever dies."""

import collections
import dataclasses
import functools
import os
import platform
import socket
from pathlib import Path

import pytest
import torch
from asked_for import asked_for
from structure import ROOT

from pipeline.evaluate import Trained
from pipeline.grid.data import Data
from pipeline.grid.jobs import Job
from pipeline.machine import store, workers
from pipeline.machine.processes import WorkerDied
from pipeline.project.errors import InputError

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """`pipeline.machine.cluster`, joined to a cluster of two nodes with one core each, from a folder with data in it."""
    ray = pytest.importorskip("ray", reason="Ray is not installed (requirements-cluster.txt)")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("project"))
        (Path("data") / "datasets" / "small").mkdir(parents=True)
        Path("data/datasets/small/numbers").write_text("10 20")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv(
            "PYTHONPATH", f"{ROOT}:{ROOT / 'tests'}:{Path(__file__).parent}:{os.environ.get('PYTHONPATH', '')}"
        )
        nodes = Cluster(True, head_node_args={"num_cpus": 1, "include_dashboard": False, "object_store_memory": 10**8})
        nodes.add_node(num_cpus=1, object_store_memory=10**8)
        nodes.wait_for_nodes()
        patch.setenv("NADS_EXECUTOR", "ray")
        patch.setenv("RAY_ADDRESS", nodes.address)
        found = workers.by_ray()
        found.connect()
        yield found
        ray.shutdown()
        nodes.shutdown()


def run(function, jobs, make_context=dict):
    """The results by position."""
    return dict(workers.run(function, jobs, make_context, CPU))


def base(number):
    return {"base": number, "threads": torch.get_num_threads(), "gpus": os.environ["CUDA_VISIBLE_DEVICES"]}


def add_or_fail(context, job):
    if job == 3:
        raise ValueError("three")
    return context["base"] + job, context["threads"], context["gpus"], os.environ["NADS_EXECUTOR"]


@pytest.mark.slow
def test_results_and_errors_come_back_by_position_from_one_thread_that_sees_no_gpu(cluster):
    found = run(add_or_fail, range(6), functools.partial(base, 10))
    error = found.pop(3)
    assert isinstance(error, ValueError) and "in add_or_fail" in error.__notes__[0]
    assert found == {n: (10 + n, 1, "", "local") for n in (0, 1, 2, 4, 5)}


@pytest.mark.slow
def test_jobs_are_asked_for_only_when_they_are_needed(cluster):
    started = lambda jobs: workers.run(add_or_fail, jobs, functools.partial(base, 0), CPU)
    assert 7 <= asked_for(started, 6) < 9 + 2 * 2


def die_at_first(folder, job):
    """Job 1 ends its process at its first try, job 2 at every one; each try is noted."""
    path = Path(folder) / str(job)
    with path.open("a") as file:
        file.write("try\n")
    if job == 2 or (job == 1 and path.read_text() == "try\n"):
        os._exit(9)
    return job + 10


@pytest.mark.slow
def test_a_dead_worker_costs_its_job_a_try_and_a_third_death_is_the_jobs_result(cluster, tmp_path, capfd):
    found = run(die_at_first, range(6), functools.partial(str, tmp_path))
    died = found.pop(2)
    assert found == {n: n + 10 for n in (0, 1, 3, 4, 5)}
    assert isinstance(died, WorkerDied) and str(died).startswith(
        "3 workers of Ray or their nodes died at it, one after"
    )
    tries = {int(path.name): len(path.read_text().splitlines()) for path in tmp_path.iterdir()}
    assert tries == {0: 1, 1: 2, 2: 3, 3: 1, 4: 1, 5: 1}, "nothing else is done again"
    assert capfd.readouterr().err.count("notice: Ray lost a worker or its node (WorkerCrashedError); what it did") == 3


@dataclasses.dataclass(frozen=True)
class Written:
    """A job that writes its number, and what it reads, to a file below `folder`."""

    number: int
    folder: str
    file: str | None = None


class Numbers:
    """A context that is read from a file of the project."""

    def __init__(self, name):
        (path,) = Path("data/datasets", name).iterdir()
        self.numbers, self.folder = path.read_text().split(), os.getcwd()

    @staticmethod
    def reads(name):
        return [Path("data/datasets") / name]


def write(context, job):
    path = Path(job.folder) / "ab" / f"{job.number}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{context.numbers[job.number]} {Path(job.file).read_text() if job.file else ''}")
    return job.folder, context.folder


@pytest.mark.slow
def test_the_driver_alone_writes_the_store_and_nodes_that_share_the_disk_read_it(cluster, tmp_path, capfd, monkeypatch):
    puts, atomically = [], store.atomically
    monkeypatch.setattr(store, "atomically", lambda path, write: puts.append(path) or atomically(path, write))
    kept = tmp_path / "cells"
    found = run(write, [Written(n, str(kept)) for n in range(2)], functools.partial(Numbers, "small"))
    assert sorted(puts) == [kept / "ab" / "0", kept / "ab" / "1"]
    assert [path.read_text() for path in sorted(puts)] == ["10 ", "20 "]
    assert all(Path(there) != kept and not Path(there).exists() for there, _ in found.values()), (
        "it was a folder of the node's"
    )
    assert {folder for _, folder in found.values()} == {os.getcwd()}
    (line,) = capfd.readouterr().err.splitlines()
    assert line == f"notice: 2 cores of 2 nodes (Ray); the nodes read the data in {os.getcwd()}, which they share"
    assert [path.name for path in Path("data").iterdir()] == ["datasets"], "the probe is removed"


@pytest.mark.slow
def test_files_are_put_once_on_nodes_that_do_not_share_the_disk(cluster, tmp_path, capfd, monkeypatch):
    """All nodes of this machine do share it: here the file by which they would tell is not there."""
    real = cluster.probe

    def gone(wanted):
        with real(wanted) as name:
            Path(name).unlink()
            yield name

    monkeypatch.setattr(cluster, "probe", cluster.contextlib.contextmanager(gone))
    Path("models").mkdir()
    Path("models/cell").write_text("weights")
    jobs = [Written(n % 2, str(tmp_path / str(n)), "models/cell") for n in range(8)]
    found = run(write, jobs, functools.partial(Numbers, "small"))
    places = {Path(folder) for _, folder in found.values()}
    assert os.getcwd() not in map(str, places) and len(places) <= 2 and len({place.name for place in places}) == 1
    assert [(tmp_path / f"{n}" / "ab" / f"{n % 2}").read_text() for n in range(8)] == ["10 weights", "20 weights"] * 4
    for place in places:
        assert (place / "data/datasets/small/numbers").read_text() == "10 20"
    (line,) = capfd.readouterr().err.splitlines()
    assert line == (
        f"notice: 2 cores of 2 nodes (Ray); {platform.node()} does not share {os.getcwd()}: 0.0 MB of data are sent once to each "
        "such node"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["torch", "pipeline"])
def test_a_node_with_other_code_ends_the_run_in_one_sentence(name, cluster, monkeypatch):
    versions = cluster.node.versions() | {name: "another"}
    monkeypatch.setattr(cluster.node, "versions", lambda: versions)
    with pytest.raises(
        InputError, match=f"^.*, a node of the Ray cluster, has {name} .* and this machine another, so"
    ) as caught:
        run(add_or_fail, range(50), functools.partial(base, 0))
    assert "\n" not in str(caught.value)


def at_most_two(context, jobs):
    if len(jobs) > 2:
        raise torch.OutOfMemoryError(f"{len(jobs)} do not fit")
    if 14 in jobs and not (Path(context) / "died").exists():
        (Path(context) / "died").touch()
        os._exit(1)
    return [ValueError("five") if job == 15 else (-job, len(jobs)) for job in jobs]


@pytest.mark.slow
def test_a_group_is_one_task_and_is_halved_on_its_node(cluster, tmp_path):
    groups = [[(n, 10 + n) for n in range(7)], [(n, 10 + n) for n in range(7, 9)]]
    found = dict(cluster.run(at_most_two, groups, functools.partial(str, tmp_path), CPU))
    assert isinstance(found.pop(5), ValueError)
    sizes = {0: 1, 1: 2, 2: 2, 3: 2, 4: 2, 6: 2, 7: 2, 8: 2}
    assert found == {n: (-(10 + n), size) for n, size in sizes.items()}


def poisoned(_, jobs):
    return os._exit(1) if 12 in jobs else jobs


@pytest.mark.slow
def test_a_job_that_is_the_death_of_its_group_fails_alone(cluster):
    found = dict(cluster.run(poisoned, [[(n, 10 + n) for n in range(4)]], dict, CPU))
    assert isinstance(found.pop(2), WorkerDied) and found == {0: 10, 1: 11, 3: 13}


def full(context, jobs):
    raise store.Unwritable(28, "No space left on device", "cell")


def broken():
    raise InputError("the data are not there")


@pytest.mark.slow
def test_what_ends_every_job_ends_the_run(cluster):
    with pytest.raises(store.Unwritable, match="No space left"):
        list(cluster.run(full, [[(0, 0)], [(1, 1)]], dict, CPU))
    with pytest.raises(InputError, match="^the data are not there$"):
        run(add_or_fail, range(50), broken)


def process(device):
    return os.getpid() if device == CPU else None


@pytest.mark.slow
def test_a_gpu_is_looked_for_in_the_cluster_and_memory_is_asked_for_there(cluster, monkeypatch):
    assert workers.device_of("auto") == workers.device_of("cpu") == CPU
    with pytest.raises(InputError, match="^device is cuda, but Ray finds no node with a GPU; set"):
        workers.device_of("cuda")
    there = workers.room(process, CPU)
    assert there != os.getpid() and there > 0
    assert workers.place(CPU) == "2 cores of 2 nodes (Ray)"
    real = cluster.ray.cluster_resources
    monkeypatch.setattr(cluster.ray, "cluster_resources", lambda: real() | {"CPU": 16.0, "GPU": 4.0})
    assert workers.device_of("auto") == workers.device_of("cuda") == torch.device("cuda")
    assert cluster.slots(torch.device("cuda")) == 4
    monkeypatch.setenv(cluster.SHARE, "0.3")
    assert cluster.slots(torch.device("cuda")) == 13 and cluster._options(torch.device("cuda"))["num_gpus"] == 0.3


@pytest.mark.parametrize("value", ["2", "0", "half", "nan", ""])
def test_a_share_of_a_gpu_that_there_cannot_be_is_refused(value, monkeypatch):
    pytest.importorskip("ray", reason="Ray is not installed (requirements-cluster.txt)")
    from pipeline.machine import cluster

    monkeypatch.setenv(cluster.SHARE, value)
    with pytest.raises(InputError, match=f"^NADS_GPUS_PER_TASK is '{value}'; it must be the part of a GPU"):
        cluster.share()


def test_an_address_where_nothing_answers_is_refused_at_once(monkeypatch):
    pytest.importorskip("ray", reason="Ray is not installed (requirements-cluster.txt)")
    from pipeline.machine import joining

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        joining._reached(f"127.0.0.1:{port}")
    with pytest.raises(InputError, match=f"^nothing answers at RAY_ADDRESS, 127.0.0.1:{port} .*refused"):
        joining._reached(f"127.0.0.1:{port}")
    for address in ("auto", "ray://127.0.0.1:10001/x", "head", "127.0.0.1:"):
        with pytest.raises(InputError, match="^RAY_ADDRESS is .*; it must be HOST:PORT"):
            joining._reached(address)
    with pytest.raises(InputError, match="^nothing answers"):
        joining._reached("127.0.0.1:99999")


def test_who_does_the_work_is_said_by_the_environment_and_checked_before_any(monkeypatch):
    monkeypatch.delenv("NADS_EXECUTOR", raising=False)
    assert workers.by_ray() is None
    monkeypatch.setenv("NADS_EXECUTOR", "rya")
    with pytest.raises(InputError, match="^NADS_EXECUTOR is 'rya'; did you mean 'ray'[?]$"):
        workers.device_of("cpu")
    monkeypatch.setenv("NADS_EXECUTOR", "ray")
    monkeypatch.setattr(workers.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        InputError, match="^NADS_EXECUTOR is ray, but Ray is not installed; `pip install -r requirements-c"
    ):
        workers.device_of("cpu")


def test_jobs_say_what_they_read_and_write_by_the_names_that_a_node_looks_for():
    fields = collections.ChainMap(
        *({field.name: kind for field in dataclasses.fields(kind)} for kind in (Job, Trained))
    )
    assert fields["folder"] is Job and fields["file"] is Trained
    assert callable(Data.reads)


def test_ray_is_pinned_for_those_who_ask_for_it_and_is_no_requirement_of_all():
    (line,) = (
        line for line in (ROOT / "requirements-cluster.txt").read_text().splitlines() if line[:1] not in ("", "#", "-")
    )
    assert line.startswith("ray==")
    assert "ray" not in [line.partition("==")[0] for line in (ROOT / "requirements.txt").read_text().splitlines()]
