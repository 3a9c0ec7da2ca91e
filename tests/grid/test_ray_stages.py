"""The stages `train`, `evaluate` and `estimate` by Ray on two nodes of this machine: the bytes of a local run, though a node is killed."""

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from small_grids import ARCHITECTURES, HOW, lay_down_nads, lay_down_plan, orthonormal, plan_of
from structure import ROOT

from pipeline import estimate, evaluate, generate, train
from pipeline.machine import workers
from pipeline.nads import Estimator, Source
from pipeline.nads.plan import NADsPlan, Request
from pipeline.project import artifacts

pytestmark = pytest.mark.slow

SETTINGS = {"eps1": 1.0, "eps2": 0.5, "sigma": 1.0}
LONGER = dataclasses.replace(HOW, epochs=10)
ESTIMATOR = Estimator("secant", "readout", 100.0, "normal", False, False)


@pytest.fixture
def project(folder, monkeypatch):
    """A folder with the package, a grid of six cells and their data, and an estimate of 48 networks."""
    ray = pytest.importorskip("ray", reason="Ray is not installed (requirements-cluster.txt)")
    (folder / "pipeline").symlink_to(ROOT / "pipeline")
    grids = {"lenet": {"indices": (1,)}, "logreg": {"indices": (1, 9)}, "mlp": {"indices": (1,)}}
    lay_down_plan(plan_of("linear_pairs", SETTINGS, grids, seeds=(3,), samples=(2000, 64), how=LONGER))
    lay_down_nads(**dict.fromkeys(grids, orthonormal()))
    generate.main("linear_pairs")
    members = {"lenet": Request(ARCHITECTURES["lenet"], Source(48, None, (1, 32, 32), 8))}
    artifacts.write_json(artifacts.PLAN / "nads.json", dataclasses.asdict(NADsPlan("smoke", 7, ESTIMATOR, members)))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    yield folder
    ray.shutdown()


@pytest.fixture
def two_nodes(project, monkeypatch):
    """A cluster of two nodes with a core each; gives the second, and leaves it to the test to ask for Ray."""
    from ray.cluster_utils import Cluster

    nodes = Cluster(True, head_node_args={"num_cpus": 1, "include_dashboard": False, "object_store_memory": 10**8})
    second = nodes.add_node(num_cpus=1, object_store_memory=10**8)
    nodes.wait_for_nodes()
    monkeypatch.setenv("RAY_ADDRESS", nodes.address)
    yield second
    sys.modules["ray"].shutdown()
    nodes.shutdown()


def laid_down(folder):
    """The bytes of every file below a folder, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def without_notes():
    """Forget what is kept."""
    for path in Path(".cells").rglob("*.safetensors"):
        path.unlink()


STAGES = {
    "train": (lambda: train.main("linear_pairs"), artifacts.MODELS),
    "evaluate": (lambda: evaluate.main("linear_pairs"), artifacts.REPORTS / "linear_pairs"),
    "estimate": (estimate.main, artifacts.NADS),
}


def killed_when(node, due):
    """A thread that kills a node of the cluster as a power cut would, its raylet with its workers, once `due()`."""

    def kill():
        while not due():
            time.sleep(0.01)
        raylet = psutil.Process(node.all_processes["raylet"][0].process.pid)
        # A worker that outlived its raylet might still hand over what it has just finished.
        family = [*raylet.children(recursive=True), raylet]
        for stop in (psutil.Process.suspend, psutil.Process.kill):
            for process in family:
                with contextlib.suppress(psutil.NoSuchProcess):
                    stop(process)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    return thread


def busy_on(node):
    """Whether a worker of the node is at work on one of our tasks."""
    (raylet,) = node.all_processes["raylet"]
    for child in psutil.Process(raylet.process.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "ray::do" in " ".join(child.cmdline()):
                return True
    return False


def here(function, work, make_context, device):
    context = make_context()
    return ((position, function(context, piece)) for position, piece in enumerate(work))


def test_a_node_that_is_killed_changes_no_byte(two_nodes, monkeypatch, capfd):
    expected = {}
    with monkeypatch.context() as patch:
        patch.setattr(workers, "run", here)
        for name, (stage, folder) in STAGES.items():
            stage()
            expected[name] = laid_down(folder)
    without_notes()
    monkeypatch.setenv("NADS_EXECUTOR", "ray")
    killer = killed_when(two_nodes, lambda: busy_on(two_nodes))
    capfd.readouterr()
    for name, (stage, folder) in STAGES.items():
        stage()
        assert laid_down(folder) == expected[name], name
    assert not killer.is_alive()
    said = capfd.readouterr()
    # How many nodes Ray counts at the end depends on when it hears of the death: on a machine that is busy the rest may be done first.
    counted = "1 cores of 1 node", "2 cores of 2 nodes"
    assert "linear_pairs: 6 cells trained, 0 reused, 0 failed; " in said.out
    assert any(f" on {nodes} (Ray)" in said.out for nodes in counted)
    assert 1 <= said.err.count("notice: Ray lost a worker or its node (") <= 2
    assert said.err.count("which they share\n") == 2 == len(said.err.splitlines()) - said.err.count("Ray lost"), (
        said.err
    )


def test_ctrl_c_ends_a_stage_and_its_ray_in_one_line(project, monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with open("err", "w") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "pipeline.train", "linear_pairs"],
            env=os.environ | {"NADS_EXECUTOR": "ray"},
            stdout=subprocess.DEVNULL,
            stderr=err,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
    while not any(Path(".cells").rglob("*.safetensors")):
        assert process.poll() is None, Path("err").read_text()
        time.sleep(0.02)
    family = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 130
    notice, line = Path("err").read_text().splitlines()
    assert notice.startswith("notice: ") and line.startswith("stopped by SIGINT: finished networks")
    assert list(Path("data").glob("ray-*")) == []
    while any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in family):
        time.sleep(0.02)
