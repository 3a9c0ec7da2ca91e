"""The stage `plan`: what it writes, what it forecasts, and what it says of what cannot
be run."""

import functools
import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from documents import changed
from refusals import refused

from pipeline import config, experiments, plan
from pipeline.config import trial
from pipeline.experiments.plan import Plan
from pipeline.machine import workers
from pipeline.nads.estimator import NADsPlan
from pipeline.networks.dry_run import dry_run
from pipeline.project import artifacts

LENET = {"network": "pipeline.networks.lenet:LeNet"}
NETWORK = """
from torch import nn
from helper import slope


def net(channels, outputs, depth=1):
    layers = nn.Linear(1024 * channels, 4), nn.LeakyReLU(slope()), nn.Linear(4, outputs)
    return nn.Sequential(nn.Flatten(), *layers)
"""


@functools.cache
def cached_dry_run(specification, *use):
    return dry_run(json.loads(specification), *use)


@pytest.fixture
def folder(repository, monkeypatch):
    """An empty repository in which every network of the table is tried once by all
    tests together."""
    monkeypatch.setenv("DVC_ROOT", str(repository))

    def dry_run_once(specification, *use):
        if specification["network"].startswith("pipeline."):
            return cached_dry_run(json.dumps(specification), *use)
        return dry_run(specification, *use)

    monkeypatch.setattr(trial, "dry_run", dry_run_once)
    monkeypatch.setattr(workers, "cores", lambda: 2)
    return repository


def run(document):
    """The stage, on a document in params.yaml; the plans that it wrote, by name."""
    with open("params.yaml", "w", encoding="utf-8") as file:
        yaml.safe_dump(document, file, sort_keys=False)
    plan.main()
    written = {}
    for path in artifacts.PLAN.glob("*.json"):
        written[path.stem] = json.loads(path.read_text())
    del written["params"]
    return written


@pytest.fixture
def smoke(shipped):
    """The document with only the scale `smoke`."""
    return shipped | {"scale": "smoke", "scales": {"smoke": shipped["scales"]["smoke"]}}


@pytest.fixture
def with_own(folder, smoke):
    """The same with a custom network in two experiments, and NADs from a file."""
    (folder / "own/own_net.py").write_text(NETWORK)
    (folder / "own/helper.py").write_text("def slope():\n    return 0.25\n")
    np.save(folder / "own/my.npy", np.eye(1024)[:4])
    smoke["architectures"]["mine"] = {"network": "own_net:net"}
    scale = smoke["scales"]["smoke"]
    scale["nads"] |= {"mine": 2, "lenet": {"file": "own/my.npy"}}
    scale["linear_pairs"]["networks"]["mine"] = {"indices": [1]}
    scale["fourier"]["networks"]["mine"] = {"step": 16}
    return smoke


def test_it_writes_what_the_chosen_scale_asks_for_and_says_what_that_takes(
    folder, shipped, capsys
):
    (folder / "data/plan/old").mkdir(parents=True)
    document = shipped | {"scale": "paper", "device": "cpu"}
    written = run(document)
    expected = config.plans(document)["paper"]
    names = experiments.names()
    assert set(written) == {"images", "machine", "nads", *names}
    assert not (folder / "data/plan/old").exists()
    assert artifacts.read_plan("nads", NADsPlan) == expected.nads
    head, columns, *rows, total = capsys.readouterr().out.splitlines()
    assert head.endswith("scale paper on 2 cores:")
    assert columns.split() == ["networks", "cached", "minutes", "left"]
    count = 0
    for row, name in zip(rows, names, strict=True):
        experiment = experiments.find(name)
        plan = expected.experiments[name]
        assert Plan.read(experiment) == plan
        cells = experiment.cells(plan)
        assert row.split() == [name, f"{len(cells):,}", "0", "unknown"]
        count += len(cells)
    assert total.split()[:2] == ["all", f"{count:,}"]


def test_an_experiment_that_the_scale_leaves_out_is_named_and_its_stages_say_so(
    folder, smoke, capsys
):
    scale = smoke["scales"]["smoke"]
    for name in experiments.names():
        if name not in ("fourier", "flip"):
            del scale[name]
    assert set(run(smoke)) == {"images", "machine", "nads", *experiments.names()}
    printed = capsys.readouterr()
    assert "`dvc repro evaluate@flip evaluate@fourier`" in printed.err
    assert "poison 0 0 0" in " ".join(printed.out.split())
    assert list(Plan.read(experiments.find("flip")).members) == ["lenet"]
    with refused("unknown-name") as caught:
        Plan.read(experiments.find("poison"))
    assert "poison" in str(caught.value)


def test_a_mistake_ends_it_and_what_an_earlier_plan_wrote_stays(folder, with_own):
    run(with_own)
    before = {path: path.read_bytes() for path in artifacts.PLAN.iterdir()}
    grid = {"step": 16, "transposes": False}
    with refused("conflict", place="params.yaml: scales.smoke.fourier", name="mine"):
        run(changed(with_own, "scales/smoke/fourier/networks/mine", grid))
    assert {path: path.read_bytes() for path in artifacts.PLAN.iterdir()} == before


def test_a_custom_network_is_tried_in_every_use_and_one_of_the_table_in_one(
    folder, with_own, monkeypatch
):
    of_lenet = []
    of_custom = []
    dry_run_once = trial.dry_run

    def note(specification, shape, outputs, steps):
        if specification == LENET:
            of_lenet.append((shape, outputs))
        if specification == {"network": "own_net:net"}:
            of_custom.append((shape, outputs))
        return dry_run_once(specification, shape, outputs, steps)

    monkeypatch.setattr(trial, "dry_run", note)
    run(with_own)
    # Those of lenet_colour, and of lenet in image_pairs.
    assert of_lenet == [((3, 32, 32), 2), ((4, 32, 32), 2)]
    assert of_custom == [((1, 32, 32), 1), ((1, 32, 32), 2), ((2, 32, 32), 2)]


def test_plans_have_the_digests_of_your_own_files_that_they_use(folder, with_own):
    written = run(with_own)
    digests = {}
    for path in ("own/own_net.py", "own/helper.py", "own/my.npy"):
        digests[path] = artifacts.file_digest(path)
    of_nads = {"own/my.npy": digests["own/my.npy"]}
    for stage, architecture, own in (
        ("linear_pairs", "mine", digests),
        ("nads", "mine", digests),
        ("linear_pairs", "lenet", {}),
        ("nads", "lenet", of_nads),
    ):
        assert written[stage]["members"][architecture]["own"] == own


def test_an_own_network_that_the_scale_leaves_out_gets_a_notice(
    folder, with_own, capsys
):
    run(with_own)
    assert "mine" not in capsys.readouterr().err
    with_own["architectures"]["other"] = {"network": "own_net:net"}
    run(with_own)
    (line,) = capsys.readouterr().err.splitlines()
    assert "other" in line and "scales.smoke" in line


def test_images_other_than_those_that_the_variable_names_get_a_notice(
    folder, smoke, monkeypatch, capsys
):
    """DVC does not know of the variable, so that it runs `download` no second time."""
    artifacts.IMAGES.mkdir(parents=True)
    source = "class folders in birds/"
    artifacts.write_json(artifacts.REPORTS / "images.json", {"source": source})
    paths = {"elsewhere/birds": 0, "elsewhere/fish": 1, "elsewhere/bird": 1}
    for path, notices in paths.items():
        Path(path).mkdir(parents=True)
        monkeypatch.setenv("CIFAR10", path)
        run(smoke)
        assert capsys.readouterr().err.count(source) == notices


def test_a_path_that_the_variable_names_must_exist(folder, smoke, monkeypatch):
    monkeypatch.setenv("CIFAR10", "elsewhere/brids")
    with refused("missing-file", path="elsewhere/brids"):
        run(smoke)
