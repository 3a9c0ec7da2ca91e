"""`flip` against paper 1, §5, table 1: pictures with their NAD coefficients in reverse
order."""

import numpy as np
import pytest
import torch
from small_grids import orthonormal, plan_of

from pipeline import experiments

EXPERIMENT = experiments.find("flip")
PLAN = plan_of("flip", {}, {"lenet": {}, "mlp": {}}, samples=(40, 20))
BASIS = orthonormal()


@pytest.mark.parametrize("split", ["train", "test"])
def test_the_flip_reverses_the_coefficients_of_pictures_and_mean_alike(
    split, images, normalised
):
    """x' = U flip(Uᵀx) of the normalised pictures, channel by channel, in training and
    test."""
    base_noise = EXPERIMENT.draw_base_noise(PLAN, 0, images)

    def dataset(name):
        cell = {"images": name, "seed": 0}
        return EXPERIMENT.dataset(cell, split, base_noise, [BASIS])

    plain, classes = dataset("plain")
    flipped, same = dataset("flipped")
    assert np.array_equal(classes, base_noise[f"{split}_labels"])
    assert torch.equal(classes, same)
    expected = normalised(base_noise[f"{split}_pictures"])
    np.testing.assert_allclose(plain, expected, atol=1e-5)
    coefficients = expected.reshape(-1, 3, 1024) @ BASIS.T
    found = flipped.flatten(2).double().numpy() @ BASIS.T
    np.testing.assert_allclose(found, coefficients[..., ::-1], atol=1e-4)


def test_images_as_they_are_need_no_nads(images):
    (cell, *_) = EXPERIMENT.cells(PLAN)
    assert cell["images"] == "plain" and EXPERIMENT.direction_names(cell) == []
    base_noise = EXPERIMENT.draw_base_noise(PLAN, cell["seed"], images)
    x, _ = EXPERIMENT.dataset(cell, "train", base_noise, [])
    assert torch.equal(x, EXPERIMENT.normalised_pictures("train", base_noise))


def test_principal_components_are_put_onto_nads_of_one_channel_only():
    grid = EXPERIMENT.Grid(("plain", "aligned"))
    assert grid.count_nads((1, 8, 8)) == 64
    with pytest.raises(ValueError, match="one channel"):
        grid.count_nads((3, 8, 8))
    assert EXPERIMENT.Grid(("flipped",)).count_nads((3, 8, 8)) == 192
