"""An experiment's data sets from what was laid down on disk."""

import json

import numpy as np
import pytest
import torch
from small_grids import orthonormal, plan_of

from pipeline import experiments
from pipeline.grid.data import Data
from pipeline.machine import store
from pipeline.project import artifacts
from pipeline.project.errors import InputError

BASIS = orthonormal()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data/datasets/."""
    monkeypatch.setattr(artifacts, "DATASETS", tmp_path)
    return tmp_path


@pytest.fixture
def pairs(folder):
    """`linear_pairs` with two seeds' draws on disk."""
    settings = {"eps1": 1.0, "eps2": 0.5, "sigma": 1.0}
    plan = plan_of("linear_pairs", settings, {"lenet": {"indices": (1, 9)}}, samples=(6, 4))
    experiment = experiments.find("linear_pairs")
    (folder / "linear_pairs").mkdir()
    np.savez(folder / "linear_pairs/directions.npz", **{f"lenet-{index}": BASIS[index] for index in (1, 9)})
    for seed in plan.seeds:
        np.savez(folder / f"linear_pairs/draw-{seed}.npz", **experiment.draw(plan, seed, None))
    return experiment, plan


def test_a_cells_data_are_those_of_its_seed_and_directions(pairs):
    experiment, plan = pairs
    data = Data(experiment)
    for cell in experiment.cells(plan):
        draw, used = experiment.draw(plan, cell["seed"], None), [BASIS[cell["index_1"]], BASIS[cell["index_2"]]]
        for split in ("train", "test"):
            for found, expected in zip(data.dataset(cell, split), experiment.dataset(cell, split, draw, used)):
                assert torch.equal(found, expected)
        for found, expected in zip(data.test_sets(cell), experiment.test_sets(cell, draw, used)):
            assert found[0] == expected[0] and torch.equal(found[1], expected[1]) and torch.equal(found[2], expected[2])
        for found, expected in zip(data.plane(cell), experiment.plane(cell, draw, used)):
            assert torch.equal(found, expected)
        assert all(map(np.array_equal, data.directions(cell), used))
    assert data.outputs == 2


def test_digests_of_a_draw_are_of_its_arrays_where_none_were_noted(pairs):
    experiment, plan = pairs
    draw = experiment.draw(plan, 1, None)
    names = ("test_labels", "test_normal", "train_labels", "train_normal")
    expected = {name: store.digest(draw[name]) for name in names}
    assert Data(experiment).digests(1) == expected
    noted = artifacts.DATASETS / "linear_pairs/digests.json"
    artifacts.write_json(noted, {"1": {"test_labels": "noted"}})
    assert Data(experiment).digests(1) == {"test_labels": "noted"} and Data(experiment).digests(0) != expected
    artifacts.write_json(noted, {"1": {"train_labels": "noted"}})
    assert Data(experiment).digests(1) == expected, "earlier versions noted none of the test's"


def test_each_file_is_read_once_and_one_draw_is_kept_at_a_time(pairs, monkeypatch):
    read = []
    for name in ("draw", "directions"):
        monkeypatch.setattr(
            artifacts, name, lambda *place, real=getattr(artifacts, name): read.append(place) or real(*place)
        )
    data = Data(pairs[0])
    assert read == []
    one = data.draw(0)
    assert data.draw(0) is one and data.vectors is data.vectors
    data.draw(1)
    assert list(data.draws) == [1], "a draw at paper scale is large"
    assert read == [("linear_pairs", 0), ("linear_pairs",), ("linear_pairs", 1)]


def test_an_experiment_on_images_has_an_output_for_each_of_their_classes(folder):
    (folder / "flip").mkdir()
    (folder / "flip/images.json").write_text(json.dumps({"classes": ["a", "b", "c"]}))
    assert Data(experiments.find("flip")).outputs == 3


def test_what_was_not_generated_is_said(folder):
    with pytest.raises(InputError, match=r"draw-0.npz is missing; `python -m pipeline.generate flip` makes it"):
        Data(experiments.find("flip")).draw(0)
