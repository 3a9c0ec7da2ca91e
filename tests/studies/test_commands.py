"""Commands of the studies, with few samples and one epoch: each makes its whole table,
and the same command does not train again what the table has."""

import dataclasses
import importlib

import numpy as np
import pandas as pd
import pytest

from pipeline import config
from pipeline.nads import load
from pipeline.project import artifacts
from studies import controversial, definitions, linear_networks, optimisers, prediction

COMMANDS = {
    "border": ([], 16),
    "checkerboard": (["--train-samples", "40", "--epochs", "1"], 6),
    "carriers": (["--indices", "0", "30"], 8),
    "scaled": (["--networks", "lenet", "--targets", "rotation"], 9),
    "layer_scale": ([], 40),
    "transposed": ([], 12),
    "fitted_rivals": (["--networks", "lenet"], 18),
    "anatomy": (["--networks", "lenet_strided", "--indices", "1000"], 6),
}
"""Arguments of each study's command, and the number of networks that it trains."""

SMALL = {
    "border": {"RESPONSE_NETWORKS": 2},
    "carriers": {"TRAIN_SAMPLES": 40, "EPOCHS": 1},
    "scaled": {"TRAIN_SAMPLES": 40, "EPOCHS": 1},
    "transposed": {"SEEDS": 2},
    "fitted_rivals": {"RECIPES": {"lenet": (40, 1)}},
    "anatomy": {"KERNEL_SAMPLES": 40, "RESPONSE_NETWORKS": 2},
    "layer_scale": {"RESPONSE_NETWORKS": 2},
}
"""Sizes of studies that their commands do not state."""


def make_small(plan):
    members = {}
    for name, member in plan.members.items():
        training = dataclasses.replace(member.training, epochs=1)
        members[name] = dataclasses.replace(member, training=training)
    return dataclasses.replace(plan, members=members, train_samples=40, test_samples=20)


@pytest.fixture
def run(images, in_this_process, tmp_path, monkeypatch):
    """Run the command of a study with few samples; return its module."""
    plans = config.plans

    def plan_few_samples(document):
        return {
            scale: dataclasses.replace(
                planned,
                experiments={
                    name: make_small(plan) for name, plan in planned.experiments.items()
                },
            )
            for scale, planned in plans(document).items()
        }

    def run(name, *arguments):
        study = importlib.import_module(f"studies.{name}")
        for constant, value in SMALL.get(name, {}).items():
            monkeypatch.setattr(study, constant, value)
        monkeypatch.setattr(study, "FOLDER", tmp_path)
        monkeypatch.setattr("sys.argv", [name, *arguments])
        study.main()
        return study

    monkeypatch.setattr(config, "plans", plan_few_samples)
    monkeypatch.setattr(artifacts, "read_images", lambda: images)
    monkeypatch.setattr(
        artifacts, "read_nads", lambda name: {"directions": load("lenet").directions}
    )
    return run


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_trains_each_network_once(run, tmp_path, name, monkeypatch):
    arguments, count = COMMANDS[name]
    study = run(name, *arguments)
    table = pd.read_csv(tmp_path / "results.csv")
    assert len(table) == count
    assert table["train_accuracy"].between(0, 1).all()

    def refuse(*_):
        raise AssertionError("a network is trained again")

    for function in ("train_variant", "train_network", "measure_untrained"):
        if hasattr(study, function):
            monkeypatch.setattr(study, function, refuse)
    run(name, *arguments)
    again = pd.read_csv(tmp_path / "results.csv")
    pd.testing.assert_frame_equal(again, table)


@pytest.mark.parametrize(("name", "networks"), [("altered", 4), ("order_in_time", 6)])
def test_a_command_draws_its_table(run, tmp_path, name, networks):
    run(name)
    table = pd.read_csv(tmp_path / "results.csv")
    place = [key for key in ("architecture", "carriers", "seed") if key in table]
    assert len(table[place].drop_duplicates()) == networks
    assert (tmp_path / f"{name}.png").exists()


def test_optimisers_writes_the_kept_table_again(tmp_path, monkeypatch):
    kept = pd.read_csv(optimisers.FOLDER / "results.csv")
    monkeypatch.setattr(optimisers, "FOLDER", tmp_path)
    optimisers.main()
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "results.csv"), kept)
    assert (tmp_path / "optimisers.png").exists()


def test_definitions_compares_three_rankings(tmp_path, monkeypatch):
    """One ranking needs no network, so it is the kept one."""
    kept = pd.read_csv(definitions.FOLDER / "results.csv").query("network == 'LeNet'")
    monkeypatch.setattr(definitions, "FOLDER", tmp_path)
    monkeypatch.setattr(definitions, "RUNS", {"lenet": 2})
    definitions.main()
    table = pd.read_csv(tmp_path / "results.csv")
    assert list(table["ranking"]) == ["low frequency first", "secant", "gradient"]
    pd.testing.assert_series_equal(table.iloc[0], kept.iloc[0])
    assert list(table["networks"][1:]) == [2, 2]


def test_rules_from_strides_and_patches():
    frequencies = np.array([[-4, 2], [-6, 0], [-8, 16], [-8, 4], [-2, 14]])
    assert list(definitions.count_even_halves(frequencies)) == [1, 1, 2, 2, 0]
    assert list(definitions.repeats_in_patches(frequencies)) == [0, 0, 1, 0, 0]


def test_linear_networks_writes_both_tables(tmp_path, monkeypatch):
    monkeypatch.setattr(linear_networks, "FOLDER", tmp_path)
    monkeypatch.setattr(linear_networks, "SAMPLES", 40)
    monkeypatch.setattr(linear_networks, "SEEDS", (0,))
    linear_networks.main()
    pooling = pd.read_csv(tmp_path / "pooling.csv")
    conditioning = pd.read_csv(tmp_path / "conditioning.csv")
    assert len(pooling) == 21  # frequencies up to transposition, spaced by four
    assert list(conditioning["factor"]) == list(linear_networks.FACTORS)
    assert (tmp_path / "linear_networks.png").exists()


def test_prediction_ranks_the_networks_and_trains_each_once(
    images, in_this_process, tmp_path, monkeypatch
):
    monkeypatch.setattr(artifacts, "read_images", lambda: images)
    monkeypatch.setattr(artifacts, "read_about_images", lambda: {"name": "random"})
    for constant, value in {
        "FOLDER": tmp_path,
        "NETWORKS": prediction.NETWORKS[:3],
        "SIZES": {20: 2, 40: 2},
        "UNTRAINED": 2,
        "RESAMPLED": 20,
    }.items():
        monkeypatch.setattr(prediction, constant, value)
    prediction.images.cache_clear()
    prediction.main()
    table = pd.read_csv(tmp_path / "networks.csv")
    assert len(table) == 3 * 2 * 2 * prediction.SEEDS  # each size with one epoch too
    ranked = pd.read_csv(tmp_path / "correlations.csv")
    assert list(ranked["predictor"]) == 2 * list(prediction.PREDICTORS)
    assert ranked["rho"].between(-1, 1).all()
    assert (tmp_path / "prediction.png").exists()
    monkeypatch.setattr(prediction, "train_network", None)
    monkeypatch.setattr(prediction, "measure_alignments", None)
    prediction.main()
    again = pd.read_csv(tmp_path / "networks.csv")
    pd.testing.assert_frame_equal(again, table)
    prediction.images.cache_clear()


def test_controversial_trains_pairs_and_draws_them(
    in_this_process, tmp_path, monkeypatch
):
    make_plan = controversial.make_plan

    def plan_few_samples(names, scale):
        return make_small(make_plan(names, scale))

    monkeypatch.setattr(controversial, "make_plan", plan_few_samples)
    arguments = ["--networks", "lenet", "convnext", "--out", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["", *arguments, "--pairs-only", "--seeds", "1"])
    controversial.main()
    table = pd.read_csv(tmp_path / "results.csv")
    assert len(table) == 4
    assert not (tmp_path / "pairs.png").exists()
    made = pd.DataFrame(
        [["lenet", "v", "n_1"], ["lenet", "w", "n_2"]],
        columns=["network", "direction", "own_nad"],
    )
    made.to_csv(tmp_path / "own_nads.csv", index=False)
    monkeypatch.setattr(controversial, "train_cell", None)
    controversial.main()
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "results.csv"), table)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "own_nads.csv"), made)
    monkeypatch.setattr("sys.argv", ["", *arguments, "--draw"])
    controversial.main()
    assert (tmp_path / "pairs.png").exists()
