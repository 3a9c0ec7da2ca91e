"""The whole DAG at smoke scale on handwritten digits: what runs, what is run again after an edit,
what a killed run loses, and what is noticed that nobody was told of."""

import json
import os
import re
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
    assert "USING HANDWRITTEN DIGITS INSTEAD OF CIFAR-10" in smoke.output
    assert sorted(ran(smoke.output)) == STAGES
    pictures = {
        kind: {path.stem for path in (smoke.root / "reports/figures").glob(f"*.{kind}")}
        for kind in ("png", "svg")
    }
    assert pictures["png"] == pictures["svg"] and len(pictures["png"]) >= 12
    assert smoke.read("reports/index.html").startswith("<!doctype html>")
    for name in experiments.names():
        metrics = json.loads(smoke.read(f"reports/{name}/metrics.json"))
        assert metrics["scale"] == "smoke"
        assert "not CIFAR-10" in metrics.get("images", "not CIFAR-10")


def test_a_second_run_does_nothing_and_the_plan_counts_what_is_stored(smoke):
    assert "Data and pipelines are up to date" in smoke.dvc("repro")
    assert re.search(r"linear_pairs +9 +9 ", smoke.stage("plan").stdout)


def test_a_changed_epsilon_reruns_its_part_alone_and_going_back_costs_nothing(smoke):
    output = smoke.dvc("exp", "run", "-S", "eps2=0.3")
    part = [f"{verb}@linear_pairs" for verb in ("generate", "train", "evaluate")]
    assert ran(output) == ["plan", *part, "render"] and trained(output) == {"linear_pairs": 9}
    assert not trained(smoke.dvc("exp", "run", "-S", "eps2=0.5"))


def test_one_more_index_trains_its_own_cells_alone(smoke):
    key = "scales.smoke.nad_sweep.networks.lenet.indices"
    output = smoke.dvc("exp", "run", "-S", f"{key}=[0,10,11,1000]")
    part = [f"{verb}@nad_sweep" for verb in ("generate", "train", "evaluate")]
    assert ran(output) == ["plan", *part, "render"]
    assert re.search(r"nad_sweep: 2 cells trained, 6 reused", output)
    smoke.dvc("exp", "run", "-S", f"{key}=[0,10,1000]")


@pytest.mark.parametrize(
    ("path", "old", "new", "stages", "cells"),
    [
        ("pipeline/report/style.py", '"font.size": 9', '"font.size": 8', ["render"], {}),
        (
            "pipeline/experiments/poison.py",
            "return pictures.poisoned(x,",
            "return pictures.poisoned(x + 0,",
            ["plan", *(f"{verb}@poison" for verb in ("generate", "train", "evaluate")), "render"],
            {"poison": 5},
        ),
    ],
)
def test_an_edit_runs_the_stages_that_it_touches(path, old, new, stages, cells, smoke):
    with smoke.edited(path, old, new):
        output = smoke.dvc("repro")
    assert ran(output) == stages and trained(output) == cells


def test_an_edit_of_a_network_trains_its_cells_and_no_others(smoke):
    change = "layers = [nn.Flatten()]", "layers = [nn.Flatten(1)]"
    with smoke.edited("pipeline/networks/mlp.py", *change):
        assert "4 cells trained, 5 reused, 0 failed" in smoke.stage("train", "linear_pairs").stdout
    assert "0 cells trained, 9 reused, 0 failed" in smoke.stage("train", "linear_pairs").stdout


def test_a_wrong_value_ends_a_named_target_too(smoke):
    with smoke.edited("params.yaml", "eps2: 0.5 ", "eps2: half "):
        failed = smoke.stage("plan", check=False)
        assert failed.returncode == 1 and failed.stderr.count("\n") == 1
        command = [sys.executable, "-m", "dvc", "repro", "evaluate@fourier"]
        done = subprocess.run(
            command, cwd=smoke.root, text=True, capture_output=True, env=smoke.environment
        )
        assert done.returncode != 0 and failed.stderr.strip() in done.stderr
    smoke.dvc("repro", "plan")  # a stage that fails has no outputs any more


@pytest.mark.parametrize(
    ("path", "stage"),
    [
        ("data/datasets/linear_pairs/cells.csv", "train"),
        ("models/linear_pairs/training.csv", "evaluate"),
    ],
)
def test_one_altered_digit_is_refused_by_the_next_stage(path, stage, smoke):
    text = smoke.read(path)
    head, line = text.rstrip("\n").rsplit("\n", 1)
    digit = re.search(r"\d(?=\D*$)", line)
    changed = line[: digit.start()] + str(9 - int(digit[0])) + line[digit.end() :]
    (smoke.root / path).unlink()  # which may be the same file as one in DVC's cache
    smoke.write(path, f"{head}\n{changed}\n")
    failed = smoke.stage(stage, "linear_pairs", check=False)
    smoke.write(path, text)
    assert failed.returncode == 1 and f"{path} is not as `" in failed.stderr


def forget(copy, name="linear_pairs"):
    """Remove an experiment's cells from the store, and what `train` laid out of them, whose bytes
    are returned."""
    models = copy.models(name)
    for path in copy.cells():
        if path.read_bytes() in models.values():
            path.unlink()
    for path in (copy.root / "models" / name).iterdir():
        path.unlink()
    (copy.root / "models" / name).rmdir()
    return models


def test_one_wrong_bit_in_the_store_is_noticed_and_its_cell_trained_again(smoke):
    models = smoke.models()
    weights = models["lenet-1-1000-seed0.safetensors"]
    (path,) = (path for path in smoke.cells() if path.read_bytes() == weights)
    path.unlink()
    path.write_bytes(weights[:-1] + bytes([weights[-1] ^ 1]))
    assert "1 cells trained, 8 reused, 0 failed" in smoke.stage("train", "linear_pairs").stdout
    assert smoke.models() == models, "bit for bit the same"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_training_that_is_killed_loses_no_finished_cell_and_leaves_nothing_half(number, smoke):
    models = forget(smoke)
    others, process = len(smoke.cells()), smoke.started("train", "linear_pairs")
    while len(smoke.cells()) == others and process.poll() is None:
        time.sleep(0.01)
    if number == signal.SIGTERM:  # sent to one process; the others, as by a terminal, to all
        process.terminate()
    else:
        os.killpg(process.pid, number)
    _, said = process.communicate(timeout=60)
    finished = len(smoke.cells()) - others
    assert process.returncode != 0 and not (smoke.root / "models/linear_pairs").exists()
    if number != signal.SIGKILL:
        assert process.returncode == 130 and "stopped: finished networks" in said
    assert 0 < finished < 9
    output = smoke.stage("train", "linear_pairs").stdout
    assert f"{9 - finished} cells trained, {finished} reused, 0 failed" in output
    assert smoke.models() == models, "bit for bit the same"


def test_two_trainings_at_once_train_no_cell_twice(smoke):
    models = forget(smoke)
    both = [smoke.started("train", "linear_pairs") for _ in range(2)]
    outputs = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert sum(trained(out)["linear_pairs"] for out, _ in outputs) == 9
    assert smoke.models() == models


def test_cells_that_diverge_are_named_and_the_others_are_kept(smoke):
    text = smoke.read("data/plan/linear_pairs.json")
    plan = json.loads(text)
    plan["members"]["mlp_100_20"]["training"] |= {"lr": 1000.0, "weight_decay": 1000.0}
    smoke.write("data/plan/linear_pairs.json", json.dumps(plan))
    failed = smoke.stage("train", "linear_pairs", check=False)
    smoke.write("data/plan/linear_pairs.json", text)
    assert failed.returncode == 1 and "0 cells trained, 5 reused, 4 failed" in failed.stdout
    assert "error: 4 of 9 cells of linear_pairs failed (the others are kept" in failed.stderr


def test_other_images_that_are_named_after_a_first_run_are_noticed(smoke):
    """DVC does not know the environment variable, so it runs `download` no second time."""
    said = smoke.stage("plan", CIFAR10="birds.zip").stderr
    assert "notice: data/images holds" in said and "birds.zip" in said and "--force" in said
    assert "notice" not in smoke.stage("plan").stderr


def test_papers_scale_expands_to_every_stage(smoke):
    # --force, since DVC's dry run of an experiment looks for outputs of stages that it did not run.
    assert sorted(ran(smoke.dvc("exp", "run", "-S", "scale=paper", "--dry", "--force"))) == STAGES


def test_committed_metrics_are_of_real_cifar10_at_laptop_scale():
    metrics = json.loads((ROOT / "reports" / "image_pairs" / "metrics.json").read_text())
    assert (metrics["scale"], metrics["images"]) == ("laptop", "CIFAR-10")
