"""`linear_pairs` against paper 2, §3: D(v₁) ⊕ D(v₂) at every pair of indices."""

import numpy as np
import pytest
import torch
from small_grids import orthonormal, plan_of

from pipeline import experiments
from pipeline.training import separable
from pipeline.training.seeds import stream

EXPERIMENT = experiments.find("linear_pairs")
VALUES = {"eps1": 1.0, "eps2": 0.5, "sigma": 1.5}
GRIDS = {"lenet": {"indices": (1, 800)}, "mlp": {"indices": (3,)}}
PLAN = plan_of("linear_pairs", VALUES, GRIDS)
V = list(orthonormal()[[1, 800]])


def components(x):
    """The components (N,) of x (N, 2, H, W) along v₁ and v₂."""
    flat = x.flatten(2).double().numpy()
    return flat[:, 0] @ V[0], flat[:, 1] @ V[1]


def test_the_base_noise_of_a_seed():
    base_noise = EXPERIMENT.draw_base_noise(PLAN, 5, None)
    assert len(base_noise) == 4
    for split, count in (("train", 50), ("test", 30)):
        rng = stream(5, "linear_pairs", split)
        labels = separable.labels(rng, count)
        assert np.array_equal(base_noise[f"{split}_labels"], labels)
        normal = base_noise[f"{split}_normal"]
        assert normal.shape == (count, 2, 1024)
        for channel in (0, 1):
            expected = separable.normal(rng, count)
            assert np.array_equal(normal[:, channel], expected)


def test_it_is_tested_with_both_channels_with_each_and_in_conflict():
    base_noise = EXPERIMENT.draw_base_noise(PLAN, 3, None)
    cell = EXPERIMENT.cells(PLAN)[1]
    x, classes = EXPERIMENT.dataset(cell, "test", base_noise, V)
    inputs = {}
    for name, found, y in EXPERIMENT.test_sets(cell, base_noise, V):
        inputs[name] = found
        assert torch.equal(y, classes)
    assert list(inputs) == ["all", "first", "second", "conflict"]
    for name, mask in (("all", (1, 1)), ("first", (1, 0)), ("second", (0, 1))):
        assert torch.equal(inputs[name], x * torch.tensor(mask).reshape(1, 2, 1, 1))
    # In a conflict only the component along v₂ changes, which has the opposite sign.
    conflict = inputs["conflict"]
    assert torch.equal(conflict[:, 0], x[:, 0])
    first, second = components(x)
    _, opposite = components(conflict)
    np.testing.assert_allclose(opposite, -second, atol=1e-5)
    difference = (conflict - x)[:, 1].flatten(1).double().numpy()
    expected = np.outer(difference @ V[1], V[1])
    np.testing.assert_allclose(difference, expected, atol=1e-5)


def test_v1_and_v2_span_the_plane_of_the_boundary():
    base_noise = EXPERIMENT.draw_base_noise(PLAN, 3, None)
    cell = EXPERIMENT.cells(PLAN)[1]
    plane = EXPERIMENT.boundary_plane(cell, base_noise, V)
    for channel, direction in enumerate(plane):
        found = direction[channel].flatten()
        np.testing.assert_allclose(found, V[channel].astype(np.float32))
        assert not direction[1 - channel].any()


def test_label_noise_is_of_each_channel_by_itself_and_of_training_only():
    values = VALUES | {"eta1": 0.3, "eta2": 0.1}
    noisy = plan_of("linear_pairs", values, GRIDS, samples=(4000, 50))
    plain = plan_of("linear_pairs", VALUES, GRIDS, samples=(4000, 50))
    base_noise = EXPERIMENT.draw_base_noise(noisy, 3, None)
    without = EXPERIMENT.draw_base_noise(plain, 3, None)
    assert set(base_noise) - set(without) == {"train_numbers"}
    for name, array in without.items():
        assert np.array_equal(base_noise[name], array)
    cell = EXPERIMENT.cells(noisy)[1]
    x, classes = EXPERIMENT.dataset(cell, "train", base_noise, V)
    labels = 2 * classes.numpy() - 1
    first, second = components(x)
    wrong_first = np.sign(first) != labels
    wrong_second = np.sign(second) != labels
    wrong_both = wrong_first & wrong_second
    for wrong, rate in ((wrong_first, 0.3), (wrong_second, 0.1), (wrong_both, 0.03)):
        assert wrong.mean() == pytest.approx(rate, abs=5 * (rate / 4000) ** 0.5)
    x, classes = EXPERIMENT.dataset(cell, "test", base_noise, V)
    same_x, same_classes = EXPERIMENT.dataset(cell, "test", without, V)
    assert torch.equal(x, same_x)
    assert torch.equal(classes, same_classes)
