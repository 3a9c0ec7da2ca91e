"""Secants and gradients of one network against closed forms, and which read-outs may be averaged over."""

import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from pipeline import networks
from pipeline.nads import anisotropy, derivatives
from pipeline.params import Estimator

SECANT = Estimator("secant", "readout", 100.0, "normal", True, False)
GRADIENT = dataclasses.replace(SECANT, estimand="gradient", symmetry=False)


def linear_features(matrix):
    """The network f(x) = aᵀ(A x) + b with a fixed A and the framework's default a and b."""
    inner = nn.Linear(matrix.shape[1], matrix.shape[0], bias=False)
    inner.weight.data = torch.as_tensor(matrix)
    return nn.Sequential(nn.Flatten(), inner, nn.Linear(matrix.shape[0], 1))


@pytest.mark.parametrize("estimator", [SECANT, dataclasses.replace(SECANT, step=1.0), GRADIENT])
def test_derivative_of_a_linear_map_is_the_map(estimator):
    matrix = np.random.default_rng(0).standard_normal((7, 16)).astype(np.float32)
    point = derivatives.evaluation_point("normal", 0, 0, 16)
    found = derivatives.derivative(linear_features(matrix), estimator, point, (1, 4, 4))
    np.testing.assert_allclose(found * np.sqrt(21), matrix, atol=1e-4)


def test_a_small_step_turns_the_secant_into_the_gradient():
    network = networks.build({"network": "lenet"}, 1, 1, 3).double().eval()
    function = derivatives.features(network, network.fc3)
    point = torch.as_tensor(derivatives.evaluation_point("normal", 0, 0, 1024)).double()
    exact = derivatives.gradient(function, point, (1, 32, 32))
    assert exact.shape == (84, 1024)
    torch.testing.assert_close(derivatives.secant(function, point, 1e-6, (1, 32, 32)), exact, rtol=0, atol=1e-6)
    x = point.clone().requires_grad_()
    (row,) = torch.autograd.grad(function(x.reshape(1, 1, 32, 32))[0, 5], x)
    torch.testing.assert_close(exact[5], row, rtol=0, atol=1e-12)


@pytest.mark.parametrize("estimator", [SECANT, GRADIENT])
def test_plain_is_the_readout_applied_to_the_features(estimator):
    network = networks.build({"network": "lenet"}, 1, 1, 3)
    point = derivatives.evaluation_point("normal", 0, 0, 1024)
    of_features = derivatives.derivative(network, estimator, point, (1, 32, 32)) * np.sqrt(3 * 84)
    plain = derivatives.derivative(network, dataclasses.replace(estimator, method="plain"), point, (1, 32, 32))
    np.testing.assert_allclose(network.fc3.weight.detach().numpy() @ of_features, plain, atol=5e-6)


@pytest.mark.parametrize("shape", [(3, 32, 32), (1, 64, 64), (2, 5, 7), (3, 130, 130)])
@pytest.mark.parametrize("estimator", [SECANT, GRADIENT])
def test_any_size_of_input(shape, estimator):
    """Pixels summed with weights: the derivative is the weights, in whatever pieces the passes are made."""
    if estimator is SECANT and np.prod(shape) > 20_000:
        pytest.skip("a pass for every pixel")
    torch.manual_seed(0)
    weights = torch.randn(4, int(np.prod(shape)))
    point = derivatives.evaluation_point("normal", 0, 0, weights.shape[1])
    found = derivatives.derivative(linear_features(weights.numpy()), estimator, point, shape)
    np.testing.assert_allclose(found * np.sqrt(12), weights.numpy(), atol=2e-3)


def test_passes_hold_fewer_images_where_layers_are_large():
    for specification, shape, batch in (
        ({"network": "lenet"}, (1, 32, 32), 128),
        ({"network": "resnet18"}, (1, 32, 32), 32),
        ({"network": "resnet18", "width": 0.125}, (1, 32, 32), 128),
        ({"network": "resnet18", "width": 0.125}, (3, 224, 224), 5),
    ):
        network = networks.build(specification, shape[0], 1, 0).eval()
        assert derivatives.batch_of(network, shape) == batch
    assert not any(module._forward_hooks for module in network.modules())
    found = derivatives.secant(lambda x: x.flatten(1), torch.zeros(30), 1.0, (1, 5, 6), batch=7)
    assert torch.equal(found, torch.eye(30))


def test_a_network_without_linear_readout_is_refused():
    network = nn.Sequential(nn.Flatten(), nn.Linear(16, 4), nn.ReLU())
    with pytest.raises(ValueError, match="does not end in a linear layer"):
        derivatives.derivative(network, SECANT, derivatives.evaluation_point("zero", 0, 0, 16), (1, 4, 4))
    plain, reason = derivatives.usable(network, SECANT, (1, 4, 4))
    assert plain.method == "plain" and "does not end in a linear layer" in reason
    assert derivatives.usable(linear_features(np.eye(16, dtype=np.float32)), SECANT, (1, 4, 4)) == (SECANT, None)


def test_the_variance_of_a_readout_is_pytorchs_or_measured():
    network = nn.Sequential(nn.Flatten(), nn.Linear(16, 400), nn.Linear(400, 1))
    probe, last = torch.zeros(1, 1, 4, 4), network[2]
    assert derivatives.readout(network, probe) == (last, 1 / 1200)
    nn.init.normal_(last.weight, std=3.0)
    assert derivatives.readout(network, probe) == (last, float((last.weight.detach().double() ** 2).mean()))


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        (torch.ones(1, 400), "zero mean"),
        (torch.zeros(1, 400), "zero mean"),
        (torch.tensor([[1.0] * 5 + [-1.0] * 5] * 40).reshape(1, -1), "not independent"),
    ],
)
def test_a_readout_that_cannot_be_averaged_over_is_refused(weights, reason):
    network = nn.Sequential(nn.Flatten(), nn.Linear(16, 400), nn.Linear(400, 1))
    network[2].weight.data = weights
    with pytest.raises(ValueError, match=reason):
        derivatives.readout(network, torch.zeros(1, 1, 4, 4))


def test_a_measured_variance_is_exact_on_average():
    """Read-outs drawn from N(0, 4): the mean sample of C = 4 AᵀA over many networks."""
    matrix = np.random.default_rng(1).standard_normal((50, 9)).astype(np.float32)
    total = np.zeros((9, 9))
    for seed in range(200):
        torch.manual_seed(seed)
        network = linear_features(matrix)
        nn.init.normal_(network[2].weight, std=2.0)
        root = derivatives.derivative(network, GRADIENT, np.zeros(9, np.float32), (1, 3, 3))
        total += root.T.astype(np.float64) @ root / 200
    np.testing.assert_allclose(total, 4 * matrix.T @ matrix, rtol=0, atol=0.03 * np.abs(total).max())


def test_same_seed_same_bytes_and_other_numbers_differ():
    def root(number):
        build = lambda seed: networks.build({"network": "mlp", "hidden": [8, 4]}, 1, 1, seed)
        return anisotropy.sample(build, (1, 32, 32), number, (0, "m"), SECANT).tobytes()

    assert root(1) == root(1) != root(2)
    points = [
        derivatives.evaluation_point(kind, 0, number, 9) for kind in ("normal", "many", "zero") for number in (0, 1)
    ]
    assert np.array_equal(points[0], points[1]) and not np.array_equal(points[2], points[3]) and not points[4].any()
