"""The stage `plan`: what it writes, what it forecasts, and what it says of what cannot
be run."""

import functools
import json

import numpy as np
import pytest
import yaml
from documents import changed

from pipeline import config, experiments, plan
from pipeline.config import trial
from pipeline.experiments.plan import Plan
from pipeline.machine import workers
from pipeline.nads.estimator import NADsPlan
from pipeline.networks.dry_run import dry_run
from pipeline.project import artifacts
from pipeline.project.errors import InputError

LENET = {"network": "pipeline.networks.lenet:LeNet"}
NETWORK = """
from torch import nn
from helper import slope


def net(channels, outputs, depth=1):
    layers = nn.Linear(1024 * channels, 4), nn.LeakyReLU(slope()), nn.Linear(4, outputs)
    return nn.Sequential(nn.Flatten(), *layers)
"""


@functools.cache
def tried_once(specification, shape, outputs, steps):
    return dry_run(json.loads(specification), shape, outputs, steps)


@pytest.fixture
def folder(repository, monkeypatch):
    """An empty repository in which every network of the table is tried once by all
    tests together."""
    monkeypatch.setenv("DVC_ROOT", str(repository))

    def once(specification, *use):
        if specification["network"].startswith("pipeline."):
            return tried_once(json.dumps(specification), *use)
        return dry_run(specification, *use)

    monkeypatch.setattr(trial, "dry_run", once)
    monkeypatch.setattr(workers, "cores", lambda: 2)
    return repository


def run(document):
    """The stage, on a document in params.yaml; what it wrote, by the file's name."""
    with open("params.yaml", "w", encoding="utf-8") as file:
        yaml.safe_dump(document, file, sort_keys=False)
    plan.main()
    return {
        path.stem: json.loads(path.read_text())
        for path in artifacts.PLAN.glob("*.json")
    }


@pytest.fixture
def smoke(shipped):
    """The document with the scale `smoke` alone."""
    return shipped | {"scale": "smoke", "scales": {"smoke": shipped["scales"]["smoke"]}}


@pytest.fixture
def with_own(folder, smoke):
    """The same with a network of one's own in two experiments, and NADs from a file."""
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
    written = run(document := shipped | {"scale": "paper", "device": "cpu"})
    asked = config.plans(document)["paper"]
    names = experiments.names()
    assert set(written) == {"images", "machine", "nads", *names}
    assert not (folder / "data/plan/old").exists()
    for name in names:
        assert Plan.read(experiments.find(name)) == asked.experiments[name]
    assert artifacts.read_plan("nads", NADsPlan) == asked.nads
    head, columns, *table = capsys.readouterr().out.splitlines()
    assert head == "params.yaml is sound; scale paper on 2 cores:"
    assert columns.split() == "networks cached minutes left".split()
    total = 0
    for row, name in zip(table[:-1], names, strict=True):
        grid = asked.experiments[name]
        cells = experiments.find(name).cells(grid)
        assert row.split() == [name, f"{len(cells):,}", "0", "unknown"]
        total += len(cells)
    assert table[-1].split()[:2] == ["all", f"{total:,}"]


def test_an_experiment_that_the_scale_leaves_out_is_named_and_its_stages_say_so(
    folder, smoke, capsys
):
    scale = smoke["scales"]["smoke"]
    for name in {*experiments.names()} - {"fourier", "flip"}:
        del scale[name]
    assert set(run(smoke)) == {"images", "machine", "nads", *experiments.names()}
    told = capsys.readouterr()
    assert "`dvc repro evaluate@flip evaluate@fourier` runs the rest" in told.err
    assert "poison 0 0 0" in " ".join(told.out.split())
    assert list(Plan.read(experiments.find("flip")).members) == ["lenet"]
    with pytest.raises(
        InputError, match="scale smoke leaves poison out; `dvc repro evaluate@X`"
    ):
        Plan.read(experiments.find("poison"))


def test_a_mistake_ends_it_and_what_an_earlier_plan_wrote_stays(folder, with_own):
    run(with_own)
    before = {path: path.read_bytes() for path in artifacts.PLAN.iterdir()}
    grid = {"step": 16, "transposes": False}
    with pytest.raises(InputError) as caught:
        run(changed(with_own, "scales/smoke/fourier/networks/mine", grid))
    assert str(caught.value) == (
        "params.yaml: scales.smoke.fourier: mine has transposes: false, but its class states no "
        "symmetry under transposition, or its inputs are not square; train both"
    )
    assert {path: path.read_bytes() for path in artifacts.PLAN.iterdir()} == before


def test_a_network_of_ones_own_is_tried_in_every_use_and_one_of_the_table_in_one(
    folder, with_own, monkeypatch
):
    calls = []
    once = trial.dry_run
    monkeypatch.setattr(
        trial, "dry_run", lambda *call: calls.append(call) or once(*call)
    )
    run(with_own)

    def uses(network):
        return [use for given, *use, _ in calls if given == network]

    assert uses(LENET) == [[(3, 32, 32), 2], [(4, 32, 32), 2]], (
        "lenet_colour, and lenet"
    )
    assert uses({"network": "own_net:net"}) == [
        [(1, 32, 32), 1],
        [(1, 32, 32), 2],
        [(2, 32, 32), 2],
    ]


def test_files_of_ones_own_stand_in_the_plans_that_use_them_with_their_digests(
    folder, with_own
):
    written = run(with_own)

    def digests(*paths):
        return {path: artifacts.file_digest(path) for path in paths}

    net = digests("own/own_net.py", "own/helper.py", "own/my.npy")
    for stage, architecture, own in (
        ("linear_pairs", "mine", net),
        ("nads", "mine", net),
        ("linear_pairs", "lenet", {}),
        ("nads", "lenet", digests("own/my.npy")),
    ):
        assert written[stage]["members"][architecture]["own"] == own


def test_images_other_than_those_that_the_variable_names_get_a_notice(
    folder, smoke, monkeypatch, capsys
):
    """DVC does not know of the variable, so that it runs `download` no second time."""
    artifacts.IMAGES.mkdir(parents=True)
    artifacts.write_json(
        artifacts.REPORTS / "images.json", {"source": "class folders in birds/"}
    )
    for path, notices in (("elsewhere/birds", 0), ("elsewhere/fish.zip", 1)):
        monkeypatch.setenv("CIFAR10", path)
        run(smoke)
        assert (
            capsys.readouterr().err.count("holds images from class folders in birds/")
            == notices
        )
