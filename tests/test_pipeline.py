"""README, dvc.yaml, params.yaml and code agree; the whole DAG runs at smoke scale."""

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
import yaml
from structure import ROOT, VERBS, closure, imports

from pipeline import experiments

DAG = yaml.safe_load((ROOT / "dvc.yaml").read_text())
STAGES = DAG["stages"]
STAGES_OF_THE_DAG = (
    "check",
    "download",
    "estimate",
    *(f"{verb}_{name}" for name in experiments.names() for verb in ("generate", "train", "evaluate")),
    "render",
)
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_depends_on_the_code_it_imports_and_on_no_other(stage):
    _, _, module, *arguments = STAGES[stage]["cmd"].split()
    entries = [f"{module.replace('.', '/')}.py"] + [f"pipeline/experiments/{name}.py" for name in arguments]
    if stage in ("check", "render"):
        entries += [f"pipeline/experiments/{name}.py" for name in experiments.names()]
    listed = {d for d in STAGES[stage]["deps"] if d.startswith("pipeline/")}
    assert listed == closure(*entries)


def test_every_experiment_has_its_stages():
    for name in experiments.names():
        for verb in ("generate", "train", "evaluate"):
            assert STAGES[f"{verb}_{name}"]["cmd"] == f"python -m pipeline.{verb} {name}"


def test_nouns_never_import_verbs():
    for path in (ROOT / "pipeline").rglob("*.py"):
        if path.stem not in VERBS:
            relative = path.relative_to(ROOT).as_posix()
            assert not imports(relative) & {f"pipeline/{verb}.py" for verb in VERBS}, relative


def test_readme_names_files_stages_and_commands_that_exist():
    for name in re.findall(r"`((?:pipeline|tests|reports|data|models)/[\w./-]+)`", README):
        if not name.startswith(("data/", "models/")):
            assert (ROOT / name).exists(), name
    for picture in re.findall(r"\]\((reports/[\w./-]+)\)", README):
        assert (ROOT / picture).exists(), picture
    for stage in STAGES:
        assert stage.split("_")[0] in README
    for key in re.findall(r"-S ([\w.]+)=", README):
        place = yaml.safe_load((ROOT / "params.yaml").read_text())
        for part in key.split("."):
            assert part in place, key
            place = place[part]


def test_the_readmes_program_takes_a_network_to_a_picture_of_its_nads(tmp_path, monkeypatch, capsys):
    (program,) = re.findall(r"```python\n(.*?)```", README, re.S)
    assert len([line for line in program.splitlines() if line]) <= 10
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "README.md", "exec"), {})
    assert re.search(r"relative error of C: 0\.\d+, averaged over: \w+", capsys.readouterr().out)
    assert (tmp_path / "my_nads.png").stat().st_size > 20_000


def test_the_test_command_of_the_readme_is_what_ci_runs():
    commands = re.findall(r"^python3 -m venv .*pytest$", README, re.M)
    assert len(commands) == 1 and "requirements.txt" in commands[0]
    pattern = re.search(r"grep -m 1 -E '(.*)' README.md", (ROOT / ".ci" / "run").read_text())[1]
    assert re.search(pattern, README, re.M)[0] == commands[0]


def test_requirements_are_pinned_and_installed():
    from importlib.metadata import version

    for line in (ROOT / "requirements.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, pinned = line.split("==")
            assert version(name).split("+")[0] == pinned, name


def test_committed_metrics_are_of_real_cifar10_at_laptop_scale():
    metrics = json.loads((ROOT / "reports" / "image_pairs" / "metrics.json").read_text())
    assert (metrics["scale"], metrics["images"]) == ("laptop", "CIFAR-10")


def run(*command, where, **keywords):
    """Run a command in `where`; returns its output, fails with it otherwise."""
    done = subprocess.run(command, cwd=where, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **keywords)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """A copy of the repository at smoke scale, without network and without CIFAR-10, after its first `dvc repro`."""
    root = tmp_path_factory.mktemp("smoke") / "repository"
    ignored = shutil.ignore_patterns(
        ".git", "data", "models", ".cells", ".venv", "cache", "tmp", "__pycache__", ".pytest_cache", "dvc.lock"
    )
    shutil.copytree(ROOT, root, ignore=ignored)
    text = (root / "params.yaml").read_text()
    text = re.sub(r"^scale: \w+", "scale: smoke", text, flags=re.M)
    (root / "params.yaml").write_text(re.sub(r"url: \S+", "url: http://127.0.0.1:9/cifar-10-python.tar.gz", text))
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": str(root.parent),
        "LANG": "C.UTF-8",
        "XDG_CACHE_HOME": str(root.parent / "cache"),
    }
    for command in (
        ["init", "-q"],
        ["config", "user.name", "test"],
        ["config", "user.email", "test@example.org"],
        ["add", "-A"],
        ["commit", "-qm", "smoke"],
    ):
        run("git", *command, where=root, env=environment)

    def dvc(*arguments):
        return run(sys.executable, "-m", "dvc", *arguments, where=root, env=environment)

    return root, dvc, dvc("repro")


def test_the_whole_dag_runs_without_network_and_says_what_its_images_are(smoke):
    root, _, output = smoke
    assert "USING HANDWRITTEN DIGITS INSTEAD OF CIFAR-10" in output
    figures = sorted(path.stem for path in (root / "reports/figures").glob("*.png"))
    assert figures == sorted(path.stem for path in (root / "reports/figures").glob("*.svg"))
    assert {
        "two_sufficient_channels",
        "linear_accuracies_lenet",
        "linear_boundaries_lenet",
        "linear_tilt_and_margins",
        "images_or_linear_channel",
        "fourier_maps",
        "nad_sweep",
        "poison_curve",
        "poison_examples_lenet",
        "flip_bars",
        "flip_components_lenet",
    } <= set(figures)
    for name in experiments.names():
        assert json.loads((root / f"reports/{name}/metrics.json").read_text())["scale"] == "smoke"
    assert "not CIFAR-10" in json.loads((root / "reports/image_pairs/metrics.json").read_text())["images"]
    rows = (root / "reports/linear_pairs/results.csv").read_text().splitlines()
    assert rows[0] == "architecture,seed,index_1,index_2,test_set,accuracy,n" and len(rows) == 1 + 3 * 9


def test_a_second_run_does_nothing_and_a_changed_epsilon_reruns_only_its_part(smoke):
    root, dvc, _ = smoke
    assert "Data and pipelines are up to date" in dvc("repro")
    text = (root / "params.yaml").read_text()
    try:
        (root / "params.yaml").write_text(text.replace("eps2: 0.5", "eps2: 0.3"))
        stages = re.findall(r"Running stage '(\w+)'", dvc("repro"))
        assert stages == ["check", "generate_linear_pairs", "train_linear_pairs", "evaluate_linear_pairs", "render"]
        (root / "params.yaml").write_text(text.replace("eps2: 0.5", "eps2: '0.3'"))
        failed = subprocess.run([sys.executable, "-m", "pipeline.check"], cwd=root, text=True, capture_output=True)
        assert (
            failed.returncode == 1
            and failed.stderr.strip() == "error: params.yaml: eps2 must be a finite number, not '0.3'"
        )
    finally:
        (root / "params.yaml").write_text(text)
    assert not re.findall(r"cells trained", dvc("repro")), "going back to old parameters comes from the cache"


def test_cells_that_are_stored_are_not_trained_again(smoke):
    root, _, _ = smoke
    before = {p.name: p.read_bytes() for p in (root / "models/linear_pairs").iterdir()}
    output = run(sys.executable, "-m", "pipeline.train", "linear_pairs", where=root)
    assert "linear_pairs: 0 cells trained, 9 reused, 0 failed" in output
    trained = before["lenet-1-1000-seed0.safetensors"]
    (victim,) = (path for path in (root / ".cells").rglob("*.safetensors") if path.read_bytes() == trained)
    victim.unlink()
    outputs = [run(sys.executable, "-m", "pipeline.train", name, where=root) for name in experiments.names()]
    assert sum(": 1 cells trained" in output for output in outputs) == 1
    assert before == {p.name: p.read_bytes() for p in (root / "models/linear_pairs").iterdir()}, "bit for bit the same"


def test_cells_that_diverge_are_named_and_the_others_are_kept(smoke):
    root, _, _ = smoke
    text = (root / "params.yaml").read_text()
    plan = "mlp_100_20: {indices: [1, 1000]"
    assert f"{plan}}}" in text
    try:
        (root / "params.yaml").write_text(text.replace(f"{plan}}}", f"{plan}, lr: 1.0e+30}}", 1))
        command = [sys.executable, "-m", "pipeline.train", "linear_pairs"]
        failed = subprocess.run(command, cwd=root, text=True, capture_output=True)
    finally:
        (root / "params.yaml").write_text(text)
    assert failed.returncode == 1 and "0 cells trained, 5 reused, 4 failed" in failed.stdout
    assert failed.stderr.startswith("error: 4 of 9 cells of linear_pairs failed (the others are kept")
    rows = (root / "models/linear_pairs/failed.csv").read_text().splitlines()
    assert len(rows) == 5 and all("Diverged: the training loss became" in row for row in rows[1:])
    run(sys.executable, "-m", "pipeline.train", "linear_pairs", where=root)


def test_a_training_killed_at_any_moment_loses_no_finished_cell(smoke):
    """kill -9 of the stage and its workers, five times: then the same bytes, and nothing that was kept is trained again."""
    root, _, _ = smoke
    before = {p.name: p.read_bytes() for p in (root / "models/linear_pairs").iterdir()}
    kept = lambda: {path for path in (root / ".cells").rglob("*.safetensors") if "nads" not in path.parts}
    for path in kept():
        if path.read_bytes() in before.values():
            path.unlink()
    others, moments = len(kept()), np.random.default_rng(0).uniform(0, 0.8, 5)
    for kills, moment in enumerate(moments):
        command = [sys.executable, "-m", "pipeline.train", "linear_pairs"]
        process = subprocess.Popen(command, cwd=root, start_new_session=True, stdout=subprocess.DEVNULL)
        # From the moment at which this run has finished a cell of its own, or half of the time before it has.
        start, found = time.monotonic(), len(kept())
        while process.poll() is None and len(kept()) == found and (kills % 2 or time.monotonic() - start < 2):
            time.sleep(0.01)
        time.sleep(moment)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    finished = len(kept()) - others
    assert 2 <= finished
    output = run(sys.executable, "-m", "pipeline.train", "linear_pairs", where=root)
    assert f"linear_pairs: {9 - finished} cells trained, {finished} reused, 0 failed" in output
    assert before == {p.name: p.read_bytes() for p in (root / "models/linear_pairs").iterdir()}


def test_paper_scale_expands_to_every_stage(smoke):
    _, dvc, _ = smoke
    # --force, since DVC's dry run of an experiment looks for the outputs of the stages that it did not run.
    output = dvc("exp", "run", "-S", "scale=paper", "--dry", "--force")
    assert sorted(re.findall(r"Running stage '(\w+)'", output)) == sorted(STAGES_OF_THE_DAG) == sorted(STAGES)
