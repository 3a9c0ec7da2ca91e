"""`flip` against paper 1, §5, table 1: pictures with their NAD coefficients in reverse order;
components taken away."""

import numpy as np
import pytest
import torch
from small_grids import orthonormal, plan_of, table

from pipeline import experiments

EXPERIMENT = experiments.find("flip")
PLAN = plan_of("flip", {}, {"lenet": {}, "mlp": {}}, samples=(40, 20))
BASIS = orthonormal()


@pytest.mark.parametrize("split", ["train", "test"])
def test_the_flip_reverses_the_coefficients_of_pictures_and_mean_alike(split, images, normalised):
    """x' = U flip(Uᵀx) of the normalised pictures, channel by channel, in training and test."""
    draw = EXPERIMENT.draw(PLAN, 0, images)
    plain, classes = EXPERIMENT.dataset({"images": "plain"}, split, draw, [BASIS])
    flipped, same = EXPERIMENT.dataset({"images": "flipped"}, split, draw, [BASIS])
    assert np.array_equal(classes, draw[f"{split}_labels"]) and torch.equal(classes, same)
    expected = normalised(draw[f"{split}_pictures"])
    np.testing.assert_allclose(plain, expected, atol=1e-5)
    coefficients = expected.reshape(-1, 3, 1024) @ BASIS.T
    np.testing.assert_allclose(
        flipped.flatten(2).double().numpy() @ BASIS.T, coefficients[..., ::-1], atol=1e-4
    )


def test_one_component_or_one_band_is_removed_or_turned(images):
    """Bands double in width, 0, 1, 2–3, 4–7, …, 512–1023; and ten components alone."""
    draw = EXPERIMENT.draw(PLAN, 0, images)
    x, _ = EXPERIMENT.dataset({"images": "plain"}, "test", draw, [BASIS])
    before, seen = x.flatten(2).double().numpy() @ BASIS.T, []
    for place, altered in EXPERIMENT.alterations({"images": "plain"}, [BASIS], x):
        first, last, operation = place["first"], place["last"], place["operation"]
        seen.append((first, last, operation))
        expected = before.copy()
        expected[..., first : last + 1] *= {"remove": 0, "flip": -1}[operation]
        found = altered.flatten(2).double().numpy() @ BASIS.T
        np.testing.assert_allclose(found, expected, atol=2e-4)
    bands = [(0, 0), *((2**power, 2 ** (power + 1) - 1) for power in range(10))]
    bands += [(index, index) for index in (2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)]
    assert seen == [(*band, operation) for band in bands for operation in ("remove", "flip")]


def test_metrics():
    rows = [("mlp", 0, "plain", 1 / 3, 0.9), ("mlp", 0, "flipped", 2 / 3, 0.9)]
    rows += [
        ("lenet", s, images, a + 0.02 * s, a + 0.4)
        for s in (0, 1)
        for images, a in (("plain", 0.6), ("flipped", 0.4))
    ]
    changes = [
        ("lenet", "remove", 0, 0, 0.1),
        ("lenet", "remove", 4, 7, 0.3),
        ("lenet", "remove", 0, 0, 0.6),
        ("lenet", "remove", 4, 7, 0.3),
        ("lenet", "flip", 2, 3, 0.9),
        ("mlp", "remove", 1, 1, 0.0),
        ("mlp", "flip", 1, 1, 0.5),
    ]
    tables = {
        "results": table(rows, ("architecture", "seed", "images", "accuracy", "train_accuracy")),
        "changes": table(changes, ("architecture", "operation", "first", "last", "changed")),
    }
    assert EXPERIMENT.metrics(tables, {}) == {
        "lenet": {"cells": 4, "fitted": 2, "plain": 0.61, "flipped": 0.41, "most_changed": "0–0"},
        "mlp": {"cells": 2, "fitted": 0, "plain": 0.3333, "flipped": 0.6667, "most_changed": None},
    }
