"""The covariance of the input gradient against closed forms."""

import numpy as np
import pytest
import torch
from small_grids import orthonormal
from torch import nn

from pipeline.measures import gradients
from pipeline.training.maps import principal_components

WEIGHT = torch.tensor([[3.0, 0.0, 0.0, 1.0], [1.0, 2.0, 0.0, 1.0]])


class Quadratic(nn.Module):
    """f = (‖x‖²/2, 0), whose gradient is x itself."""

    def forward(self, x):
        f = x.square().sum((1, 2, 3)) / 2
        return torch.stack([f, 0 * f], 1)


def test_the_covariance_of_a_linear_network():
    """f₁ − mean = ±(w₁ − w₀)x/2, so C = (w₁ − w₀)(w₁ − w₀)ᵀ/2."""
    network = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    network[1].weight.data = WEIGHT
    gap = (WEIGHT[1] - WEIGHT[0]).double().numpy()
    found = gradients.covariance(network, torch.randn(7, 1, 2, 2))
    np.testing.assert_allclose(found, np.outer(gap, gap) / 2, atol=1e-6)


def test_the_covariance_of_a_quadratic_function_is_the_second_moment_of_the_data():
    x = torch.randn(50, 3, 2, 2, generator=torch.Generator().manual_seed(0))
    rows = x.flatten(2).flatten(0, 1).double().numpy()
    found = gradients.covariance(Quadratic(), x)
    np.testing.assert_allclose(found, rows.T @ rows / 50 / 2, rtol=1e-5)


def test_the_covariance_is_computed_in_eval_mode():
    network = nn.Sequential(nn.Flatten(), nn.Dropout(0.9), nn.Linear(4, 2))
    x = torch.ones(3, 1, 2, 2)
    first = gradients.covariance(network.train(), x)
    second = gradients.covariance(network.train(), x)
    np.testing.assert_array_equal(first, second)


def test_the_part_along_directions_is_their_share_of_the_trace():
    basis, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 6)))
    values = np.array([5.0, 3.0, 1.0, 0.5, 0.5, 0.0])
    covariance = basis @ np.diag(values) @ basis.T
    assert gradients.part_along(covariance, basis.T[:2]) == pytest.approx(0.8)
    assert gradients.part_along(covariance, basis.T) == pytest.approx(1)
    assert gradients.part_along(np.eye(6), basis.T[3:5]) == pytest.approx(2 / 6)


def test_the_evolution_of_variances_along_the_axes():
    """C S C has the network's squared eigenvalues times the data's variances."""
    x = torch.randn(4000, 1, 2, 2, generator=torch.Generator().manual_seed(0))
    x *= torch.tensor([3.0, 2.0, 1.0, 0.1]).reshape(2, 2)
    found = gradients.evolution(np.eye(4), np.arange(1.0, 5), x, 2)  # 9, 16, 9 and 0.16
    assert abs(found[0, 1]) > 0.99
    assert abs(found[1, 3]) < 0.1
    order = [1, 3, 0, 2]
    again = gradients.evolution(np.eye(4)[order], np.array([2.0, 4, 1, 3]), x, 2)
    np.testing.assert_allclose(np.abs(again), np.abs(found), atol=1e-9)
    found = gradients.evolution(np.eye(4)[order], 5 * np.ones(4), x, 3)
    cosines = found @ principal_components(x)[:3].T
    np.testing.assert_allclose(np.abs(cosines), np.eye(3), atol=1e-6)


def test_the_parts_of_the_response():
    """Half of the response is along v = NAD 4, and 3/4 of the rest in NADs 0 to 9."""
    basis = orthonormal()
    values = np.zeros(1024)
    values[4] = 8
    values[[0, 9]] = 3
    values[[10, 500]] = 1
    covariance = basis.T @ np.diag(values) @ basis
    x = torch.randn(50, 1, 32, 32)

    def response_parts(data, index, eigenvalues):
        cell = {"data": data, "index": index}
        return gradients.response_parts(cell, basis, eigenvalues, x, covariance)

    equal = np.ones(1024)
    found = response_parts("linear", 4, equal)
    assert found == pytest.approx({"v": 8 / 16, "nads": 6 / 8})
    found = response_parts("linear", 500, equal)
    assert found == pytest.approx({"v": 1 / 16, "nads": 14 / 15})
    x[:, 0].flatten(1)[:] = torch.randn(50, 1) * torch.as_tensor(basis[500]).float()
    found = response_parts("images", -1, equal)
    assert found["nads"] == pytest.approx(14 / 16)
    assert found["components"] >= 1 / 16 - 1e-9
    assert found["evolution"] == pytest.approx(found["components"])
    unknown = np.full(1024, np.nan)  # of NADs made elsewhere
    assert set(response_parts("images", -1, unknown)) == {"nads", "components"}
