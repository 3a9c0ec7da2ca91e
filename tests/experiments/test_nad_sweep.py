"""`nad_sweep` with noise along v and with label noise, which the papers do not have."""

import dataclasses

import numpy as np
import pytest
import torch
from small_grids import orthonormal, plan_of

from pipeline import experiments

EXPERIMENT = experiments.find("nad_sweep")
VALUES = {"eps": 1.0, "sigma": {"lenet": 1.0}}
BASIS = orthonormal()


def datasets(**values):
    """The training and the test set of one cell."""
    grids = {"lenet": {"indices": (3,)}}
    plan = plan_of("nad_sweep", VALUES | values, grids, samples=(4000, 500))
    cell = EXPERIMENT.cells(plan)[0]
    base_noise = EXPERIMENT.draw_base_noise(plan, 0, None)
    train = EXPERIMENT.dataset(cell, "train", base_noise, [BASIS[3]])
    test = EXPERIMENT.dataset(cell, "test", base_noise, [BASIS[3]])
    return train, test


def components(x):
    """The component of each input along v, float64."""
    return x.flatten(1).double().numpy() @ BASIS[3]


def test_label_noise_is_of_training_samples_only():
    rates = []
    for x, y in datasets(eta=0.3):
        wrong = np.sign(components(x)) != 2 * y.numpy() - 1
        rates.append(wrong.mean())
    assert rates == [pytest.approx(0.3, abs=5 * (0.21 / 4000) ** 0.5), 0]


def test_noise_along_v_is_of_both_splits():
    for x, y in datasets(sigma_v=0.5):
        deviations = components(x) - (2 * y.numpy() - 1)
        assert deviations.std() == pytest.approx(0.5, abs=0.1)
    for noisy, plain in zip(datasets(sigma_v=0.5), datasets(), strict=True):
        assert torch.equal(noisy[1], plain[1])


def test_neither_is_there_unless_asked_for():
    settings = EXPERIMENT.Settings(**VALUES)
    assert dataclasses.asdict(settings) == VALUES | {"sigma_v": 0.0, "eta": 0.0}
