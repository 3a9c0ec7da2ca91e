"""A grid that one person trained, pushed and another pulls: one more direction then trains its own cells and nothing else."""

import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml
from structure import ROOT

pytestmark = pytest.mark.slow


def run(*command, where):
    """Run a command in a repository, without network; returns its output, fails with it otherwise."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("DVC", "CIFAR10"))}
    environment |= {"HOME": str(where.parent), "PYTHONPATH": "", "XDG_CACHE_HOME": str(where.parent / "cache")}
    environment["PATH"] = f"{os.path.dirname(sys.executable)}:{environment['PATH']}"
    done = subprocess.run(
        command, cwd=where, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def dvc(*arguments, where):
    return run(sys.executable, "-m", "dvc", *arguments, where=where)


def ask(root, step):
    """Let params.yaml ask for the smallest run of `fourier` there can be, with one network and a grid of a step."""
    document = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    smoke = document["scales"]["smoke"]
    smoke["nads"] = dict.fromkeys(smoke["nads"], 2)
    smoke["fourier"]["networks"] = {"logreg": {"step": step}}
    smoke["linear_pairs"]["networks"] = {"mlp_100_20": {"indices": [1]}}
    document |= {"scale": "smoke", "scales": {"smoke": smoke}}
    document["images"]["url"] = "http://127.0.0.1:9/cifar-10-python.tar.gz"
    document["estimator"]["compare"] = False
    (root / "params.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def test_after_a_pull_a_finer_grid_trains_its_own_cells_alone(tmp_path):
    mine, theirs, remote = tmp_path / "mine", tmp_path / "theirs", tmp_path / "remote"
    ignored = (".git", "data", "models", ".cells", ".venv", "cache", "tmp", "__pycache__", ".pytest_cache", "dvc.lock")
    shutil.copytree(ROOT, mine, ignore=shutil.ignore_patterns(*ignored))
    ask(mine, 16)
    run("git", "init", "-q", where=mine)
    dvc("remote", "add", "--default", "shared", str(remote), where=mine)
    output = dvc("repro", "train@fourier", "train@linear_pairs", where=mine)
    # In whatever order DVC takes them.
    assert sorted(re.findall(r"(\w+): (\d+) cells trained, (\d+) reused", output)) == [
        ("fourier", "4", "0"),
        ("linear_pairs", "1", "0"),
    ]
    for command in (
        ["add", "-A"],
        ["-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "-qm", "trained"],
    ):
        run("git", *command, where=mine)
    dvc("push", "-q", "train@fourier", "train@linear_pairs", "--with-deps", where=mine)
    run("git", "clone", "-q", str(mine), str(theirs), where=tmp_path)
    dvc("pull", "-q", "train@fourier", "train@linear_pairs", "--with-deps", where=theirs)
    assert not (theirs / ".cells").exists()
    ask(theirs, 8)
    output = dvc("repro", "train@fourier", "train@linear_pairs", where=theirs)
    assert re.search(r"^fourier +10 +4 ", output, re.M), "the plan counts what was pulled"
    assert re.search(r"^linear_pairs +1 +1 ", output, re.M)
    assert re.findall(r"(\w+): (\d+) cells trained, (\d+) reused", output) == [("fourier", "6", "4")]
    for path in (mine / "models/fourier").glob("*.safetensors"):
        assert path.read_bytes() == (theirs / "models/fourier" / path.name).read_bytes()
