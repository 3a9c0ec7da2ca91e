"""Mistakes that people make, the likeliest of each kind first, with words of the
sentence that refuses each of them."""

import runpy
import sys

import numpy as np
import pytest
import yaml
from documents import GONE, changed
from hand_overs import lay_down_plans
from repository import Copy, ran, smallest, trained
from small_images import write
from structure import ROOT
from torch import nn

from pipeline import config, generate, nads, networks, train
from pipeline.images import sources
from pipeline.networks.dry_run import dry_run
from pipeline.project.errors import InputError


def table(columns, *rows):
    """Run a test with every row of a table, whose first column is its name."""
    cases = [pytest.param(*row, id=name) for name, *row in rows]
    return pytest.mark.parametrize(columns, cases)


def refusal(action, *arguments):
    """The sentence with which an action refuses its arguments."""
    with pytest.raises(InputError) as caught:
        action(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


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
    "files, path, words",
    ("a wrong path", {}, "nowhere", "nowhere does not exist; name a folder"),
    ("a web page", {"cifar.tar.gz": PAGE}, "cifar.tar.gz", "download it again"),
    ("CIFAR-100", CIFAR100, "", "docs/extending.md"),
    ("a table", {"0.parquet": b"PAR1"}, "0.parquet", "docs/extending.md"),
    ("an array", {"x.npy": b"some"}, "x.npy", "docs/extending.md"),
)
def test_images(files, path, words, tmp_path):
    folder = write(tmp_path / "birds", files)
    assert words in refusal(sources.read, folder / path)


# params.yaml
# -----------

LINEAR = "scales/laptop/linear_pairs"
LENET = f"{LINEAR}/networks/lenet"


@table(
    "path, value, words",
    ("a misspelt key", "epz2", 0.3, "unknown key 'epz2'; did you mean 'eps2'?"),
    ("a misspelt scale", "scale", "lapptop", "scale 'lapptop' is"),
    ("a misspelt network", "architectures/lenet/network", "lenett", "mean 'lenet'?"),
    (
        "a misspelt architecture",
        "scales/laptop/nads/lenett",
        8,
        "did you mean 'lenet'?",
    ),
    (
        "a misspelt device",
        "device",
        "gpu",
        "must be 'auto', 'cpu', 'cuda', 'mps' or 'xpu', not",
    ),
    ("half precision", "precision", "float16", "must be 'float32' or 'bfloat16'"),
    (
        "an index out of range",
        f"{LENET}/indices",
        [1, 1024],
        "index 1024 is out of range",
    ),
    ("a negative index", f"{LENET}/indices", [-1], "index -1 is out of range"),
    ("one index without a list", f"{LENET}/indices", 1, "must be a valid array"),
    ("no index", f"{LENET}/indices", [], "indices is empty"),
    ("an index twice", f"{LENET}/indices", [1, 1], "indices repeat a value"),
    ("a list where a number is", "eps2", [0.3, 0.5], "eps2 must be a valid number"),
    ("a number in quotes", "eps2", "0.5", "eps2 must be a valid number, not '0.5'"),
    ("no number", "eps2", None, "eps2 must be a valid number, not None"),
    ("a negative amplitude", "eps2", -0.5, "eps2 must be greater than or equal to 0"),
    ("no noise", "sigma", 0, "sigma must be greater than 0"),
    (
        "a fraction of an epoch",
        f"{LINEAR}/training/epochs",
        1.5,
        "must be a valid integer",
    ),
    ("a power of ten", f"{LINEAR}/train_samples", 1e4, "must be a valid integer"),
    ("no seeds", f"{LINEAR}/seeds", 0, "seeds must be greater than 0"),
    (
        "more seeds",
        f"{LINEAR}/networks/lenet/seeds",
        9,
        "seeds is 9, and the experiment has",
    ),
    ("a key that was removed", "eps2", GONE, "the key 'eps2' is missing"),
    (
        "no learning rate",
        "linear_pairs/training/lr",
        GONE,
        "params.yaml: linear_pairs.training: the key 'lr' is missing",
    ),
    ("no sigma", "image_pairs/sigma/default", GONE, "sigma has no value for lenet"),
    (
        "symmetry of one gradient",
        "estimator/estimand",
        "gradient",
        "set symmetry: false",
    ),
)
def test_values_of_params(path, value, words, shipped):
    with pytest.raises(InputError) as caught:
        config.plans(changed(shipped, path, value))
    sentences = str(caught.value).split("\n")
    assert all(sentence.startswith("params.yaml: ") for sentence in sentences)
    assert any(words in sentence for sentence in sentences)


@table(
    "old, new, words",
    ("an indented line", "eps2: 0.5", "  eps2: 0.5", "not valid YAML"),
    ("a key twice", "eps2: 0.5", "eps1: 0.5", "in lines"),
)
def test_the_text_of_params(old, new, words, tmp_path, monkeypatch):
    text = (ROOT / "params.yaml").read_text(encoding="utf-8")
    assert old in text
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    sentence = refusal(lambda: config.plans(config.read()))
    assert words in sentence
    assert sentence.startswith("params.yaml")


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
    "import_path, words",
    ("its module is not there", "nest:linear", "No module named 'nest'"),
    ("its name is not there", "nets:linaer", "did you mean 'linear'"),
    ("a point for the colon", "nets.linear", "Name your own network module:name"),
    ("a file", "own/nets.py:linear", "Name your own network module:name"),
    (
        "a model for its class",
        "nets:MODEL",
        "is a Sequential; name a class or a function",
    ),
    (
        "outputs alone",
        "nets:of_classes",
        "of_classes() takes from 0 to 1 positional arguments",
    ),
    ("wrong outputs", "nets:of_ten", "(2, 10), not (2, 2)"),
    ("(N,)", "nets:flat", "(2,), not (2, 2)"),
    ("a syntax error", "broken:net", "SyntaxError"),
    ("an older torchvision", "older:net", "No module named 'torchvision.models.utils'"),
    ("sys.exit", "without_gpu:net", "SystemExit: this needs a GPU"),
    ("options", "options:net", "imported: SystemExit: 2"),
    ("options in a function", "late_options:net", "built: SystemExit: 2"),
    ("three channels always", "nets:of_three_channels", "3 channels"),
    ("a seed of its own", "nets:seeded", "the same under two seeds"),
)
def test_custom_networks(import_path, words, own):
    assert words in refusal(try_network, import_path)


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
    words = refusal(dry_run, specification, (1, 32, 32), 2)
    assert "unexpected keyword argument 'widht'" in words


# NADs
# ----


def linear():
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 1))


MODEL = linear()


@table(
    "make, keywords, words",
    (
        "a model for its constructor",
        MODEL,
        {},
        "builds a new network, such as `lambda: Net",
    ),
    ("its name", "people:flat", {}, "`lambda: Net()`, not a str"),
    ("its class alone", nn.Linear, {}, "the network cannot be built: TypeError"),
    (
        "one that raises",
        lambda: 1 / 0,
        {},
        "the network cannot be built: ZeroDivisionError",
    ),
    ("one model again and again", lambda: MODEL, {}, "the same under two seeds"),
    (
        "ten outputs",
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 10)),
        {},
        "(2, 10)",
    ),
    (
        "no batch",
        lambda: nn.Sequential(linear(), nn.Flatten(0)),
        {},
        "returns (2,), not (2, 1)",
    ),
    ("other inputs", linear, {"shape": (1, 16, 16)}, "1×16×16"),
    (
        "no channels in the shape",
        linear,
        {"shape": (8, 8)},
        "(channels, height, width)",
    ),
    ("one network", linear, {"networks": 1}, "networks must be at least 2"),
    ("a misspelt estimand", linear, {"estimand": "secants"}, "one of secant, gradient"),
    (
        "a misspelt symmetry",
        linear,
        {"symmetry": "squares"},
        "none, transposition, square",
    ),
)
def test_estimate(make, keywords, words):
    given = {"shape": (1, 8, 8), "networks": 4, **keywords}
    assert words in refusal(lambda: nads.estimate(make, **given))


@table(
    "rows, words",
    ("NADs of another size", np.eye(8), "shape (8, 8), not (K, 64)"),
    ("NADs as pictures", np.zeros((2, 1, 8, 8)), "shape (2, 1, 8, 8), not (K, 64)"),
    ("NADs that are not orthonormal", np.ones((2, 64)), "not orthonormal"),
    ("NADs that are not finite", np.full((1, 64), np.nan), "not orthonormal"),
)
def test_nads_made_elsewhere(rows, words):
    assert words in refusal(nads.imported, rows, (1, 8, 8), "my.npy")


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
    words = f"is missing; `python -m pipeline.{before}` makes it (`dvc repro` runs all"
    assert words in refusal(stage.main, name)


def test_a_stage_before_the_plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = "is missing; `python -m pipeline.plan` makes it"
    assert words in refusal(train.main, "flip")
    assert "params.yaml is missing; run from the root" in refusal(config.read)


def test_a_stage_after_an_edit_of_params_without_a_plan(planned, shipped):
    (planned / "params.yaml").write_text(yaml.safe_dump(shipped | {"eps2": 0.3}))
    words = "params.yaml was edited since it was planned"
    assert words in refusal(train.main, "linear_pairs")
