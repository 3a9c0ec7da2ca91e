"""D(v) with noise along v and with label noise."""

import math

import numpy as np
import pytest
import torch

from pipeline.training import separable
from pipeline.training.seeds import stream


def samples(sigma_v, count=20_000, dimension=16):
    rng = stream(0, "separable")
    y = separable.labels(rng, count)
    noise = separable.normal(rng, count, dimension)
    v = rng.standard_normal(dimension)
    v /= np.linalg.norm(v)
    x = separable.linearly_separable(noise, y, v, 1.0, 2.0, (1, 4, 4), sigma_v)
    return x.flatten(1), y, torch.as_tensor(v, dtype=torch.float32)


@pytest.mark.parametrize("sigma_v", [0.5, 1.0])
def test_the_best_classifier_of_overlapping_classes_reaches_phi_of_eps_over_sigma_v(
    sigma_v,
):
    x, y, v = samples(sigma_v)
    accuracy = float(((x @ v > 0).numpy() == (y > 0)).mean())
    expected = (1 + math.erf(1 / sigma_v / 2**0.5)) / 2
    assert abs(accuracy - expected) < 4 * (expected * (1 - expected) / len(y)) ** 0.5


def test_noise_along_v_changes_nothing_across_v():
    (with_noise, y, v) = samples(0.5)
    (without, *_) = samples(0.0)
    torch.testing.assert_close(
        without @ v, torch.as_tensor(y).float(), atol=1e-4, rtol=0
    )
    difference = with_noise - without
    across = difference - torch.outer(difference @ v, v)
    assert across.abs().max() < 1e-4


def test_a_vector_that_is_no_unit_vector_is_refused():
    noise = separable.normal(np.random.default_rng(0), 4, 16)
    with pytest.raises(ValueError, match="unit vector"):
        separable.linearly_separable(noise, np.ones(4), 2 * np.eye(16)[0], 1, 1)


def test_label_noise_inverts_the_labels_with_numbers_below_the_rate():
    y = np.array([1, -1, 1, -1])
    numbers = np.array([0.1, 0.1, 0.9, 0.3])
    assert separable.flip_labels(y, numbers, 0.3).tolist() == [-1, 1, 1, -1]
