"""The stage `generate`: what it lays down determines every data set bit for bit."""

import json

import numpy as np
import pandas as pd
import torch
from refusals import refused
from small_grids import lay_down_nads, lay_down_plan, orthonormal, plan_of

from pipeline import experiments, generate
from pipeline.grid.data import Data
from pipeline.machine import store
from pipeline.project import artifacts

SETTINGS = {"eps1": 1.0, "eps2": 0.1 + 0.2, "sigma": 1 / 3}
PLAN = plan_of(
    "linear_pairs",
    SETTINGS,
    {"lenet": {"indices": (1, 9)}},
    samples=(6, 4),
    estimands=("gradient", "secant"),
)


def test_cells_directions_and_draws_come_back_as_they_were(folder, capsys):
    basis = orthonormal()
    experiment = experiments.find("linear_pairs")
    lay_down_plan(PLAN)
    lay_down_nads(lenet=basis)
    stale = artifacts.DATASETS / "linear_pairs/base_noise-7.test_labels.npy"
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"")
    generate.main("linear_pairs")
    assert capsys.readouterr().out == "linear_pairs: 8 cells, 2 directions\n"
    names = {path.name for path in stale.parent.iterdir()}
    arrays = [
        f"{split}_{part}"
        for split in ("train", "test")
        for part in ("labels", "normal")
    ]
    draws = {f"base_noise-{seed}.{array}.npy" for seed in (0, 1) for array in arrays}
    assert names == draws | {"directions.npz", "cells.csv", "plan.json"}, (
        "what an earlier run left is gone"
    )
    cells = artifacts.read_cells("linear_pairs")
    assert cells == experiment.cells(PLAN) and type(cells[0]["index_1"]) is int
    places = ["architecture", "seed", "index_1", "index_2"]
    values = ["eps1", "eps2", "sigma", "eta1", "eta2"]
    columns = [*places, *values, "channels", "height", "width"]
    assert list(pd.read_csv(stale.parent / "cells.csv")) == columns
    data = Data(experiment)
    for cell in cells:
        draw = experiment.draw_base_noise(PLAN, cell["seed"], None)
        assert data.noise_digests(cell["seed"]) == store.digests(draw)
        expected = experiment.dataset(
            cell, "train", draw, [basis[cell["index_1"]], basis[cell["index_2"]]]
        )
        assert all(map(torch.equal, data.dataset(cell, "train"), expected))


def test_the_nads_of_the_other_estimand_have_a_file_beside_those_of_the_chosen_one(
    folder,
):
    plan = plan_of(
        "nad_sweep",
        {"eps": 1.0, "sigma": {"lenet": 1.0}},
        {"lenet": {"indices": (0, 3), "compare": True}},
        estimands=("gradient", "secant"),
    )
    bases = {"gradient": orthonormal(0), "secant": orthonormal(1)}
    lay_down_plan(plan)
    lay_down_nads(**{"lenet": bases["gradient"], "lenet.secant": bases["secant"]})
    generate.main("nad_sweep")
    directions = artifacts.read_dataset("nad_sweep", "directions.npz")
    for estimand, basis in bases.items():
        assert np.array_equal(directions[f"lenet-{estimand}-3"], basis[3])


def test_pictures_come_with_facts_and_a_notice_where_they_are_too_few(
    folder, images, capsys
):
    plan = plan_of("flip", {}, {"lenet": {}}, seeds=(2, 3), samples=(61, 20))
    lay_down_plan(plan)
    lay_down_nads(lenet=orthonormal())
    about = {"classes": list("abcd"), "mean": [0.5] * 3, "deviation": [0.2] * 3}
    with artifacts.output(artifacts.IMAGES) as where:
        for name in ("train_images", "train_labels", "test_images", "test_labels"):
            np.save(where / f"{name}.npy", images[name])
        artifacts.write_json(where / "about.json", about)
    generate.main("flip")
    output = capsys.readouterr()
    assert output.err.startswith("notice: flip ")
    assert "60 train samples, not 61" in output.err
    assert output.out == "flip: 4 cells, 1 direction\n"
    assert json.loads((artifacts.DATASETS / "flip/images.json").read_text()) == about
    assert (
        artifacts.read_about_pictures("flip") == about
        and Data(experiments.find("flip")).outputs == 4
    )
    draw = artifacts.read_base_noise("flip", 2)
    assert np.array_equal(draw["train_pictures"], images["train_images"])
    assert draw["train_pictures"].dtype == np.uint8
    assert draw["mean"].tolist() == [0.5] * 3


def test_nads_of_another_plan_are_refused(folder):
    lay_down_plan(PLAN)
    lay_down_nads(lenet=orthonormal())
    artifacts.write_json(artifacts.PLAN / "nads.json", {"seed": 1})
    with refused("stale", path="data/nads"):
        generate.main("linear_pairs")
