"""`linear_pairs` against paper 2, §3: D(v₁) ⊕ D(v₂) at every pair of indices."""

import numpy as np
import torch
from small_grids import orthonormal, plan_of

from pipeline import experiments
from pipeline.training import separable
from pipeline.training.seeds import stream

EXPERIMENT = experiments.find("linear_pairs")
VALUES = {"eps1": 1.0, "eps2": 0.5, "sigma": 1.5}
GRIDS = {"lenet": {"indices": (1, 800)}, "mlp": {"indices": (3,)}}
PLAN = plan_of("linear_pairs", VALUES, GRIDS)
BASIS = orthonormal()


def test_the_draws_of_a_seed():
    found = EXPERIMENT.draw_base_noise(PLAN, 5, None)
    assert found["train_normal"].shape == (50, 2, 1024) and len(found) == 4
    for split, count in (("train", 50), ("test", 30)):
        rng = stream(5, "linear_pairs", split)
        assert np.array_equal(found[f"{split}_labels"], separable.labels(rng, count))
        for normal in found[f"{split}_normal"].swapaxes(0, 1):
            assert np.array_equal(normal, separable.normal(rng, count))


def test_it_is_tested_with_both_channels_and_with_each_alone():
    draw = EXPERIMENT.draw_base_noise(PLAN, 3, None)
    cell = EXPERIMENT.cells(PLAN)[1]
    v = list(BASIS[[1, 800]])
    x, classes = EXPERIMENT.dataset(cell, "test", draw, v)
    names, inputs, targets = zip(*EXPERIMENT.test_sets(cell, draw, v), strict=True)
    assert names == ("all", "first", "second", "conflict")
    assert all(torch.equal(target, classes) for target in targets)
    for part, kept in zip(inputs, ((1, 1), (1, 0), (0, 1)), strict=True):
        assert torch.equal(part, x * torch.tensor(kept).reshape(1, 2, 1, 1))
    *_, conflict = inputs
    along = [
        part[:, channel].flatten(1) @ torch.as_tensor(v[channel], dtype=torch.float32)
        for part in (x, conflict)
        for channel in (0, 1)
    ]
    torch.testing.assert_close(along[2], along[0])
    torch.testing.assert_close(along[3], -along[1])
    across = (conflict - x)[:, 1].flatten(1).double().numpy()
    across -= np.outer(across @ v[1], v[1])
    np.testing.assert_allclose(across, 0, atol=1e-5)
    first, second = EXPERIMENT.boundary_plane(cell, draw, v)
    for channel, direction in enumerate((first, second)):
        np.testing.assert_allclose(
            direction[channel].flatten(), v[channel].astype(np.float32)
        )
        assert not direction[1 - channel].any()


def test_label_noise_is_of_each_channel_by_itself_and_of_training_alone():
    rates = (0.3, 0.1)
    v = list(BASIS[[1, 800]])
    values = VALUES | dict(zip(("eta1", "eta2"), rates, strict=True))
    noisy, plain = (
        plan_of("linear_pairs", each, GRIDS, samples=(4000, 50))
        for each in (values, VALUES)
    )
    cell = EXPERIMENT.cells(noisy)[1]
    draw = EXPERIMENT.draw_base_noise(noisy, 3, None)
    without = EXPERIMENT.draw_base_noise(plain, 3, None)
    assert all(np.array_equal(draw[name], array) for name, array in without.items())
    assert set(draw) - set(without) == {"train_numbers"}
    x, classes = EXPERIMENT.dataset(cell, "train", draw, v)
    carried = [np.sign(x[:, part].flatten(1).numpy() @ v[part]) for part in (0, 1)]
    wrong = [label != 2 * classes.numpy() - 1 for label in carried]
    for part, rate in ((wrong[0], 0.3), (wrong[1], 0.1), (wrong[0] & wrong[1], 0.03)):
        assert abs(part.mean() - rate) < 5 * (rate / 4000) ** 0.5
    for found, expected in zip(
        EXPERIMENT.dataset(cell, "test", draw, v),
        EXPERIMENT.dataset(cell, "test", without, v),
        strict=True,
    ):
        assert torch.equal(found, expected)
