"""`poison` against paper 1, §5: pictures with their class written into one NAD
coefficient."""

import numpy as np
import pytest
import torch
from small_grids import SQUARE, orthonormal, plan_of

from pipeline import experiments
from pipeline.project.errors import InputError
from pipeline.training import pictures

EXPERIMENT = experiments.find("poison")
PLAN = plan_of(
    "poison", {"size": 0.05}, {"lenet": {"indices": (0, 1020)}}, samples=(40, 20)
)
BASIS = orthonormal()


def cell(index):
    return {"architecture": "lenet", "seed": 4, "index": index, "size": 0.05} | SQUARE


def test_more_classes_take_more_nads(images):
    with pytest.raises(
        InputError, match="^poison: 42 classes take 7 NADs, so the last index is"
    ):
        EXPERIMENT.draw_base_noise(PLAN, 4, images | {"classes": list(range(42))})


@pytest.mark.parametrize("split", ["train", "test"])
def test_the_data_have_carriers_from_the_cells_index_on_and_are_then_normalised(
    split, images
):
    draw = EXPERIMENT.draw_base_noise(PLAN, 4, images)
    x, classes = EXPERIMENT.dataset(cell(7), split, draw, [BASIS])
    assert (
        np.array_equal(classes, draw[f"{split}_labels"])
        and classes.dtype == torch.int64
    )
    mean, deviation = (
        np.reshape(images[key], (1, 3, 1, 1)) for key in ("mean", "deviation")
    )
    raw = torch.tensor(draw[f"{split}_pictures"] / 255).float()
    clean, _ = EXPERIMENT.dataset(cell(-1), split, draw, [BASIS])
    expected = pictures.poisoned(raw, classes, BASIS[7:], 0.05)
    for found, picture in ((x, expected), (clean, raw)):
        np.testing.assert_allclose(
            found.double().numpy() * deviation + mean, picture, atol=2e-5
        )


def test_it_is_tested_on_clean_images_and_with_carriers(images):
    draw = EXPERIMENT.draw_base_noise(PLAN, 4, images)
    expected = {
        name: EXPERIMENT.dataset(cell(index), "test", draw, [BASIS])
        for name, index in (("clean", -1), ("poisoned", 7))
    }
    assert not torch.equal(expected["clean"][0], expected["poisoned"][0])
    for index, names in ((7, ["clean", "poisoned"]), (-1, ["clean"])):
        sets = list(EXPERIMENT.test_sets(cell(index), draw, [BASIS]))
        assert [name for name, *_ in sets] == names
        for name, x, y in sets:
            assert torch.equal(x, expected[name][0]) and torch.equal(
                y, expected[name][1]
            )
