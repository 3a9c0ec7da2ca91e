"""The whole DAG at smoke scale: what runs, what is run again after an edit, what a killed run loses."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from structure import ROOT
from test_stages import instances

from pipeline import experiments

pytestmark = pytest.mark.slow

STAGES = sorted(f"{verb}@{name}" if name else verb for verb, name, _ in instances())


def run(*command, where, **keywords):
    """Run a command in `where`; returns its output, fails with it otherwise."""
    done = subprocess.run(command, cwd=where, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **keywords)
    assert done.returncode == 0, done.stdout
    return done.stdout


class Copy:
    """A copy of the repository at smoke scale, without network and without CIFAR-10, after its first `dvc repro`.

    prepare: changes the copy before that; targets: the stages that are run, all where there are none; environment: beside the
    copy's own.
    """

    def __init__(self, root, prepare=lambda copy: None, targets=(), environment=()):
        self.root = root
        ignored = shutil.ignore_patterns(
            ".git", "data", "models", ".cells", ".venv", "cache", "tmp", "__pycache__", ".pytest_cache", "dvc.lock"
        )
        shutil.copytree(ROOT, root, ignore=ignored)
        text = re.sub(r"^scale: \w+", "scale: smoke", self.read("params.yaml"), flags=re.M)
        self.write("params.yaml", re.sub(r"url: \S+", "url: http://127.0.0.1:9/cifar-10-python.tar.gz", text))
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": str(root.parent),
            "LANG": "C.UTF-8",
            "XDG_CACHE_HOME": str(root.parent / "cache"),
            **dict(environment),
        }
        prepare(self)
        for command in (
            ["init", "-q"],
            ["config", "user.name", "test"],
            ["config", "user.email", "test@example.org"],
            ["add", "-A"],
            ["commit", "-qm", "smoke"],
        ):
            run("git", *command, where=root, env=self.environment)
        self.output = self.dvc("repro", *targets)

    def read(self, path):
        return (self.root / path).read_text()

    def write(self, path, text):
        (self.root / path).write_text(text)

    def dvc(self, *arguments):
        return run(sys.executable, "-m", "dvc", *arguments, where=self.root, env=self.environment)

    def stage(self, *arguments, check=True):
        """A stage without DVC: its output, and that it ended well."""
        command = [sys.executable, "-m", f"pipeline.{arguments[0]}", *arguments[1:]]
        done = subprocess.run(command, cwd=self.root, text=True, capture_output=True, env=self.environment)
        assert not check or done.returncode == 0, done.stderr
        return done

    @contextlib.contextmanager
    def edited(self, path, old, new):
        """Context in which a file has `new` in place of `old`, which it holds once."""
        text = self.read(path)
        assert text.count(old) == 1
        self.write(path, text.replace(old, new))
        try:
            yield
        finally:
            self.write(path, text)

    def models(self, name="linear_pairs"):
        return {path.name: path.read_bytes() for path in (self.root / "models" / name).iterdir()}

    def cells(self):
        """The files of the cells in the store."""
        return {path for path in (self.root / ".cells").rglob("*.safetensors") if "nads" not in path.parts}


def ran(output):
    """The stages that DVC says it ran."""
    return re.findall(r"Running stage '([\w@]+)'", output)


def trained(output):
    """How many cells were trained, by experiment."""
    return {name: int(count) for name, count in re.findall(r"(\w+): (\d+) cells trained", output)}


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    return Copy(tmp_path_factory.mktemp("smoke") / "repository")


def test_the_whole_dag_runs_without_network_and_says_what_its_images_are(smoke):
    assert "USING HANDWRITTEN DIGITS INSTEAD OF CIFAR-10" in smoke.output
    assert sorted(ran(smoke.output)) == STAGES
    assert re.search(r"params.yaml is sound; scale smoke.*\n.*\nconvergence +4 +0 .*\nflip +2 +0 ", smoke.output)
    figures = sorted(path.stem for path in (smoke.root / "reports/figures").glob("*.png"))
    assert figures == sorted(path.stem for path in (smoke.root / "reports/figures").glob("*.svg"))
    assert {
        "two_sufficient_channels",
        "linear_accuracies_lenet",
        "linear_boundaries_lenet",
        "linear_tilt_and_margins",
        "images_or_linear_channel",
        "fourier_maps",
        "convergence_maps",
        "nad_sweep",
        "poison_curve",
        "poison_examples_lenet",
        "flip_bars",
        "flip_components_lenet",
    } <= set(figures)
    assert smoke.read("reports/index.html").startswith("<!doctype html>")
    for name in experiments.names():
        assert json.loads(smoke.read(f"reports/{name}/metrics.json"))["scale"] == "smoke"
    assert "not CIFAR-10" in json.loads(smoke.read("reports/image_pairs/metrics.json"))["images"]
    rows = smoke.read("reports/linear_pairs/results.csv").splitlines()
    columns = "accuracy,n,best_accuracy,train_loss,train_accuracy,steps"
    assert rows[0] == f"architecture,seed,index_1,index_2,test_set,{columns}" and len(rows) == 1 + 3 * 9


def test_a_second_run_does_nothing_and_the_plan_counts_what_is_stored(smoke):
    assert "Data and pipelines are up to date" in smoke.dvc("repro")
    assert re.search(r"linear_pairs +9 +9 +[\d,]+ +0.0 min ", smoke.stage("plan").stdout)


def test_a_changed_epsilon_reruns_only_its_part(smoke):
    expected = ["plan", *(f"{verb}@linear_pairs" for verb in ("generate", "train", "evaluate")), "render"]
    output = smoke.dvc("exp", "run", "-S", "eps2=0.3")
    assert ran(output) == expected and trained(output) == {"linear_pairs": 9}
    assert not trained(smoke.dvc("exp", "run", "-S", "eps2=0.5")), "going back to old parameters comes from the cache"


def test_a_wrong_value_ends_a_named_target_too(smoke):
    with smoke.edited("params.yaml", "eps2: 0.5 ", "eps2: '0.5' "):
        failed = smoke.stage("plan", check=False)
        assert (failed.returncode, failed.stderr.strip()) == (
            1,
            "error: params.yaml: eps2 must be a finite number, not '0.5'",
        )
        command = [sys.executable, "-m", "dvc", "repro", "evaluate@fourier"]
        done = subprocess.run(command, cwd=smoke.root, text=True, capture_output=True, env=smoke.environment)
        assert done.returncode != 0 and "eps2 must be a finite number" in done.stderr
    # A stage that fails has no outputs any more.
    assert not trained(smoke.dvc("repro", "plan"))


def test_a_page_that_is_drawn_without_dvc_leaves_its_cache_whole(smoke):
    """Where DVC's cache and reports/index.html are one file."""
    page = smoke.root / "reports/index.html"
    kept = [path for path in (smoke.root / ".dvc/cache").rglob("*") if path.is_file() and path.samefile(page)]
    content = page.read_bytes()
    smoke.stage("render")
    assert kept and all(path.read_bytes() == content and not path.samefile(page) for path in kept)


def test_cells_that_are_stored_are_not_trained_again(smoke):
    before = smoke.models()
    assert "linear_pairs: 0 cells trained, 9 reused, 0 failed" in smoke.stage("train", "linear_pairs").stdout
    weights = before["lenet-1-1000-seed0.safetensors"]
    (victim,) = (path for path in smoke.cells() if path.read_bytes() == weights)
    victim.unlink()
    outputs = [smoke.stage("train", name).stdout for name in experiments.names()]
    assert sum(": 1 cells trained" in output for output in outputs) == 1
    assert before == smoke.models(), "bit for bit the same"


def test_cells_that_diverge_are_named_and_the_others_are_kept(smoke):
    text = smoke.read("data/plan/linear_pairs.json")
    plan = json.loads(text)
    plan["members"]["mlp_100_20"]["training"] |= {"lr": 1000.0, "weight_decay": 1000.0}
    try:
        smoke.write("data/plan/linear_pairs.json", json.dumps(plan))
        failed = smoke.stage("train", "linear_pairs", check=False)
    finally:
        smoke.write("data/plan/linear_pairs.json", text)
    assert failed.returncode == 1 and "0 cells trained, 5 reused, 4 failed" in failed.stdout
    assert failed.stderr.splitlines()[-1].startswith("error: 4 of 9 cells of linear_pairs failed (the others are kept")
    rows = smoke.read("models/linear_pairs/failed.csv").splitlines()
    assert len(rows) == 5 and all("Diverged: the training loss became" in row for row in rows[1:])
    smoke.stage("train", "linear_pairs")


def test_a_training_killed_at_any_moment_loses_no_finished_cell(smoke):
    """kill -9 of the stage and its workers, five times: then the same bytes, and nothing that was kept is trained again."""
    before = smoke.models()
    for path in smoke.cells():
        if path.read_bytes() in before.values():
            path.unlink()
    others, moments = len(smoke.cells()), np.random.default_rng(0).uniform(0, 0.8, 5)
    for kills, moment in enumerate(moments):
        command = [sys.executable, "-m", "pipeline.train", "linear_pairs"]
        process = subprocess.Popen(command, cwd=smoke.root, start_new_session=True, stdout=subprocess.DEVNULL)
        # From the moment at which this run has finished a cell of its own, or half of the time before it has.
        start, found = time.monotonic(), len(smoke.cells())
        while process.poll() is None and len(smoke.cells()) == found and (kills % 2 or time.monotonic() - start < 2):
            time.sleep(0.01)
        time.sleep(moment)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    finished = len(smoke.cells()) - others
    assert finished >= 2
    output = smoke.stage("train", "linear_pairs").stdout
    assert f"linear_pairs: {9 - finished} cells trained, {finished} reused, 0 failed" in output
    assert before == smoke.models()


def test_paper_scale_expands_to_every_stage(smoke):
    # --force, since DVC's dry run of an experiment looks for the outputs of the stages that it did not run.
    assert sorted(ran(smoke.dvc("exp", "run", "-S", "scale=paper", "--dry", "--force"))) == STAGES


def test_an_edit_of_a_figure_draws_the_figures_again(smoke):
    with smoke.edited("pipeline/report/style.py", '"font.size": 9', '"font.size": 8'):
        assert ran(smoke.dvc("repro")) == ["plan", "render"]


def test_an_edit_of_a_network_trains_its_cells_and_no_others(smoke):
    with smoke.edited("pipeline/networks/mlp.py", "layers = [nn.Flatten()]", "layers = [nn.Flatten(1)]"):
        assert "linear_pairs: 4 cells trained, 5 reused, 0 failed" in smoke.stage("train", "linear_pairs").stdout
    assert "linear_pairs: 0 cells trained, 9 reused, 0 failed" in smoke.stage("train", "linear_pairs").stdout


def test_an_edit_of_an_experiment_runs_its_stages_and_trains_its_cells(smoke):
    carriers = "return pictures.poisoned(x, y, directions[0][cell"
    with smoke.edited("pipeline/experiments/poison.py", carriers, carriers.replace("(x,", "(x + 0,")):
        output = smoke.dvc("repro")
    assert trained(output) == {"poison": 5}
    assert ran(output) == ["plan", "generate@poison", "train@poison", "evaluate@poison", "render"]


def test_committed_metrics_are_of_real_cifar10_at_laptop_scale():
    metrics = json.loads((ROOT / "reports" / "image_pairs" / "metrics.json").read_text())
    assert (metrics["scale"], metrics["images"]) == ("laptop", "CIFAR-10")
