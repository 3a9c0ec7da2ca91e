"""The whole DAG at smoke scale on handwritten digits: what runs, what is run again
after an edit, what a killed run loses, and what is noticed that nobody was told of."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from repository import Copy, ran, trained
from structure import ROOT
from test_stages import instances

from pipeline import experiments

pytestmark = pytest.mark.slow

STAGES = sorted(f"{verb}@{name}" if name else verb for verb, name, _ in instances())


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    return Copy(tmp_path_factory.mktemp("smoke") / "repository")


def test_the_whole_dag_runs_without_network_and_says_what_its_images_are(smoke):
    assert "HANDWRITTEN DIGITS ARE USED INSTEAD OF CIFAR-10" in smoke.output
    assert sorted(ran(smoke.output)) == STAGES
    assert len(list((smoke.root / "reports/figures").glob("*.png"))) >= 12
    assert smoke.read("reports/index.html").startswith("<!doctype html>")
    shown = json.loads(smoke.dvc("metrics", "show", "--json"))[""]["data"]
    assert {file: set(one["data"]) for file, one in shown.items()} == {
        "reports/metrics.json": {"nads", *experiments.names()}
    }
    for name in experiments.names():
        about = json.loads(smoke.read(f"reports/{name}/run.json"))
        assert about["plan"]["scale"] == "smoke"
        assert "not CIFAR-10" in (about["images"] or "not CIFAR-10")


def test_a_second_run_does_nothing_and_the_plan_counts_what_is_stored(smoke):
    assert "Data and pipelines are up to date" in smoke.dvc("repro")
    assert re.search(r"linear_pairs +9 +9 ", smoke.stage("plan").stdout)


def test_an_edit_of_a_figure_touches_render_alone(smoke):
    with smoke.edited("pipeline/report/style.py", '"font", size=9', '"font", size=8'):
        assert re.findall(r"^([\w@]+):$", smoke.dvc("status"), re.M) == ["render"]


def test_a_change_of_params_reruns_its_parts_and_going_back_costs_nothing(
    smoke,
):
    key = "scales.smoke.nad_sweep.networks.lenet.indices"
    output = smoke.dvc("exp", "run", "-S", "eps2=0.3", "-S", f"{key}=[0,10,11,1000]")
    both = [
        f"{verb}@{name}"
        for name in ("linear_pairs", "nad_sweep")
        for verb in ("generate", "train", "evaluate")
    ]
    assert sorted(ran(output)) == sorted(["plan", *both, "render"])
    assert "linear_pairs: 9 cells trained, 0 reused" in output
    assert "nad_sweep: 2 cells trained, 8 reused" in output
    targets = "train@linear_pairs", "train@nad_sweep"
    back = smoke.dvc(
        "exp", "run", "-S", "eps2=0.5", "-S", f"{key}=[0,10,1000]", *targets
    )
    assert not trained(back)


def test_an_edit_of_an_experiment_trains_its_cells_and_no_others(smoke):
    change = "x = pictures.poison(x,", "x = pictures.poison(x + 0,"
    with smoke.edited("pipeline/experiments/poison.py", *change):
        output = smoke.dvc("repro", "evaluate@poison")
    assert ran(output) == ["plan", "generate@poison", "train@poison", "evaluate@poison"]
    assert trained(output) == {"poison": 3}


def test_an_edit_of_a_network_trains_its_cells_and_no_others(smoke):
    change = "layers = [nn.Flatten()]", "layers = [nn.Flatten(1)]"
    with smoke.edited("pipeline/networks/mlp.py", *change):
        assert (
            "4 cells trained, 5 reused, 0 failed"
            in smoke.stage("train", "linear_pairs").stdout
        )
    assert (
        "0 cells trained, 9 reused, 0 failed"
        in smoke.stage("train", "linear_pairs").stdout
    )


def test_a_wrong_value_ends_a_named_target_too(smoke):
    command = [sys.executable, "-m", "dvc", "repro", "evaluate@fourier"]
    with smoke.edited("params.yaml", "eps2: 0.5 ", "eps2: half "):
        done = subprocess.run(
            command,
            cwd=smoke.root,
            text=True,
            capture_output=True,
            env=smoke.environment,
        )
    assert done.returncode != 0 and "error: params.yaml: eps2" in done.stderr
    smoke.dvc("repro", "plan")  # a stage that fails has no outputs any more


def test_a_kill_loses_no_finished_cell_and_two_trainings_at_once_share_the_rest(smoke):
    """tests/machine/test_stopping.py shows the other ways to stop one."""
    models = smoke.models()
    laid_out = smoke.root / "models/linear_pairs"
    for path in smoke.cells():
        if path.read_bytes() in models.values():
            path.unlink()
    shutil.rmtree(laid_out)
    others = len(smoke.cells())
    process = smoke.started("train", "linear_pairs")
    while len(smoke.cells()) == others and process.poll() is None:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    finished = len(smoke.cells()) - others
    assert process.returncode != 0 and not laid_out.exists()
    assert 0 < finished < 9
    both = [smoke.started("train", "linear_pairs") for _ in range(2)]
    outputs = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert sum(trained(out)["linear_pairs"] for out, _ in outputs) == 9 - finished
    assert smoke.models() == models, "bit for bit the same"


def test_committed_tables_are_of_real_cifar10_at_laptop_scale():
    about = json.loads((ROOT / "reports" / "image_pairs" / "run.json").read_text())
    assert (about["plan"]["scale"], about["images"]) == ("laptop", "CIFAR-10")
