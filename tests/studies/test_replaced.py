"""How far carriers move images, and partial rank correlations."""

import numpy as np
import pandas as pd
import pytest
import torch

from studies.replaced import measure_distance, partial_spearman


def test_an_image_moves_by_the_difference_of_its_coefficient_and_the_carrier():
    nads = np.eye(4, dtype=np.float32)[:2]
    x = torch.zeros(1, 3, 2, 2)
    x[0, 0, 0, 0] = 0.7  # the coefficient on NAD 0 in the first channel, class 0's
    y = torch.tensor([0])
    distance = measure_distance(x, y, nads, 0.05)
    assert distance == pytest.approx(0.75)  # class 0's carrier is −0.05


def test_a_relation_through_a_third_column_vanishes_if_that_is_fixed():
    rng = np.random.default_rng(0)
    cause = pd.Series(np.arange(400.0))
    noisy = [cause + 40 * rng.standard_normal(400) for _ in range(2)]
    assert partial_spearman(*noisy, cause) == pytest.approx(0, abs=0.15)
    assert partial_spearman(noisy[0], cause, noisy[1]) > 0.4
