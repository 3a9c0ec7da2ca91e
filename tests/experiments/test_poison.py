"""`poison` against paper 1, §5: pictures with their class written into one NAD coefficient."""

import numpy as np
import pytest
import torch
from small_grids import SQUARE, orthonormal, plan_of, table

from pipeline import experiments
from pipeline.cells import pictures
from pipeline.cells.seeds import stream
from pipeline.project.errors import InputError

EXPERIMENT = experiments.find("poison")
GRIDS = {
    "lenet": {"indices": (0, 1020), "mixture_indices": (7,)},
    "mlp": {"indices": (5,), "mixture_indices": ()},
    "logreg": {"indices": (), "mixture_indices": (3,)},
}
PLAN = plan_of("poison", {"size": 0.05}, GRIDS, seeds=(4,), samples=(40, 20))
BASIS = orthonormal()


def cell(data, index, name="lenet"):
    place = {"architecture": name, "seed": 4, "data": data, "index": index}
    return place | {"size": 0.05} | SQUARE


def test_a_draw_is_pictures_with_their_classes_and_mixtures_of_the_same(images):
    draw = EXPERIMENT.draw(PLAN, 4, images)
    for split, count in (("train", 40), ("test", 20)):
        rng = stream(4, "poison", split)
        chosen, labels = pictures.chosen(rng, images, split, count)
        # Test samples too have the training images' mean and covariance.
        train = images["train_images"], images["train_labels"]
        mixture = pictures.gaussian_mixture(rng, *train, labels)
        for part, array in {"pictures": chosen, "labels": labels, "mixture": mixture}.items():
            assert np.array_equal(draw[f"{split}_{part}"], array)
    assert all(draw[key].tolist() == images[key] for key in ("mean", "deviation"))
    alone = plan_of("poison", {"size": 0.05}, {"mlp": GRIDS["mlp"]}, samples=(40, 20))
    assert set(EXPERIMENT.draw(alone, 4, images)) == {key for key in draw if "mixture" not in key}
    with pytest.raises(InputError, match="^poison: 42 classes take 7 NADs, so the last index is"):
        EXPERIMENT.draw(PLAN, 4, images | {"classes": list(range(42))})


@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("data", ["images", "mixture"])
def test_the_data_have_carriers_from_the_cells_index_on_and_are_then_normalised(
    split, data, images
):
    draw = EXPERIMENT.draw(PLAN, 4, images)
    x, classes = EXPERIMENT.dataset(cell(data, 7), split, draw, [BASIS])
    assert np.array_equal(classes, draw[f"{split}_labels"]) and classes.dtype == torch.int64
    mean, deviation = (np.reshape(images[key], (1, 3, 1, 1)) for key in ("mean", "deviation"))
    part, unit = ("pictures", 255) if data == "images" else ("mixture", 1)
    raw = torch.tensor(draw[f"{split}_{part}"] / unit).float()
    clean, _ = EXPERIMENT.dataset(cell(data, -1), split, draw, [BASIS])
    expected = pictures.poisoned(raw, classes, BASIS[7:], 0.05)
    for found, picture in ((x, expected), (clean, raw)):
        np.testing.assert_allclose(found.double().numpy() * deviation + mean, picture, atol=2e-5)


def test_it_is_tested_on_clean_data_and_with_carriers(images):
    draw = EXPERIMENT.draw(PLAN, 4, images)
    expected = {
        name: EXPERIMENT.dataset(cell("images", index), "test", draw, [BASIS])
        for name, index in (("clean", -1), ("poisoned", 7))
    }
    assert not torch.equal(expected["clean"][0], expected["poisoned"][0])
    for index, names in ((7, ["clean", "poisoned"]), (-1, ["clean"])):
        sets = list(EXPERIMENT.test_sets(cell("images", index), draw, [BASIS]))
        assert [name for name, *_ in sets] == names
        for name, x, y in sets:
            assert torch.equal(x, expected[name][0]) and torch.equal(y, expected[name][1])


def test_metrics():
    columns = ("architecture", "seed", "data", "index", "test_set", "accuracy", "train_accuracy")
    rows = [
        ("lenet", s, "images", i, "clean", a + 0.02 * s, 0.98 if i == 500 else 0.995)
        for s in (0, 1)
        for i, a in ((-1, 0.5), (0, 0.1), (500, 0.9), (1020, 0.45))
    ]
    rows += [
        ("lenet", 0, "images", 0, "poisoned", 1.0, 0.995),
        ("lenet", 0, "mixture", -1, "clean", 1 / 3, 1.0),
        ("lenet", 0, "mixture", 9, "clean", 2 / 3, 1.0),
    ]
    assert EXPERIMENT.metrics({"results": table(rows, columns)}, {})["lenet"] == {
        "images": {"cells": 8, "fitted": 6, "clean": 0.51, "first": 0.11, "last": 0.46},
        "mixture": {"cells": 2, "fitted": 2, "clean": 0.3333, "first": 0.6667, "last": 0.6667},
    }
