"""Ray behind `workers.run`: on a cluster of two nodes on this machine, the same results as by
processes, whatever dies."""

import functools
import os
import socket
from pathlib import Path

import pytest
import torch
from structure import ROOT

from pipeline.machine import workers
from pipeline.project.errors import InputError

ray = pytest.importorskip("ray", reason="Ray is not installed (requirements-cluster.txt)")

from pipeline.machine import cluster  # noqa: E402

pytestmark = pytest.mark.slow

CPU = torch.device("cpu")


@pytest.fixture(scope="module", autouse=True)
def _two_nodes(tmp_path_factory):
    """A project's folder with a file of data, and a cluster of two nodes with one core each."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("project"))
        Path("numbers").write_text("10 20")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        folders = ROOT, ROOT / "tests/support", Path(__file__).parent
        patch.setenv("PYTHONPATH", ":".join(map(str, folders)))
        head = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 10**8}
        nodes = Cluster(True, head_node_args=head)
        nodes.add_node(num_cpus=1, object_store_memory=10**8)
        nodes.wait_for_nodes()
        patch.setenv("NADS_EXECUTOR", "ray")
        patch.setenv("RAY_ADDRESS", nodes.address)
        yield
        ray.shutdown()
        nodes.shutdown()


def run(function, jobs, make_context=dict):
    """The results by position."""
    return dict(workers.run(function, jobs, make_context, CPU))


def numbers():
    return Path("numbers").read_text().split(), torch.get_num_threads()


def number_or_failure(context, job):
    if job == 3:
        raise ValueError("three")
    return int(context[0][job % 2]) + job, context[1], os.environ["GLIBC_TUNABLES"], os.getcwd()


def test_results_and_errors_come_back_by_position_from_one_thread_in_the_projects_folder():
    found = run(number_or_failure, range(6), numbers)
    error = found.pop(3)
    assert isinstance(error, ValueError) and str(error) == "three"
    assert "in number_or_failure" in error.__notes__[0]
    same = 1, workers.ENVIRONMENT["GLIBC_TUNABLES"], os.getcwd()
    assert found == {n: (n + (10, 20)[n % 2], *same) for n in (0, 1, 2, 4, 5)}
    assert list(Path(".cells").iterdir()) == [], "the probe is removed"


def test_jobs_are_asked_for_only_when_a_core_is_near_and_the_rest_ends_with_the_results():
    given = []

    def jobs():
        for number in range(4, 1000):
            given.append(number)
            yield number

    results = workers.run(number_or_failure, jobs(), numbers, CPU)
    for _ in range(5):
        next(results)
    results.close()
    assert len(given) <= 5 + 2 * 2


def die_at_first(folder, job):
    """Job 1 ends its process at its first try, job 2 at every one; each try is noted."""
    path = Path(folder) / str(job)
    with path.open("a") as file:
        file.write("try\n")
    if job == 2 or (job == 1 and path.read_text() == "try\n"):
        os._exit(9)
    return job + 10


def test_a_dead_worker_costs_its_job_a_try_and_a_third_death_is_the_jobs_result(tmp_path):
    found = run(die_at_first, range(6), functools.partial(str, tmp_path))
    died = found.pop(2)
    assert found == {n: n + 10 for n in (0, 1, 3, 4, 5)}
    assert isinstance(died, InputError) and "\n" not in str(died)
    assert str(died).startswith("3 workers died at it, one after another (the last WorkerCrashed")
    tries = {int(path.name): len(path.read_text().splitlines()) for path in tmp_path.iterdir()}
    assert tries == {0: 1, 1: 2, 2: 3, 3: 1, 4: 1, 5: 1}, "nothing else is done again"


def broken():
    raise InputError("the data are not there")


def test_what_makes_no_context_is_raised_once():
    with pytest.raises(InputError, match="^the data are not there$"):
        run(number_or_failure, range(50), broken)


def test_a_node_that_does_not_share_the_folder_or_has_another_torch_ends_the_run(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(cluster.tempfile, "NamedTemporaryFile", lambda **_: open(os.devnull))
        patch.setattr(cluster.os.path, "abspath", lambda name: "/nowhere/probe")
        with pytest.raises(InputError, match="a node of Ray, does not see .* all nodes must share"):
            run(number_or_failure, range(50), numbers)
    monkeypatch.setattr(torch, "__version__", "1.0")
    with pytest.raises(
        InputError, match="a node of Ray, has torch .*, and the machine that asks 1"
    ):
        run(number_or_failure, range(50), numbers)


def test_a_gpu_is_looked_for_in_the_cluster(monkeypatch):
    assert workers.device_of("auto") == workers.device_of("cpu") == CPU
    with pytest.raises(InputError, match="^device is cuda, but Ray finds no node with a GPU; set"):
        workers.device_of("cuda")
    assert workers.place(CPU) == "2 cores of Ray"
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 16.0, "GPU": 4.0})
    assert workers.device_of("auto") == workers.device_of("cuda") == torch.device("cuda")
    assert workers.place(torch.device("cuda")) == "4 GPUs of Ray"


def test_an_address_where_nothing_answers_is_refused(monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{server.getsockname()[1]}")
    with pytest.raises(InputError, match="^Ray cannot be used at .*; docs/running.md shows how"):
        workers.device_of("auto")
