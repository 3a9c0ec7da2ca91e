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


def datasets(samples=(4000, 500), **values):
    plan = plan_of(
        "nad_sweep", VALUES | values, {"lenet": {"indices": (3,)}}, samples=samples
    )
    (cell, *_) = EXPERIMENT.cells(plan)
    draw = EXPERIMENT.draw_base_noise(plan, 0, None)
    return [
        EXPERIMENT.dataset(cell, split, draw, [BASIS[3]]) for split in ("train", "test")
    ]


def along(x):
    return x.flatten(1).double().numpy() @ BASIS[3]


def test_label_noise_is_of_training_samples_alone():
    train, test = datasets(eta=0.3)
    wrong = [np.sign(along(x)) != 2 * y.numpy() - 1 for x, y in (train, test)]
    assert abs(wrong[0].mean() - 0.3) < 5 * (0.21 / 4000) ** 0.5
    assert not wrong[1].any()


def test_noise_along_v_is_of_both_splits():
    for x, y in datasets(sigma_v=0.5):
        deviations = along(x) - (2 * y.numpy() - 1)
        assert deviations.std() == pytest.approx(0.5, abs=0.1)
    for noisy, plain in zip(datasets(sigma_v=0.5), datasets(), strict=True):
        assert torch.equal(noisy[1], plain[1])


def test_neither_is_there_unless_asked_for():
    settings = EXPERIMENT.Settings(**VALUES)
    assert dataclasses.asdict(settings) == VALUES | {"sigma_v": 0.0, "eta": 0.0}
