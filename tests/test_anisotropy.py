"""NAD estimation against closed forms."""

import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from pipeline import anisotropy, architectures
from pipeline.params import Estimator

SECANT = Estimator("secant", "readout", 100.0, "normal", True)
GRADIENT = dataclasses.replace(SECANT, estimand="gradient", symmetry=False)


def linear_features(matrix):
    """The network f(x) = aᵀ(A x) + b with a fixed A and the framework's default a and b."""
    inner = nn.Linear(matrix.shape[1], matrix.shape[0], bias=False)
    inner.weight.data = torch.as_tensor(matrix)
    return nn.Sequential(nn.Flatten(), inner, nn.Linear(matrix.shape[0], 1))


def covariance_of(specification, count, estimator, first=0):
    """The `Covariance` of `count` networks of the architecture."""
    covariance = anisotropy.Covariance(1024)
    for number in range(first, first + count):
        covariance.add(anisotropy.sample(specification, "test", number, 0, estimator))
    return covariance


def distance(one, other):
    """Relative Frobenius distance."""
    return np.linalg.norm(one - other) / np.linalg.norm((one + other) / 2)


@pytest.mark.parametrize("estimator", [SECANT, dataclasses.replace(SECANT, step=1.0), GRADIENT])
def test_derivative_of_a_linear_map_is_the_map(estimator):
    matrix = np.random.default_rng(0).standard_normal((7, 16)).astype(np.float32)
    point = anisotropy.evaluation_point("normal", 0, 0, 16)
    found = anisotropy.derivative(linear_features(matrix), estimator, point, (1, 4, 4))
    np.testing.assert_allclose(found * np.sqrt(21), matrix, atol=1e-4)


def test_covariance_of_a_linear_map_is_t2_ata():
    """C = t²AᵀA for f = θᵀAx with θ of variance t²: brute force over read-outs agrees with the exact expectation."""
    matrix = np.random.default_rng(1).standard_normal((5, 16)).astype(np.float32)
    exact = matrix.T @ matrix / (3 * 5)
    torch.manual_seed(0)
    weights = torch.stack([nn.Linear(5, 1).weight.detach()[0] for _ in range(20_000)]).numpy()
    sampled = (weights @ matrix).T @ (weights @ matrix) / len(weights)
    assert np.linalg.norm(sampled - exact) / np.linalg.norm(exact) < 0.03
    covariance, point = anisotropy.Covariance(16), anisotropy.evaluation_point("zero", 0, 0, 16)
    for _ in range(4):
        covariance.add(anisotropy.derivative(linear_features(matrix), GRADIENT, point, (1, 4, 4)))
    np.testing.assert_allclose(covariance.mean(), exact, rtol=1e-5)
    assert anisotropy.sampling_error(*covariance.half_means()) == pytest.approx(0, abs=1e-7)


def test_logreg_with_readout_is_exactly_the_scaled_identity():
    """C = I/(3·1024) under the default initialisation."""
    covariance = covariance_of({"network": "logreg"}, 2, GRADIENT)
    np.testing.assert_allclose(covariance.mean(), np.eye(1024) / 3072, rtol=1e-6, atol=0)
    np.testing.assert_allclose(
        covariance_of({"network": "logreg"}, 2, SECANT).mean(), np.eye(1024) / 3072, rtol=1e-4, atol=1e-9
    )


def test_plain_logreg_fills_the_marchenko_pastur_law():
    """Singular values of n plain vectors lie inside √(n/(3·1024))·(1 ± √(1024/n)), and reach both edges."""
    n = 1536
    plain = dataclasses.replace(GRADIENT, method="plain")
    vectors = np.concatenate(
        [anisotropy.sample({"network": "logreg"}, "test", number, 0, plain) for number in range(n)]
    )
    singular = np.linalg.svd(vectors, compute_uv=False)
    low, high = (np.sqrt(n / 3072) * (1 + sign * np.sqrt(1024 / n)) for sign in (-1, 1))
    assert singular.max() == pytest.approx(high, rel=0.02) and singular.min() == pytest.approx(low, rel=0.04)


@pytest.mark.parametrize("stride", [2, 4])
def test_one_strided_convolution_with_global_pooling_lives_on_periodic_patterns(stride):
    """C has rank S² at most, and every direction repeats with period S along rows and columns."""
    covariance = anisotropy.Covariance(256)
    for seed in range(40):
        torch.manual_seed(seed)
        network = nn.Sequential(
            nn.Conv2d(1, 8, stride, stride), nn.AvgPool2d(16 // stride), nn.Flatten(), nn.Linear(8, 1)
        )
        covariance.add(
            anisotropy.derivative(network, GRADIENT, anisotropy.evaluation_point("normal", 0, 0, 256), (1, 16, 16))
        )
    nads = anisotropy.directions_of(covariance, GRADIENT, "none", (1, 16, 16))
    assert nads.eigenvalues[stride**2] < 1e-6 * nads.eigenvalues[0] < nads.eigenvalues[stride**2 - 1]
    for direction in nads.directions[: stride**2]:
        picture = direction.reshape(16, 16)
        for axis in (0, 1):
            np.testing.assert_allclose(np.roll(picture, stride, axis), picture, atol=1e-6)


def test_a_small_step_turns_the_secant_into_the_gradient():
    network = architectures.build({"network": "lenet"}, 1, 1, 3).double().eval()
    function = anisotropy.features(network, network.fc3)
    point = torch.as_tensor(anisotropy.evaluation_point("normal", 0, 0, 1024)).double()
    exact = anisotropy.gradient(function, point, (1, 32, 32))
    assert exact.shape == (84, 1024)
    torch.testing.assert_close(anisotropy.secant(function, point, 1e-6, (1, 32, 32)), exact, rtol=0, atol=1e-6)
    x = point.clone().requires_grad_()
    (row,) = torch.autograd.grad(function(x.reshape(1, 1, 32, 32))[0, 5], x)
    torch.testing.assert_close(exact[5], row, rtol=0, atol=1e-12)


@pytest.mark.parametrize("estimator", [SECANT, GRADIENT])
def test_plain_is_the_readout_applied_to_the_features(estimator):
    network = architectures.build({"network": "lenet"}, 1, 1, 3)
    point = anisotropy.evaluation_point("normal", 0, 0, 1024)
    of_features = anisotropy.derivative(network, estimator, point, (1, 32, 32)) * np.sqrt(3 * 84)
    plain = anisotropy.derivative(network, dataclasses.replace(estimator, method="plain"), point, (1, 32, 32))
    np.testing.assert_allclose(network.fc3.weight.detach().numpy() @ of_features, plain, atol=5e-6)


def test_plain_and_readout_estimate_the_same_covariance():
    """LeNet: the two estimates differ by what their errors add up to, and read-out needs far fewer networks for it."""
    plain = covariance_of({"network": "lenet"}, 150, dataclasses.replace(GRADIENT, method="plain"))
    exact = covariance_of({"network": "lenet"}, 30, GRADIENT, first=150)
    errors = [anisotropy.sampling_error(*covariance.half_means()) for covariance in (plain, exact)]
    assert 0.6 < distance(plain.mean(), exact.mean()) / np.hypot(*errors) < 1.5
    assert errors[1] < errors[0]


@pytest.mark.parametrize(
    ("specification", "count"),
    [
        ({"network": "lenet"}, 40),
        ({"network": "mlp", "hidden": [100, 20]}, 40),
        ({"network": "resnet18", "width": 0.125}, 16),
    ],
)
def test_declared_symmetries_hold_and_the_others_do_not(specification, count):
    """Halves of the networks, one of them carried along by a symmetry, are as close as halves left alone."""
    one, other = covariance_of(specification, count, dataclasses.replace(GRADIENT, point="many")).half_means()
    alone = distance(one, other)
    declared = architectures.NETWORKS[specification["network"]].symmetry
    for element in anisotropy.images_of(declared, other, (1, 32, 32)):
        assert distance(one, element) == pytest.approx(alone, rel=0.15)
    if declared == "transposition":
        # Each pixel's energy E[d_i²] has little noise: it survives transposition, and a flip moves it to other pixels.
        energy = np.diag(one + other).reshape(32, 32)
        same, flipped = (np.corrcoef(energy.ravel(), moved.ravel())[0, 1] for moved in (energy.T, energy[::-1]))
        assert same > 0.9 > 0.5 > flipped


def test_averaging_over_symmetries_makes_the_covariance_symmetric():
    matrix = np.random.default_rng(0).standard_normal((36, 36))
    for symmetry, order in (("none", 1), ("transposition", 2), ("square", 8)):
        elements = anisotropy.images_of(symmetry, matrix, (1, 6, 6))
        assert len(elements) == order and np.array_equal(elements[0], matrix)
        mean = sum(elements) / order
        np.testing.assert_array_equal(anisotropy.symmetrised(symmetry, matrix, (1, 6, 6)), mean)
        for element in anisotropy.images_of(symmetry, mean, (1, 6, 6)):
            np.testing.assert_allclose(element, mean, atol=1e-12)
    picture = np.arange(36.0).reshape(6, 6)
    found = {tuple(np.diag(element)) for element in anisotropy.images_of("square", np.diag(picture.ravel()), (1, 6, 6))}
    assert found == {tuple(np.rot90(p, k).ravel()) for p in (picture, picture.T) for k in range(4)}


def test_directions_are_the_ordered_eigenvectors():
    rng = np.random.default_rng(2)
    basis, _ = np.linalg.qr(rng.standard_normal((16, 16)))
    values = np.arange(16, 0, -1.0)
    covariance = anisotropy.Covariance(16)
    for _ in range(2):
        covariance.add(np.sqrt(values)[:, None] * basis)
    nads = anisotropy.directions_of(covariance, SECANT, "none", (1, 4, 4))
    np.testing.assert_allclose(nads.eigenvalues, values)
    np.testing.assert_allclose(np.abs(nads.directions @ basis.T), np.eye(16), atol=1e-7)
    np.testing.assert_allclose(nads.directions @ nads.directions.T, np.eye(16), atol=1e-12)
    assert (nads.directions[np.arange(16), np.abs(nads.directions).argmax(1)] > 0).all()


def test_error_estimates_the_distance_from_the_truth():
    """Samples d ~ N(0, I): the true C is I, and the error from halves must match the true relative distance."""
    rng = np.random.default_rng(3)
    covariance = anisotropy.Covariance(40)
    for _ in range(200):
        covariance.add(rng.standard_normal((1, 40)))
    true = np.linalg.norm(covariance.mean() - np.eye(40)) / np.linalg.norm(covariance.mean())
    assert anisotropy.sampling_error(*covariance.half_means()) == pytest.approx(true, rel=0.15)


def test_a_network_without_linear_readout_is_refused():
    network = nn.Sequential(nn.Flatten(), nn.Linear(16, 4), nn.ReLU())
    with pytest.raises(ValueError, match="does not end in a linear layer"):
        anisotropy.derivative(network, SECANT, anisotropy.evaluation_point("zero", 0, 0, 16), (1, 4, 4))


def test_same_seed_same_bytes_and_other_numbers_differ():
    arguments = {"specification": {"network": "mlp", "hidden": [8, 4]}, "name": "m", "seed": 0, "estimator": SECANT}
    one, again = (anisotropy.sample(number=1, **arguments) for _ in range(2))
    assert one.tobytes() == again.tobytes()
    assert one.tobytes() != anisotropy.sample(number=2, **arguments).tobytes()
    points = [
        anisotropy.evaluation_point(kind, 0, number, 9) for kind in ("normal", "many", "zero") for number in (0, 1)
    ]
    assert np.array_equal(points[0], points[1]) and not np.array_equal(points[2], points[3]) and not points[4].any()


def test_a_readout_that_is_not_drawn_as_usual_is_refused():
    network = nn.Sequential(nn.Flatten(), nn.Linear(16, 400), nn.Linear(400, 1))
    anisotropy.readout(network, torch.zeros(1, 1, 4, 4))
    nn.init.normal_(network[2].weight)
    with pytest.raises(ValueError, match="not drawn as PyTorch draws"):
        anisotropy.readout(network, torch.zeros(1, 1, 4, 4))
