"""The covariance of the input gradient against closed forms."""

import numpy as np
import pytest
import torch
from small_grids import orthonormal
from torch import nn

from pipeline.measures import gradients

WEIGHT = torch.tensor([[3.0, 0.0, 0.0, 1.0], [1.0, 2.0, 0.0, 1.0]])


class Quadratic(nn.Module):
    """f = (‖x‖²/2, 0), whose gradient is x itself; a last batch norm would show train
    mode."""

    def forward(self, x):
        f = x.square().sum((1, 2, 3)) / 2
        return torch.stack([f, 0 * f], 1)


def test_of_a_linear_network_it_is_the_weights_square_at_every_input():
    """f₁ − mean = ±(w₁ − w₀)x/2, so C = (w₁ − w₀)(w₁ − w₀)ᵀ/2."""
    network = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    network[1].weight.data = WEIGHT
    gap = (WEIGHT[1] - WEIGHT[0]).double().numpy()
    found = gradients.covariance(network, torch.randn(7, 1, 2, 2))
    np.testing.assert_allclose(found, np.outer(gap, gap) / 2, atol=1e-6)


def test_of_a_quadratic_function_it_is_the_second_moment_summed_over_channels():
    x = torch.randn(50, 3, 2, 2, generator=torch.Generator().manual_seed(0))
    rows = x.flatten(2).flatten(0, 1).double().numpy()
    found = gradients.covariance(Quadratic(), x)
    np.testing.assert_allclose(found, rows.T @ rows / 50 / 2, rtol=1e-5)


def test_it_is_taken_in_eval_mode():
    network = nn.Sequential(nn.Flatten(), nn.Dropout(0.9), nn.Linear(4, 2))
    first, second = (
        gradients.covariance(network.train(), torch.ones(3, 1, 2, 2)) for _ in "ab"
    )
    np.testing.assert_array_equal(first, second)


def test_the_part_along_directions_is_their_share_of_the_trace():
    basis, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 6)))
    values = np.array([5.0, 3.0, 1.0, 0.5, 0.5, 0.0])
    covariance = basis @ np.diag(values) @ basis.T
    assert gradients.part_along(covariance, basis.T[:2]) == pytest.approx(0.8)
    assert gradients.part_along(covariance, basis.T) == pytest.approx(1)
    assert gradients.part_along(np.eye(6), basis.T[3:5]) == pytest.approx(2 / 6)


def test_the_components_are_those_of_largest_variance():
    x = torch.zeros(40, 1, 2, 2)
    x[:20, 0, 0, 1] = 2.0
    x[20:, 0, 0, 1] = 8.0  # the mean does not count
    x[::2, 0, 1, 0] = 1.0
    found = gradients.components(x, 2)
    np.testing.assert_allclose(np.abs(found), [[0, 1, 0, 0], [0, 0, 1, 0]], atol=1e-9)


def test_the_response_evolves_along_the_data_as_the_untrained_network_sees_them():
    """G S G of one variance along each axis: the network's squared times the data's."""
    x = torch.randn(4000, 1, 2, 2, generator=torch.Generator().manual_seed(0))
    x *= torch.tensor([3.0, 2.0, 1.0, 0.1]).reshape(2, 2)
    found = gradients.evolution(np.eye(4), np.arange(1.0, 5), x, 2)  # 9, 16, 9 and 0.16
    assert abs(found[0, 1]) > 0.99 and abs(found[1, 3]) < 0.1
    turned = np.eye(4)[[1, 3, 0, 2]]
    again = gradients.evolution(turned, np.array([2.0, 4, 1, 3]), x, 2)
    np.testing.assert_allclose(np.abs(again), np.abs(found), atol=1e-9)
    found = gradients.evolution(turned, 5 * np.ones(4), x, 3)
    np.testing.assert_allclose(
        np.abs(found @ gradients.components(x, 3).T), np.eye(3), atol=1e-9
    )


def test_the_parts_of_the_response():
    """Half of the response along v = NAD 4, and of the rest 3/4 in the other nine of
    the first."""
    basis = orthonormal()
    values = np.zeros(1024)
    values[4] = 8
    values[[0, 9]] = 3
    values[[10, 500]] = 1
    covariance = basis.T @ np.diag(values) @ basis
    x = torch.randn(50, 1, 32, 32)

    def course(data, index, known=np.ones(1024)):
        return gradients.response_parts(
            {"data": data, "index": index}, basis, known, x, covariance
        )

    assert course("linear", 4) == pytest.approx({"v": 8 / 16, "nads": 6 / 8})
    assert course("linear", 500) == pytest.approx({"v": 1 / 16, "nads": 14 / 15})
    x[:, 0].flatten(1)[:] = torch.randn(50, 1) * torch.as_tensor(basis[500]).float()
    found = course("images", -1)
    assert (
        found["nads"] == pytest.approx(14 / 16) and found["components"] >= 1 / 16 - 1e-9
    )
    assert found["evolution"] == pytest.approx(found["components"])
    found = course("images", -1, np.full(1024, np.nan))
    assert set(found) == {"nads", "components"}, (
        "of NADs made elsewhere nothing more is known"
    )
