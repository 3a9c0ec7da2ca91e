"""Commands of the studies, with few samples and one epoch: each makes its whole table,
and the same command does not train again what the table has."""

import dataclasses
import importlib

import pandas as pd
import pytest

from pipeline import config
from pipeline.nads import load
from pipeline.project import artifacts

COMMANDS = {
    "border": ([], 8),
    "checkerboard": (["--train-samples", "40", "--epochs", "1"], 6),
    "carriers": (["--train-samples", "40", "--epochs", "1", "--indices", "0", "30"], 8),
    "scaled": (["--networks", "lenet", "--targets", "rotation"], 9),
    "anatomy": (["--networks", "lenet_strided", "--indices", "1000"], 6),
}
"""Arguments of each study's command, and the number of networks that it trains."""

SMALL = {
    "scaled": {"TRAIN_SAMPLES": 40, "EPOCHS": 1},
    "anatomy": {"KERNEL_SAMPLES": 40, "RESPONSE_NETWORKS": 2},
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

    train = "train_variant" if name == "anatomy" else "train_network"
    monkeypatch.setattr(study, train, refuse)
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
