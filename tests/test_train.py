"""The train stage where networks train together, as on a GPU, against one at a time; how failures are told apart."""

import copy
import functools
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from structure import ROOT

from pipeline import artifacts, evaluate, generate, networks, train
from pipeline.machine import workers
from pipeline.nads import anisotropy
from pipeline.project.errors import InputError
from pipeline.training import ensembles
from pipeline.training import single as training

SHIPPED = yaml.safe_load((ROOT / "params.yaml").read_text())
PLANS = {
    "resnet18_narrow": {"indices": [1], "epochs": 1, "lr": 0.02},
    "lenet": {"indices": [1, 1000]},
    "mlp_100_20": {"indices": [1, 1000]},
}


@pytest.fixture
def work(tmp_path, monkeypatch):
    """An empty folder with the data of a small grid of `linear_pairs` along random directions."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    torch.set_num_threads(1)
    document = copy.deepcopy(SHIPPED)
    document["scale"], document["device"] = "smoke", "cpu"
    document["scales"]["smoke"]["linear_pairs"] |= {"train_samples": 200, "test_samples": 64, "networks": PLANS}
    Path("params.yaml").write_text(yaml.safe_dump(document))
    artifacts.NADS.mkdir(parents=True)
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((1024, 1024)))[0]
    nads = anisotropy.imported(basis, (1, 32, 32))
    for name in PLANS:
        np.savez(artifacts.NADS / f"{name}.npz", **vars(nads))
    generate.main("linear_pairs")
    return document


def tables():
    folder = artifacts.MODELS / "linear_pairs"
    return pd.read_csv(folder / "training.csv"), pd.read_csv(folder / "losses.csv")


def test_together_the_stage_trains_the_same_networks(work, monkeypatch, capsys):
    train.main("linear_pairs")
    one_by_one = tables()
    groups = []
    monkeypatch.setattr(train, "TOGETHER", ("cpu",))
    monkeypatch.setattr(ensembles, "AT_ONCE", ensembles.AT_ONCE | {"stack": 3})
    together = ensembles.train
    monkeypatch.setattr(ensembles, "train", lambda n, *a, **k: groups.append(len(n)) or together(n, *a, **k))
    capsys.readouterr()
    train.main("linear_pairs")
    assert "linear_pairs: 9 cells trained, 0 reused, 0 failed" in capsys.readouterr().out, "another engine, other keys"
    assert sorted(groups) == [1, 1, 1, 3, 3]
    for ours, theirs in zip(tables(), one_by_one):
        pd.testing.assert_frame_equal(ours, theirs, rtol=0.02, atol=0.02)
    evaluate.main("linear_pairs")
    results = pd.read_csv(artifacts.REPORTS / "linear_pairs" / "results.csv")
    assert len(results) == 27 and results["accuracy"].between(0, 1).all()
    train.main("linear_pairs")
    assert "0 cells trained, 9 reused" in capsys.readouterr().out


def test_together_a_cell_that_fails_is_named_and_the_others_are_kept(work, monkeypatch, capsys):
    monkeypatch.setattr(train, "TOGETHER", ("cpu",))
    original = artifacts.Data.dataset

    def broken(data, cell, split):
        x, y = original(data, cell, split)
        where = cell["architecture"], cell["index_1"], cell["index_2"]
        if where == ("lenet", 1, 1000):
            raise OSError("no such draw")
        return (x * float("nan"), y) if where == ("mlp_100_20", 1000, 1) else (x, y)

    monkeypatch.setattr(artifacts.Data, "dataset", broken)
    with pytest.raises(InputError, match="2 of 9 cells of linear_pairs failed") as caught:
        train.main("linear_pairs")
    assert "lenet-1-1000-seed0: OSError: no such draw" in str(caught.value)
    assert "mlp_100_20-1000-1-seed0: Diverged: the training loss became nan" in str(caught.value)
    monkeypatch.setattr(artifacts.Data, "dataset", original)
    capsys.readouterr()
    train.main("linear_pairs")
    assert "2 cells trained, 7 reused" in capsys.readouterr().out


def test_bfloat16_is_another_grid(work, capsys):
    train.main("linear_pairs")
    work["scales"]["smoke"]["precision"] = "bfloat16"
    work["scales"]["smoke"]["linear_pairs"]["networks"] = {"mlp_100_20": {"indices": [1]}}
    Path("params.yaml").write_text(yaml.safe_dump(work))
    generate.main("linear_pairs")
    capsys.readouterr()
    train.main("linear_pairs")
    assert "1 cells trained, 0 reused" in capsys.readouterr().out
    assert artifacts.grid("linear_pairs")["precision"] == "bfloat16"


def in_memory_for(context, recipes, room):
    """Work on a group, on a device with room for so many."""
    if len(recipes) > room:
        raise torch.OutOfMemoryError(f"{len(recipes)} do not fit")
    context.append(len(recipes))
    return [recipe if recipe != 5 else training.Diverged("five") for recipe in recipes]


def test_a_group_that_does_not_fit_is_halved():
    groups, context = [[(n, n) for n in range(7)], [(n, n) for n in range(7, 9)]], []
    found = dict(workers.run_together(functools.partial(in_memory_for, room=2), groups, lambda: context))
    assert isinstance(found.pop(5), training.Diverged)
    assert found == {n: n for n in (0, 1, 2, 3, 4, 6, 7, 8)} and context == [1, 2, 2, 2, 2]
    found = dict(workers.run_together(functools.partial(in_memory_for, room=0), [[(0, 0), (1, 1)]], list))
    assert set(found) == {0, 1} and all(isinstance(error, torch.OutOfMemoryError) for error in found.values())


def test_groups_are_of_one_architecture_and_training():
    lenet, vgg, own = (
        {"network": "lenet"},
        {"network": "vgg11", "width": 0.125},
        {"network": "torchvision.models:resnet18"},
    )
    short, long = {"epochs": 1}, {"epochs": 2}
    recipes = [
        {"specification": networks.resolved(specification), "training": recipe}
        for specification, recipe, count in ((lenet, short, 130), (lenet, long, 2), (vgg, long, 2), (own, long, 2))
        for _ in range(count)
    ]
    groups = train.groups_of(recipes, 3, 2)
    assert [len(group) for group in groups] == [128, 2, 2, 1, 1, 1, 1]
    assert [position for position, _ in itertools.chain(*groups)] == list(range(136))


def test_the_numbers_of_a_cell_come_back_from_the_file_as_they_were(tmp_path, monkeypatch):
    monkeypatch.setattr(artifacts, "DATASETS", tmp_path)
    values = [0.1, 1 / 3, 1e-5, 0.1 + 0.2, *np.random.default_rng(0).standard_normal(1000).tolist()]
    (tmp_path / "linear_pairs").mkdir()
    pd.DataFrame({"sigma": values}).to_csv(tmp_path / "linear_pairs" / "cells.csv", index=False)
    assert [cell["sigma"] for cell in artifacts.cells("linear_pairs")] == values
