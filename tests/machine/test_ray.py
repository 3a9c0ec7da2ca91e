"""Ray behind `workers.run`, on a cluster of two nodes on this machine: what it refuses, which
device it takes, and the bytes of a local run, though a node is killed."""

import contextlib
import dataclasses
import os
import socket
import threading
import time
from pathlib import Path

import psutil
import pytest
import torch
from hand_overs import lay_down_plans
from small_grids import ARCHITECTURES, HOW, lay_down_nads, lay_down_plan, orthonormal, plan_of
from structure import ROOT

from pipeline import estimate, evaluate, generate, train
from pipeline.machine import workers
from pipeline.nads.estimator import Estimator, NADsPlan, Request, Source
from pipeline.project import artifacts
from pipeline.project.errors import InputError

ray = pytest.importorskip("ray", reason="Ray is not installed (requirements-cluster.txt)")

from pipeline.machine import cluster  # noqa: E402

pytestmark = pytest.mark.slow

CPU = torch.device("cpu")
SETTINGS = {"eps1": 1.0, "eps2": 0.5, "sigma": 1.0}
LONGER = dataclasses.replace(HOW, epochs=10)
ESTIMATOR = Estimator("secant", "readout", 100.0, "normal", False, False)
STAGES = {
    "train": (lambda: train.main("linear_pairs"), artifacts.MODELS),
    "evaluate": (lambda: evaluate.main("linear_pairs"), artifacts.REPORTS / "linear_pairs"),
    "estimate": (estimate.main, artifacts.NADS),
}


@pytest.fixture(scope="module", autouse=True)
def nodes(tmp_path_factory):
    """A project's folder, and a cluster of two nodes with one core each."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("project"))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        folders = ROOT, ROOT / "tests/support", Path(__file__).parent
        patch.setenv("PYTHONPATH", ":".join(map(str, folders)))
        head = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 10**8}
        nodes = Cluster(True, head_node_args=head)
        nodes.add_node(num_cpus=1, object_store_memory=10**8)
        nodes.wait_for_nodes()
        patch.setenv("NADS_EXECUTOR", "ray")
        patch.setenv("RAY_ADDRESS", nodes.address)
        yield nodes
        ray.shutdown()
        nodes.shutdown()


def nothing(context, job):
    """A job that does nothing."""


def run():
    """Fifty jobs, by Ray."""
    return list(workers.run(nothing, range(50), dict, CPU))


def test_a_node_that_does_not_share_the_folder_or_has_another_torch_ends_the_run(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(cluster.tempfile, "NamedTemporaryFile", lambda **_: open(os.devnull))
        patch.setattr(cluster.os.path, "abspath", lambda name: "/nowhere/probe")
        with pytest.raises(InputError, match="a node of Ray, does not see .* all nodes must share"):
            run()
    monkeypatch.setattr(torch, "__version__", "1.0")
    with pytest.raises(
        InputError, match="a node of Ray, has torch .*, and the machine that asks 1"
    ):
        run()


def test_a_gpu_is_looked_for_in_the_cluster(monkeypatch):
    assert workers.device_of("auto") == workers.device_of("cpu") == CPU
    with pytest.raises(InputError, match="^device is cuda, but Ray finds none; set"):
        workers.device_of("cuda")
    assert workers.place(CPU) == "2 cores of Ray"
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 16.0, "GPU": 4.0})
    assert workers.device_of("auto") == workers.device_of("cuda") == torch.device("cuda")
    assert workers.place(torch.device("cuda")) == "4 GPUs of Ray"


def process(context, job):
    """The number of the process that does a job."""
    return os.getpid()


def test_a_task_on_a_gpu_has_a_process_of_its_own(nodes, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")  # pretended: no job here uses one
    node = nodes.add_node(num_cpus=2, num_gpus=2, object_store_memory=10**8)
    nodes.wait_for_nodes()
    found = dict(workers.run(process, range(4), dict, torch.device("cuda")))
    nodes.remove_node(node)
    assert len(set(found.values())) == 4


def test_an_address_where_nothing_answers_is_refused(monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{server.getsockname()[1]}")
    with pytest.raises(InputError, match="^Ray cannot be used at .*; docs/running.md shows how"):
        workers.device_of("auto")


@pytest.fixture
def project(folder):
    """A folder with the package, a grid of six cells and their data, and an estimate of 48
    networks."""
    grids = {"lenet": {"indices": (1,)}, "logreg": {"indices": (1, 9)}, "mlp": {"indices": (1,)}}
    lay_down_plan(
        plan_of("linear_pairs", SETTINGS, grids, seeds=(3,), samples=(2000, 64), how=LONGER)
    )
    lay_down_nads(**dict.fromkeys(grids, orthonormal()))
    generate.main("linear_pairs")
    members = {"lenet": Request(ARCHITECTURES["lenet"], Source(48, None, (1, 32, 32), 8))}
    lay_down_plans(nads=NADsPlan("smoke", 7, ESTIMATOR, members))
    return folder


def laid_down(folder):
    """The bytes of every file below a folder, by path."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def busy(child):
    """Whether a process of Ray does a job."""
    with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
        return "ray::_do" in " ".join(child.cmdline())


def kill_when_busy(node):
    """Kill a node as a power cut would, its raylet with its workers, once one of them works."""
    raylet = psutil.Process(node.all_processes["raylet"][0].process.pid)
    while not any(map(busy, raylet.children(recursive=True))):
        time.sleep(0.01)
    family = [*raylet.children(recursive=True), raylet]
    # A worker that outlived its raylet might still hand over what it has just finished.
    for stop in (psutil.Process.suspend, psutil.Process.kill):
        for process in family:
            stop(process)


def test_a_node_that_is_killed_changes_no_byte(project, nodes, monkeypatch, capfd):
    node, expected = nodes.add_node(num_cpus=1, object_store_memory=10**8), {}
    nodes.wait_for_nodes()
    monkeypatch.setenv("NADS_EXECUTOR", "local")
    for name, (stage, folder) in STAGES.items():
        stage()
        expected[name] = laid_down(folder)
    for path in Path(".cells").rglob("*.safetensors"):
        path.unlink()
    monkeypatch.setenv("NADS_EXECUTOR", "ray")
    killer = threading.Thread(target=kill_when_busy, args=(node,), daemon=True)
    killer.start()
    capfd.readouterr()
    for name, (stage, folder) in STAGES.items():
        stage()
        assert laid_down(folder) == expected[name], name
    assert not killer.is_alive()
    assert "linear_pairs: 6 cells trained, 0 reused, 0 failed; " in capfd.readouterr().out
