"""`linear_pairs` against paper 2, §3: D(v₁) ⊕ D(v₂) at every pair of indices."""

import numpy as np
import pandas as pd
import pytest
import torch
from small_grids import SQUARE, nads_of, orthonormal, plan_of, separable, table

from pipeline import experiments
from pipeline.project.seeds import stream

EXPERIMENT = experiments.find("linear_pairs")
VALUES = {"eps1": 1.0, "eps2": 0.5, "sigma": 1.5}
PLAN = plan_of("linear_pairs", VALUES, {"lenet": {"indices": (1, 800)}, "mlp": {"indices": (3,)}})
BASIS = orthonormal()


def test_what_it_is():
    assert EXPERIMENT.name == "linear_pairs" and EXPERIMENT.coordinates == ("index_1", "index_2")
    assert (EXPERIMENT.channels, EXPERIMENT.outputs, EXPERIMENT.schedule) == (2, 2, "triangular")
    assert (EXPERIMENT.needs_nads, EXPERIMENT.needs_images, EXPERIMENT.at_top_level) == (True, False, True)


def test_the_grid_is_every_pair_of_indices_architecture_by_architecture_and_seed_by_seed():
    places = [(1, 1), (1, 800), (800, 1), (800, 800)]
    expected = [("lenet", seed, *place) for seed in (0, 1) for place in places] + [("mlp", s, 3, 3) for s in (0, 1)]
    assert EXPERIMENT.cells(PLAN) == [
        {"architecture": name, "seed": seed, "index_1": first, "index_2": second} | VALUES | SQUARE
        for name, seed, first, second in expected
    ]


def test_the_directions_are_the_networks_own_nads():
    directions = EXPERIMENT.directions(PLAN, nads_of({"secant": BASIS}))
    assert list(directions) == ["lenet-1", "lenet-800", "mlp-3"]
    assert np.array_equal(directions["lenet-800"], BASIS[800]) and np.array_equal(directions["mlp-3"], BASIS[3])
    cell = EXPERIMENT.cells(PLAN)[1]
    assert EXPERIMENT.uses(cell) == ["lenet-1", "lenet-800"]


def test_a_draw_is_labels_and_standard_normal_images_of_the_seed():
    draw = EXPERIMENT.draw(PLAN, 3, None)
    assert set(draw) == {"train_labels", "train_normal", "test_labels", "test_normal"}
    for split, count in (("train", 50), ("test", 30)):
        rng = stream(3, "linear_pairs", split)
        assert np.array_equal(draw[f"{split}_labels"], 2 * rng.integers(0, 2, count) - 1)
        for channel in (0, 1):
            expected = rng.standard_normal((count, 1024), dtype=np.float32)
            assert np.array_equal(draw[f"{split}_normal"][:, channel], expected)


@pytest.mark.parametrize("split", ["train", "test"])
def test_each_channel_is_linearly_separable_along_its_own_nad(split):
    draw, cell = EXPERIMENT.draw(PLAN, 3, None), EXPERIMENT.cells(PLAN)[1]
    v = BASIS[[1, 800]]
    x, classes = EXPERIMENT.dataset(cell, split, draw, list(v))
    y, normal = draw[f"{split}_labels"], draw[f"{split}_normal"]
    assert x.dtype == torch.float32 and classes.tolist() == [int(label == 1) for label in y]
    for channel, eps in ((0, 1.0), (1, 0.5)):
        expected = separable(normal[:, channel], y, v[channel], eps, 1.5).reshape(-1, 32, 32)
        np.testing.assert_allclose(x[:, channel].numpy(), expected, atol=1e-5)
        np.testing.assert_allclose(x[:, channel].flatten(1).numpy() @ v[channel], eps * y, atol=1e-4)


def test_it_is_tested_with_both_channels_and_with_each_alone():
    draw, cell, v = EXPERIMENT.draw(PLAN, 3, None), EXPERIMENT.cells(PLAN)[1], list(BASIS[[1, 800]])
    x, classes = EXPERIMENT.dataset(cell, "test", draw, v)
    names, inputs, targets = zip(*EXPERIMENT.test_sets(cell, draw, v))
    assert names == ("all", "first", "second") and all(torch.equal(target, classes) for target in targets)
    for part, kept in zip(inputs, ((1, 1), (1, 0), (0, 1))):
        assert torch.equal(part, x * torch.tensor(kept).reshape(1, 2, 1, 1))


def test_the_plane_is_spanned_by_v1_in_the_first_channel_and_v2_in_the_second():
    first, second = EXPERIMENT.plane({}, {}, list(BASIS[[1, 800]]))
    np.testing.assert_allclose(first.numpy(), [BASIS[1].reshape(32, 32), np.zeros((32, 32))])
    np.testing.assert_allclose(second.numpy(), [np.zeros((32, 32)), BASIS[800].reshape(32, 32)])
    assert not list(EXPERIMENT.alterations({}, [], first))


COLUMNS = ("architecture", "seed", "index_1", "index_2", "test_set", "accuracy", "train_accuracy", "n")
PLANES = ("architecture", "seed", "index_1", "index_2", "tilt", "train_accuracy")


def results(accuracy, seeds=1, name="lenet", trained=1.0):
    """A table of results; accuracy: (index_1, index_2) → of all, first and second channel; trained: the accuracy in training."""
    rows = [
        (name, seed, *place, test_set, value, trained, 1000)
        for seed in range(seeds)
        for place, values in accuracy.items()
        for test_set, value in zip(("all", "first", "second"), values)
    ]
    return table(rows, COLUMNS)


def test_metrics():
    accuracy = {
        (1, 1): (1, 1, 0.8), (1, 4): (1, 0.9, 0.9), (1, 9): (1, 1, 0.5),
        (4, 1): (1, 0.6, 0.61), (4, 4): (0.8, 0.1, 0.1), (4, 9): (1, 1, 0.5),
        (9, 1): (0.9, 0.5, 0.9), (9, 4): (0.3, 0.5, 0.9), (9, 9): (0.55, 0.5, 0.6),
    }  # fmt: skip
    planes = table(
        [
            ("lenet", 0, 1, 1, 10.0, 0.99),
            ("lenet", 0, 1, 4, float("nan"), 1),
            ("lenet", 0, 4, 1, 30.0, 1),
            ("lenet", 0, 1, 9, 77, 0.98),
            ("lenet", 0, 9, 4, 77, 1),
        ],
        PLANES,
    )
    assert EXPERIMENT.metrics({"results": results(accuracy), "boundaries": planes}, {}) == {
        "lenet": {
            "cells": 5,
            "fitted": 4,
            "accuracy": {
                "low_low": {"all": 1.0, "first": 1.0, "second": 0.8},
                "low_high": {"all": 1.0, "first": 1.0, "second": 0.5},
                "high_low": {"all": 0.9, "first": 0.5, "second": 0.9},
                "high_high": {"all": 0.55, "first": 0.5, "second": 0.6},
            },
            "lowest_accuracy_all": 0.3,
            "switches_at": 4,
            "mean_tilt": 20.0,
        }
    }


def test_metrics_are_means_over_seeds_and_a_switch_may_be_nowhere():
    rows = results({(2, 2): (1, 0.8, 0.8), (2, 5): (1, 0.9, 0.3), (5, 2): (1, 0.7, 0.7), (5, 5): (0.7, 0.2, 0.9)}, 2)
    rows.loc[rows["seed"] == 1, "accuracy"] -= 0.12345
    planes = table([("lenet", 0, 2, 2, float("nan"), 1), ("lenet", 1, 2, 2, 20.0, 0.5)], PLANES)
    found = EXPERIMENT.metrics({"results": rows, "boundaries": planes}, {})
    assert found["lenet"]["accuracy"]["high_high"] == {"all": 0.6383, "first": 0.1383, "second": 0.8383}
    assert found["lenet"]["switches_at"] is None and found["lenet"]["mean_tilt"] is None
    assert found["lenet"]["lowest_accuracy_all"] == 0.6383


def test_what_was_not_fitted_is_no_switch():
    fitted = results({(1, 1): (1, 1, 0.8), (1, 9): (1, 1, 0.5), (9, 1): (1, 0.5, 1), (9, 9): (1, 1, 1)})
    lost = results({(4, 1): (1, 0.5, 0.9)}, trained=0.98)
    planes = table([("lenet", 0, 1, 1, 12.0, 1)], PLANES)
    found = EXPERIMENT.metrics({"results": pd.concat([fitted, lost]), "boundaries": planes}, {})
    assert found["lenet"]["switches_at"] == 9


def test_metrics_stand_in_the_order_of_the_results():
    one = {(1, 1): (1, 1, 0.8)}
    rows = pd.concat([results(one, name=name) for name in ("mlp", "lenet")])
    planes = table([("lenet", 0, 1, 1, 10.0, 1), ("mlp", 0, 1, 1, 20.0, 1)], PLANES)
    found = EXPERIMENT.metrics({"results": rows, "boundaries": planes}, {})
    assert [(name, values["mean_tilt"]) for name, values in found.items()] == [("mlp", 20.0), ("lenet", 10.0)]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"eps1": -0.1}, "eps1 must not be negative, not -0.1"),
        ({"eps2": -1.0}, "eps2 must not be negative, not -1.0"),
        ({"sigma": 0.0}, "sigma must be positive, not 0.0"),
    ],
)
def test_what_its_settings_may_be(change, sentence):
    EXPERIMENT.Settings(0.0, 0.0, 0.1)
    with pytest.raises(ValueError, match=sentence):
        EXPERIMENT.Settings(**VALUES | change)
