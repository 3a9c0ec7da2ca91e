"""NAD estimation against closed forms."""

import numpy as np
import pytest
import torch
from torch import nn

from pipeline import anisotropy, architectures


def linear_features(matrix):
    """The network f(x) = aᵀ(A x) + b with a fixed A and the framework's default a and b."""
    inner = nn.Linear(matrix.shape[1], matrix.shape[0], bias=False)
    inner.weight.data = torch.as_tensor(matrix)
    return nn.Sequential(nn.Flatten(), inner, nn.Linear(matrix.shape[0], 1))


def test_secant_of_a_linear_map_is_the_map():
    matrix = np.random.default_rng(0).standard_normal((7, 16)).astype(np.float32)
    point = anisotropy.evaluation_point(0, 16)
    for step in (1.0, 100.0):
        np.testing.assert_allclose(anisotropy.secant_features(linear_features(matrix), point, step, (1, 4, 4)), matrix, atol=1e-4)


def test_covariance_of_a_linear_map_is_t2_ata():
    """C = t²AᵀA for f = θᵀAx with θ of variance t²: brute force over read-outs agrees with the exact expectation."""
    matrix = np.random.default_rng(1).standard_normal((5, 16)).astype(np.float32)
    exact = matrix.T @ matrix / (3 * 5)
    torch.manual_seed(0)
    weights = torch.stack([nn.Linear(5, 1).weight.detach()[0] for _ in range(20_000)]).numpy()
    sampled = (weights @ matrix).T @ (weights @ matrix) / len(weights)
    assert np.linalg.norm(sampled - exact) / np.linalg.norm(exact) < 0.03
    covariance = anisotropy.Covariance(16)
    for _ in range(4):
        covariance.add(matrix / np.sqrt(15))
    np.testing.assert_allclose(covariance.mean(), exact, rtol=1e-5)
    assert covariance.error() == pytest.approx(0, abs=1e-12)


def test_secant_of_features_gives_the_secant_of_the_output():
    specification, shape, step = {"network": "lenet"}, (1, 32, 32), 100.0
    network = architectures.build(specification, 1, 1, 3)
    point = anisotropy.evaluation_point(0, 1024)
    jacobian = anisotropy.secant_features(network, point, step, shape)
    of_output = network.fc3.weight.detach()[0] @ jacobian
    with torch.no_grad():
        for i in (0, 500, 1023):
            shift = torch.zeros(1024)
            shift[i] = step
            x = torch.as_tensor(point)
            pair = torch.stack([x + shift, x - shift]).reshape(2, *shape)
            plus, minus = network.to(memory_format=torch.channels_last)(pair.contiguous(memory_format=torch.channels_last))
            assert float(of_output[i]) == pytest.approx(float((plus - minus) / (2 * step)), abs=2e-6)


def test_directions_are_the_ordered_eigenvectors():
    rng = np.random.default_rng(2)
    basis, _ = np.linalg.qr(rng.standard_normal((12, 12)))
    values = np.arange(12, 0, -1.0)
    covariance = anisotropy.Covariance(12)
    for _ in range(2):
        covariance.add(np.sqrt(values)[:, None] * basis)
    nads = anisotropy.directions_of(covariance, 100.0)
    np.testing.assert_allclose(nads.eigenvalues, values)
    np.testing.assert_allclose(np.abs(nads.directions @ basis.T), np.eye(12), atol=1e-7)
    np.testing.assert_allclose(nads.directions @ nads.directions.T, np.eye(12), atol=1e-12)
    assert (nads.directions[np.arange(12), np.abs(nads.directions).argmax(1)] > 0).all()


def test_error_estimates_the_distance_from_the_truth():
    """Samples d ~ N(0, I): the true C is I, and the error from halves must match the true relative distance."""
    rng = np.random.default_rng(3)
    covariance = anisotropy.Covariance(40)
    for _ in range(200):
        covariance.add(rng.standard_normal((1, 40)))
    true = np.linalg.norm(covariance.mean() - np.eye(40)) / np.linalg.norm(covariance.mean())
    assert covariance.error() == pytest.approx(true, rel=0.15)


def test_a_network_without_linear_readout_is_refused():
    network = nn.Sequential(nn.Flatten(), nn.Linear(16, 4), nn.ReLU())
    with pytest.raises(ValueError, match="does not end in a linear layer"):
        anisotropy.secant_features(network, anisotropy.evaluation_point(0, 16), 1.0, (1, 4, 4))


def test_same_seed_same_bytes_and_other_numbers_differ():
    arguments = {"specification": {"network": "mlp", "hidden": [8, 4]}, "name": "m", "seed": 0, "step": 100.0}
    one, again = (anisotropy.secant_of_one(number=1, **arguments) for _ in range(2))
    assert one.tobytes() == again.tobytes()
    assert one.tobytes() != anisotropy.secant_of_one(number=2, **arguments).tobytes()
