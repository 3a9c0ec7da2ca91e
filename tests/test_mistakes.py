"""Mistakes that people make, each with the kind of error that refuses it."""

import runpy
import sys

import numpy as np
import pytest
import yaml
from hand_overs import lay_down_plans
from refusals import refused
from repository import Copy, ran, smallest, trained
from small_images import write
from structure import ROOT
from torch import nn

from pipeline import config, generate, nads, networks, train
from pipeline.images import sources
from pipeline.networks.dry_run import dry_run


def table(columns, *rows):
    """Run a test with every row of a table, whose first column is its name."""
    cases = [pytest.param(*row, id=name) for name, *row in rows]
    return pytest.mark.parametrize(columns, cases)


# How it is started
# -----------------


@pytest.mark.slow
def test_the_files_of_a_zip_which_is_moved_after_a_run_and_named_by_a_link(tmp_path):
    """Without .git, after README's `dvc config core.no_scm true`."""

    def without_git(copy):
        copy.write("params.yaml", smallest())
        copy.dvc("config", "core.no_scm", "true")

    copy = Copy(tmp_path / "zip", without_git, ["train@fourier"], git=False)
    assert trained(copy.output) == {"fourier": 4}
    copy.root = (tmp_path / "zip").rename(tmp_path / "moved")
    assert ran(copy.dvc("repro", "train@fourier")) == []
    copy.root = tmp_path / "link"
    copy.root.symlink_to("moved")
    printed = copy.stage("train", "fourier").stdout
    assert "0 cells trained, 4 reused, 0 failed" in printed


@pytest.mark.parametrize("version", [(3, 10, 13), (3, 15, 0)])
def test_another_python_is_told_which_is_needed(version, monkeypatch):
    monkeypatch.setattr(sys, "version_info", version)
    with pytest.raises(ImportError, match="Python 3.11 to 3.14"):
        runpy.run_path(str(ROOT / "pipeline" / "__init__.py"))


def test_outside_the_environment_the_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "torch" else name
    )
    with pytest.raises(ImportError, match="package torch is not installed"):
        runpy.run_path(str(ROOT / "pipeline" / "__init__.py"))


# Images
# ------


PAGE = b"<!doctype html><title>404 Not Found</title>" + bytes(2000)
CIFAR100 = dict.fromkeys(("train", "test", "meta"), b"some")


@table(
    "files, path, kind",
    ("a wrong path", {}, "nowhere", "missing-file"),
    ("a web page", {"cifar.tar.gz": PAGE}, "cifar.tar.gz", "unreadable-file"),
    ("CIFAR-100", CIFAR100, "", "images"),
    ("a table", {"0.parquet": b"PAR1"}, "0.parquet", "unreadable-file"),
    ("an array", {"x.npy": b"some"}, "x.npy", "unreadable-file"),
)
def test_images(files, path, kind, tmp_path):
    folder = write(tmp_path / "birds", files)
    with refused(kind):
        sources.read(folder / path)


# params.yaml
# -----------


@table(
    "text",
    ("an indented line", "eps1: 1.0\n  eps2: 0.5\n"),
    ("a key twice", "eps1: 1.0\neps1: 0.5\n"),
)
def test_the_text_of_params(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text(text)
    with refused("unreadable-file", path="params.yaml"):
        config.plans(config.read())


# Custom networks
# ---------------

NETWORKS = """
import torch
from torch import nn

def linear(channels, outputs):
    return nn.Sequential(nn.Flatten(), nn.Linear(channels * 1024, outputs))

MODEL = linear(1, 2)

def of_classes(num_classes=10):
    return linear(1, num_classes)

def of_ten(channels, outputs):
    return linear(channels, 10)

def flat(channels, outputs):
    return nn.Sequential(linear(channels, 1), nn.Flatten(0))

def of_three_channels(channels, outputs):
    return nn.Sequential(nn.Conv2d(3, 4, 32), nn.Flatten(), nn.Linear(4, outputs))

def seeded(channels, outputs):
    torch.manual_seed(0)
    return linear(channels, outputs)
"""


OPTIONS = """
import argparse

reader = argparse.ArgumentParser()
reader.add_argument("--width", type=int, default=3)
"""

REQUIRED = """
reader.add_argument("--data", required=True)
reader.parse_args()
"""

LATE = """
reader.add_argument("data")

def net(*given):
    reader.parse_args()
    return linear(*given)
"""

FILES = {
    "nets": NETWORKS,
    "broken": "def net(:",
    "older": "import torchvision.models.utils",
    "without_gpu": "import sys\n\nsys.exit('this needs a GPU')",
    "options": OPTIONS + REQUIRED,
    "late_options": NETWORKS + OPTIONS + LATE,
    "defaults": f"{NETWORKS}{OPTIONS}WIDTH = reader.parse_args().width",
}


@pytest.fixture
def own(repository):
    """These files as your own modules."""
    for name, text in FILES.items():
        (repository / f"own/{name}.py").write_text(text)


def try_network(import_path):
    """Find a network and try it on inputs of 1×32×32, with two outputs."""
    specification = networks.specification({"network": import_path})
    dry_run(specification, (1, 32, 32), 2)


@table(
    "import_path, kind",
    ("its module is not there", "nest:linear", "unknown-name"),
    ("its name is not there", "nets:linaer", "unknown-name"),
    ("a point for the colon", "nets.linear", "unknown-name"),
    ("a file", "own/nets.py:linear", "unknown-name"),
    ("a model for its class", "nets:MODEL", "wrong-type"),
    ("outputs alone", "nets:of_classes", "network-code"),
    ("wrong outputs", "nets:of_ten", "network-output"),
    ("(N,)", "nets:flat", "network-output"),
    ("a syntax error", "broken:net", "network-code"),
    ("an older torchvision", "older:net", "network-code"),
    ("sys.exit", "without_gpu:net", "network-code"),
    ("options", "options:net", "network-code"),
    ("options in a function", "late_options:net", "network-code"),
    ("three channels always", "nets:of_three_channels", "network-code"),
    ("a seed of its own", "nets:seeded", "network-seed"),
)
def test_custom_networks(import_path, kind, own):
    with refused(kind):
        try_network(import_path)


def test_words_of_the_command_are_no_options_of_a_module_that_reads_some(
    own, monkeypatch
):
    arguments = ["train", "linear_pairs", "--width=5"]
    monkeypatch.setattr(sys, "argv", arguments)
    try_network("defaults:linear")
    assert sys.modules["defaults"].WIDTH == 3
    assert sys.argv is arguments


def test_a_misspelt_argument_of_a_network():
    specification = networks.specification({"network": "resnet18", "widht": 0.5})
    with refused("value") as caught:
        dry_run(specification, (1, 32, 32), 2)
    assert "'widht'" in str(caught.value)


# NADs
# ----


def linear(outputs=1):
    return nn.Sequential(nn.Flatten(), nn.Linear(64, outputs))


MODEL = linear()


@table(
    "make, keywords, kind",
    ("a model for its constructor", MODEL, {}, "wrong-type"),
    ("its name", "people:flat", {}, "wrong-type"),
    ("its class alone", nn.Linear, {}, "network-code"),
    ("one that raises", lambda: 1 / 0, {}, "network-code"),
    ("one model again and again", lambda: MODEL, {}, "network-seed"),
    ("ten outputs", lambda: linear(10), {}, "network-output"),
    ("no batch", lambda: linear().append(nn.Flatten(0)), {}, "network-output"),
    ("other inputs", linear, {"shape": (1, 16, 16)}, "network-code"),
    ("no channels in the shape", linear, {"shape": (8, 8)}, "wrong-type"),
    ("one network", linear, {"networks": 1}, "value"),
    ("a misspelt estimand", linear, {"estimand": "secants"}, "value"),
    ("a misspelt symmetry", linear, {"symmetry": "squares"}, "value"),
)
def test_estimate(make, keywords, kind):
    given = {"shape": (1, 8, 8), "networks": 4, **keywords}
    with refused(kind):
        nads.estimate(make, **given)


@table(
    "rows, kind",
    ("NADs of another size", np.eye(8), "wrong-shape"),
    ("NADs as pictures", np.zeros((2, 1, 8, 8)), "wrong-shape"),
    ("NADs that are not orthonormal", np.ones((2, 64)), "value"),
    ("NADs that are not finite", np.full((1, 64), np.nan), "value"),
)
def test_nads_made_elsewhere(rows, kind):
    with refused(kind, path="my.npy"):
        nads.imported(rows, (1, 8, 8), "my.npy")


# Stages by hand
# --------------


@pytest.fixture
def planned(folder, shipped):
    """A folder in which the stage `plan` has run at smoke scale."""
    (folder / "params.yaml").write_text(yaml.safe_dump(shipped | {"scale": "smoke"}))
    plans = config.plans(config.read())["smoke"]
    documents = {
        "images": plans.images,
        "machine": {"device": plans.device, "engine": plans.engine},
        "nads": plans.nads,
    }
    lay_down_plans(**documents, **plans.experiments)
    return folder


@pytest.mark.parametrize(
    ("stage", "before"), [(generate, "estimate"), (train, "generate flip")]
)
def test_a_stage_before_its_inputs_names_the_one_that_makes_them(
    stage, before, planned
):
    name = before.partition(" ")[2] or "linear_pairs"
    with refused("missing-file", stage=before):
        stage.main(name)


def test_a_stage_before_the_plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with refused("missing-file", stage="plan"):
        train.main("flip")
    with refused("missing-file", path="params.yaml"):
        config.read()


def test_a_stage_after_an_edit_of_params_without_a_plan(planned, shipped):
    (planned / "params.yaml").write_text(yaml.safe_dump(shipped | {"eps2": 0.3}))
    with refused("stale", path="params.yaml"):
        train.main("linear_pairs")
