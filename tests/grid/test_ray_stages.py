"""The stages `train`, `evaluate` and `estimate` by Ray on two nodes of this machine: the bytes of a
local run, though a node is killed."""

import dataclasses
import threading
import time
from pathlib import Path

import psutil
import pytest
from hand_overs import lay_down_plans
from small_grids import ARCHITECTURES, HOW, lay_down_nads, lay_down_plan, orthonormal, plan_of
from structure import ROOT

from pipeline import estimate, evaluate, generate, train
from pipeline.nads.estimator import Estimator, NADsPlan, Request, Source
from pipeline.project import artifacts

ray = pytest.importorskip("ray", reason="Ray is not installed (requirements-cluster.txt)")

pytestmark = pytest.mark.slow

SETTINGS = {"eps1": 1.0, "eps2": 0.5, "sigma": 1.0}
LONGER = dataclasses.replace(HOW, epochs=10)
ESTIMATOR = Estimator("secant", "readout", 100.0, "normal", False, False)
STAGES = {
    "train": (lambda: train.main("linear_pairs"), artifacts.MODELS),
    "evaluate": (lambda: evaluate.main("linear_pairs"), artifacts.REPORTS / "linear_pairs"),
    "estimate": (estimate.main, artifacts.NADS),
}


@pytest.fixture
def project(folder, monkeypatch):
    """A folder with the package, a grid of six cells and their data, and an estimate of 48
    networks."""
    (folder / "pipeline").symlink_to(ROOT / "pipeline")
    grids = {"lenet": {"indices": (1,)}, "logreg": {"indices": (1, 9)}, "mlp": {"indices": (1,)}}
    lay_down_plan(
        plan_of("linear_pairs", SETTINGS, grids, seeds=(3,), samples=(2000, 64), how=LONGER)
    )
    lay_down_nads(**dict.fromkeys(grids, orthonormal()))
    generate.main("linear_pairs")
    members = {"lenet": Request(ARCHITECTURES["lenet"], Source(48, None, (1, 32, 32), 8))}
    lay_down_plans(nads=NADsPlan("smoke", 7, ESTIMATOR, members))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    return folder


@pytest.fixture
def second(project, monkeypatch):
    """The second node of a cluster of two with a core each."""
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 10**8}
    nodes = Cluster(True, head_node_args=head)
    node = nodes.add_node(num_cpus=1, object_store_memory=10**8)
    nodes.wait_for_nodes()
    monkeypatch.setenv("RAY_ADDRESS", nodes.address)
    yield node
    ray.shutdown()
    nodes.shutdown()


def laid_down(folder):
    """The bytes of every file below a folder, by path."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def kill_when_busy(node):
    """Kill a node as a power cut would, its raylet with its workers, once one of them works."""
    raylet = psutil.Process(node.all_processes["raylet"][0].process.pid)
    busy = lambda child: "ray::_do" in " ".join(child.cmdline())
    while not any(map(busy, raylet.children(recursive=True))):
        time.sleep(0.01)
    family = [*raylet.children(recursive=True), raylet]
    # A worker that outlived its raylet might still hand over what it has just finished.
    for stop in (psutil.Process.suspend, psutil.Process.kill):
        for process in family:
            stop(process)


def test_a_node_that_is_killed_changes_no_byte(second, monkeypatch, capfd):
    expected = {}
    for name, (stage, folder) in STAGES.items():
        stage()
        expected[name] = laid_down(folder)
    for path in Path(".cells").rglob("*.safetensors"):
        path.unlink()
    monkeypatch.setenv("NADS_EXECUTOR", "ray")
    killer = threading.Thread(target=kill_when_busy, args=(second,), daemon=True)
    killer.start()
    capfd.readouterr()
    for name, (stage, folder) in STAGES.items():
        stage()
        assert laid_down(folder) == expected[name], name
    assert not killer.is_alive()
    assert "linear_pairs: 6 cells trained, 0 reused, 0 failed; " in capfd.readouterr().out
