"""A new user's network, in a folder outside the repository, and NADs of their own: from params.yaml to results, and after edits."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import yaml
from test_repro import Copy, ran, trained

pytestmark = pytest.mark.slow

NETWORK = '''"""A small network for inputs of any size."""
from torch import nn

from parts.helper import slope


def net(channels, outputs):
    """One convolution, and the means of sixteen fields."""
    layers = nn.Conv2d(channels, 8, 3, padding=1), nn.LeakyReLU(slope()), nn.AdaptiveAvgPool2d(4), nn.Flatten()
    return nn.Sequential(*layers, nn.Linear(128, outputs))
'''
HELPER = '"""Helps."""\n\n\ndef slope():\n    """The slope."""\n    return 0.25\n'
LINES = """
architectures:
  mine: {network: "own_net:net", input: [24, 16]}
  theirs: {network: "torchvision.models:squeezenet1_1", input: [64, 64]}
nad_sweep: {sigma: {mine: 1.0}}
scales:
  smoke:
    nads: {mine: 4, lenet: {file: my.npy}}
    linear_pairs: {networks: {mine: {indices: [383]}, lenet: {indices: [1]}}}
    nad_sweep: {networks: {mine: {indices: [0, 383]}}}
    fourier: {networks: {theirs: {step: 32, epochs: 1}, mine: {step: 4}}}
"""
TARGETS = [f"evaluate@{name}" for name in ("linear_pairs", "nad_sweep", "fourier")]


def merged(document, addition):
    """A document with another one's keys; networks of an experiment are those of the other alone."""
    for key, value in addition.items():
        both = isinstance(value, dict) and isinstance(document.get(key), dict) and key != "networks"
        document[key] = merged(document[key], value) if both else value
    return document


def write_network(root):
    """The network and its helper in a folder outside the repository; returns it."""
    (root / "parts").mkdir()
    (root / "own_net.py").write_text(NETWORK)
    (root / "parts/helper.py").write_text(HELPER)
    return root


def add(copy, lines):
    """Merge lines of YAML into a copy's params.yaml."""
    document = merged(yaml.safe_load(copy.read("params.yaml")), yaml.safe_load(lines))
    copy.write("params.yaml", yaml.safe_dump(document, sort_keys=False))


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A copy of the repository in which a network of one's own and a file of NADs have gone through three experiments."""
    elsewhere = write_network(tmp_path_factory.mktemp("elsewhere"))

    def prepare(copy):
        np.save(copy.root / "my.npy", np.eye(1024)[:4])
        add(copy, LINES)

    copy = Copy(
        tmp_path_factory.mktemp("own") / "repository", prepare, TARGETS, environment={"PYTHONPATH": str(elsewhere)}
    )
    copy.helper = elsewhere / "parts/helper.py"
    return copy


def test_it_has_its_rows_in_every_experiment(own):
    assert trained(own.output) == {"linear_pairs": 2, "nad_sweep": 4, "fourier": 18}
    with np.load(own.root / "data/nads/mine.npz") as nads:
        assert nads["shape"].tolist() == [1, 24, 16] and nads["directions"].shape == (384, 384)
    for name, count in (("linear_pairs", 3), ("nad_sweep", 4), ("fourier", 14)):
        rows = pd.read_csv(own.root / f"reports/{name}/results.csv")
        assert (rows["architecture"] == "mine").sum() == count and rows["accuracy"].between(0, 1).all()
        assert "mine" in json.loads(own.read(f"reports/{name}/metrics.json"))
    fourier = pd.read_csv(own.root / "reports/fourier/results.csv")
    theirs = fourier[fourier["architecture"] == "theirs"]
    assert set(zip(theirs["k_row"], theirs["k_col"])) == {(row, col) for row in (-32, 0) for col in (-32, 0)}
    assert "up to date" in own.dvc("status", *TARGETS)


def test_an_edit_of_a_helper_retrains_its_cells_and_nothing_else(own):
    own.helper.write_text(HELPER.replace("0.25", "0.5"))
    assert re.search(r"modified: +.own", own.dvc("status", "plan"))
    output = own.dvc("repro", "evaluate@linear_pairs")
    assert ran(output)[:2] == ["plan", "estimate"] and ran(output)[-1] == "evaluate@linear_pairs"
    assert "linear_pairs: 1 cells trained, 1 reused" in output
    own.helper.write_text(HELPER.replace("0.25", "0.5").replace("The slope", "It"))
    assert ran(own.dvc("repro", "evaluate@linear_pairs")) == ["plan"], "a docstring decides nothing"
    assert "up to date" in own.dvc("status", "evaluate@linear_pairs")


def test_other_nads_in_the_same_file_are_noticed(own):
    np.save(own.root / "my.npy", np.eye(1024)[1:5])
    output = own.dvc("repro", "evaluate@linear_pairs")
    assert ran(output)[:2] == ["plan", "estimate"]
    assert "linear_pairs: 1 cells trained, 1 reused" in output


def test_a_module_that_was_moved_ends_with_a_sentence_and_mended_goes_on(own):
    text = own.helper.read_text()
    own.helper.unlink()
    done = own.stage("plan", check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "No module named 'parts.helper'" in done.stderr
    own.helper.write_text(text)
    own.stage("plan")
    assert "up to date" in own.dvc("status", "evaluate@linear_pairs")
