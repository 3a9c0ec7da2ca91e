"""The formulas that the benchmarks rest on; what they measure is never tested."""

import numpy as np
import pytest
import torch
from torch import nn

from benchmarks import nads, published_rows
from pipeline import architectures


def test_the_fourth_moment_of_a_plain_derivative():
    """E‖Jᵀa‖⁴ for the read-out's uniform a against brute force."""
    jacobian = np.random.default_rng(0).standard_normal((6, 9))
    torch.manual_seed(0)
    weights = nn.Linear(6, 200_000).weight.detach().double().numpy()
    sampled = (((weights @ jacobian) ** 2).sum(1) ** 2).mean()
    assert nads.plain_fourth_moment(jacobian / np.sqrt(18)) == pytest.approx(sampled, rel=0.01)


def test_the_reference_is_the_same_function():
    torch.manual_seed(3)
    usual = nads.UsualLeNet(1, 1)
    ours = architectures.LeNet(1, 1)
    ours.load_state_dict(usual.state_dict())
    x = torch.randn(4, 1, 32, 32)
    assert torch.equal(usual(x), ours(x))


def test_the_number_of_rows_of_a_spectrum_is_found_again():
    rng, eigenvalues = np.random.default_rng(1), np.geomspace(1, 1e-3, 256)
    published = dict(enumerate(np.linalg.svd(rng.standard_normal((600, 256)) * np.sqrt(eigenvalues), compute_uv=False)))
    spread = {
        rows: np.abs(np.log(published_rows.ratios(eigenvalues, published, rows, rng))).mean()
        for rows in (400, 600, 900)
    }
    assert min(spread, key=spread.get) == 600 and spread[600] < 0.05
