"""`poison` against paper 1, §5: pictures with their class written into one NAD
coefficient."""

import numpy as np
import pytest
import torch
from refusals import refused
from small_grids import SQUARE, orthonormal, plan_of

from pipeline import experiments
from pipeline.training import pictures

EXPERIMENT = experiments.find("poison")
GRIDS = {"lenet": {"indices": (0, 1020)}}
PLAN = plan_of("poison", {"size": 0.05}, GRIDS, samples=(40, 20))
BASIS = orthonormal()
CELL = {
    "architecture": "lenet",
    "seed": 4,
    "data": "carriers",
    "index": 7,
    "size": 0.05,
    **SQUARE,
}
CLEAN = CELL | {"data": "images", "index": -1}


def test_clean_images_need_no_nads(images):
    assert EXPERIMENT.direction_names(CLEAN) == []
    assert EXPERIMENT.direction_names(CELL) == ["lenet"]
    base_noise = EXPERIMENT.draw_base_noise(PLAN, 4, images)
    ((name, x, _),) = EXPERIMENT.test_sets(CLEAN, base_noise, [])
    assert name == "clean" and x.shape == (20, 3, 32, 32)


def test_more_classes_take_more_nads(images):
    images["classes"] = list(range(42))
    with refused("out-of-range") as caught:
        EXPERIMENT.draw_base_noise(PLAN, 4, images)
    assert "42 classes take 7 NADs" in str(caught.value)


@pytest.mark.parametrize("split", ["train", "test"])
def test_the_data_have_carriers_from_the_cells_index_on_and_are_then_normalised(
    split, images
):
    base_noise = EXPERIMENT.draw_base_noise(PLAN, 4, images)
    x, classes = EXPERIMENT.dataset(CELL, split, base_noise, [BASIS])
    clean, _ = EXPERIMENT.dataset(CLEAN, split, base_noise, [BASIS])
    assert classes.dtype == torch.int64
    assert np.array_equal(classes, base_noise[f"{split}_labels"])
    mean = np.reshape(images["mean"], (1, 3, 1, 1))
    deviation = np.reshape(images["deviation"], (1, 3, 1, 1))
    raw = torch.tensor(base_noise[f"{split}_pictures"] / 255).float()
    poisoned = pictures.poison(raw, classes, BASIS[7:], 0.05)
    for found, expected in ((x, poisoned), (clean, raw)):
        found = found.double().numpy() * deviation + mean
        np.testing.assert_allclose(found, expected, atol=2e-5)


@pytest.mark.parametrize("cell", [CELL, CLEAN])
def test_it_is_tested_on_clean_images_and_with_carriers(cell, images):
    base_noise = EXPERIMENT.draw_base_noise(PLAN, 4, images)
    expected = {"clean": EXPERIMENT.dataset(CLEAN, "test", base_noise, [BASIS])}
    if cell is CELL:
        expected["poisoned"] = EXPERIMENT.dataset(CELL, "test", base_noise, [BASIS])
    names = []
    for name, x, y in EXPERIMENT.test_sets(cell, base_noise, [BASIS]):
        names.append(name)
        expected_x, expected_y = expected[name]
        assert torch.equal(x, expected_x)
        assert torch.equal(y, expected_y)
    assert names == list(expected)
