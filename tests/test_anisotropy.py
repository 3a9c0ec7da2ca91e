"""NADs against closed forms: whole estimates, their errors and groups, and NADs from a file."""

import dataclasses
import functools

import numpy as np
import pytest
import torch
from test_derivatives import GRADIENT, SECANT, linear_features
from torch import nn

from pipeline import networks
from pipeline.nads import anisotropy, derivatives
from pipeline.nads.covariances import Covariance, Leading, images_of
from pipeline.networks.lenet import LeNet
from pipeline.project.errors import InputError


def sample(specification, number, estimator):
    """One network's root."""
    build = functools.partial(networks.build, specification, 1, 1)
    return anisotropy.sample(build, (1, 32, 32), number, (0, "test"), estimator)


def covariance_of(specification, count, estimator, first=0, symmetry="none"):
    """The `Covariance` of `count` networks of the architecture."""
    covariance = Covariance((1, 32, 32), symmetry)
    for number in range(first, first + count):
        covariance.add(sample(specification, number, estimator))
    return covariance


def distance(one, other):
    """Relative Frobenius distance."""
    return np.linalg.norm(one - other) / np.linalg.norm((one + other) / 2)


def test_covariance_of_a_linear_map_is_t2_ata():
    """C = t²AᵀA for f = θᵀAx with θ of variance t²: brute force over read-outs agrees with the exact expectation."""
    matrix = np.random.default_rng(1).standard_normal((5, 16)).astype(np.float32)
    exact = matrix.T @ matrix / (3 * 5)
    torch.manual_seed(0)
    weights = torch.stack([nn.Linear(5, 1).weight.detach()[0] for _ in range(20_000)]).numpy()
    sampled = (weights @ matrix).T @ (weights @ matrix) / len(weights)
    assert np.linalg.norm(sampled - exact) / np.linalg.norm(exact) < 0.03
    covariance, point = Covariance((1, 4, 4)), derivatives.evaluation_point("zero", 0, 0, 16)
    for _ in range(4):
        covariance.add(derivatives.derivative(linear_features(matrix), GRADIENT, point, (1, 4, 4)))
    np.testing.assert_allclose(covariance.mean(), exact, rtol=1e-5)
    assert covariance.error() == pytest.approx(0, abs=1e-7)


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
    vectors = np.concatenate([sample({"network": "logreg"}, number, plain) for number in range(n)])
    singular = np.linalg.svd(vectors, compute_uv=False)
    low, high = (np.sqrt(n / 3072) * (1 + sign * np.sqrt(1024 / n)) for sign in (-1, 1))
    assert singular.max() == pytest.approx(high, rel=0.02) and singular.min() == pytest.approx(low, rel=0.04)


@pytest.mark.parametrize("stride", [2, 4])
def test_one_strided_convolution_with_global_pooling_lives_on_periodic_patterns(stride):
    """C has rank S² at most, and every direction repeats with period S along rows and columns."""
    covariance = Covariance((1, 16, 16))
    for seed in range(40):
        torch.manual_seed(seed)
        network = nn.Sequential(
            nn.Conv2d(1, 8, stride, stride), nn.AvgPool2d(16 // stride), nn.Flatten(), nn.Linear(8, 1)
        )
        covariance.add(
            derivatives.derivative(network, GRADIENT, derivatives.evaluation_point("normal", 0, 0, 256), (1, 16, 16))
        )
    nads = covariance.spectrum()
    assert nads.eigenvalues[stride**2] < 1e-6 * nads.eigenvalues[0] < nads.eigenvalues[stride**2 - 1]
    for direction in nads.directions[: stride**2]:
        picture = direction.reshape(16, 16)
        for axis in (0, 1):
            np.testing.assert_allclose(np.roll(picture, stride, axis), picture, atol=1e-6)


def test_plain_and_readout_estimate_the_same_covariance():
    """LeNet: the two estimates differ by what their errors add up to, and read-out needs far fewer networks for it."""
    plain = covariance_of({"network": "lenet"}, 150, dataclasses.replace(GRADIENT, method="plain"))
    exact = covariance_of({"network": "lenet"}, 30, GRADIENT, first=150)
    errors = [covariance.error() for covariance in (plain, exact)]
    assert 0.6 < distance(plain.mean(), exact.mean()) / np.hypot(*errors) < 1.5
    assert errors[1] < errors[0]


@pytest.mark.parametrize(
    ("specification", "count"),
    [
        ({"network": "lenet"}, 40),
        ({"network": "lenet", "downsampling": "stride"}, 40),
        ({"network": "lenet", "downsampling": "none"}, 40),
        ({"network": "mlp", "hidden": [100, 20]}, 40),
        ({"network": "resnet18", "width": 0.125}, 16),
        ({"network": "vgg11", "width": 0.125}, 30),
        ({"network": "densenet121", "growth": 4}, 8),
    ],
)
def test_declared_symmetries_hold_and_the_others_do_not(specification, count):
    """Halves of the networks, one of them carried along by a symmetry, are as close as halves left alone."""
    one, other = covariance_of(specification, count, dataclasses.replace(GRADIENT, point="many")).half_means()
    alone = distance(one, other)
    declared = networks.symmetry(specification)
    for element in images_of(declared, other, (1, 32, 32)):
        assert distance(one, element) == pytest.approx(alone, rel=0.15)
    if declared == "transposition":
        # Each pixel's energy E[d_i²] has little noise: it survives transposition, and a flip moves it to other pixels.
        energy = np.diag(one + other).reshape(32, 32)
        same, flipped = (np.corrcoef(energy.ravel(), moved.ravel())[0, 1] for moved in (energy.T, energy[::-1]))
        assert same > 0.9 > 0.8 > flipped


def random_symmetric(rng, size):
    """Noise of an estimate of C: unit variance on the diagonal, half of it beside."""
    noise = rng.standard_normal((size, size))
    return (noise + noise.T) / 2


def test_equal_eigenvalues_are_rarely_taken_apart_and_distant_ones_always():
    """The gap of two equal eigenvalues exceeds 3.5 standard errors with probability exp(−3.5²/4) = 4.7 %."""
    rng, apart = np.random.default_rng(0), []
    for _ in range(4000):
        values = np.linalg.eigvalsh(np.eye(2) + 0.01 * random_symmetric(rng, 2))[::-1]
        apart.append(anisotropy.groups_of(values, np.full(2, 0.01))[1] == 1)
    assert 0.035 < np.mean(apart) < 0.06
    values, deviations = np.array([9.0, 5.0, 4.9, 4.8, 1.0]), np.full(5, 0.1)
    np.testing.assert_array_equal(anisotropy.groups_of(values, deviations), [0, 1, 1, 1, 4])
    np.testing.assert_array_equal(anisotropy.nearby_of(values, deviations), [[0, 0], [1, 3], [1, 3], [1, 3], [4, 4]])


@pytest.mark.parametrize("count", [2, 8, 11])
def test_standard_errors_of_eigenvalues_are_those_of_repeated_estimates(count):
    values, spread, from_parts = np.linspace(30, 20, 30), [], []
    rng, sizes = np.random.default_rng(1), np.full(count, 5)
    sizes[0] = 6
    for _ in range(60):
        parts = values + 4 * rng.standard_normal((count, 30)) / np.sqrt(sizes[:, None])
        mean = sizes @ parts / sizes.sum()
        spread.append(mean - values)
        from_parts.append(anisotropy.deviations_of(mean, parts, sizes))
    assert np.mean(from_parts) == pytest.approx(np.std(spread), rel=0.1)


def test_eight_parts_know_the_error_where_two_halves_agree_by_luck():
    """Networks that differ by a factor move all eigenvalues together, so neighbours add nothing to two halves."""
    rng, errors = np.random.default_rng(2), {1: [], 4: []}
    for _ in range(200):
        factors = rng.chisquare(3, 8)
        parts = factors[:, None] * np.geomspace(2, 1, 40)
        for together, found in errors.items():
            merged = parts.reshape(together, -1, 40).mean(0) if together == 4 else parts
            found.append(anisotropy.deviations_of(parts.mean(0), merged, np.full(len(merged), together))[0])
    assert np.mean(errors[1]) == pytest.approx(2 * np.sqrt(6 / 8), rel=0.15)
    assert np.std(np.log(errors[1])) < 0.45 < 0.8 < np.std(np.log(errors[4]))


def estimation(networks, error=None):
    return anisotropy.Estimation(Covariance((1, 4, 4)), networks, error)


def test_an_estimate_takes_samples_in_any_order_and_stops_at_an_error():
    rng = np.random.default_rng(2)
    samples = [rng.standard_normal((2, 16)) for _ in range(400)]
    one, shuffled = estimation(400, 0.2), estimation(400, 0.2)
    for number in range(400):
        one.add(number, samples[number])
    for number in np.arange(400).reshape(-1, 8)[:, ::-1].ravel():
        shuffled.add(number, samples[number])
    assert one.finished and 4 < one.covariance.count < 400
    count, error = one.trace[-1]
    assert count == one.covariance.count and error == one.covariance.error()
    assert error <= 0.2 < one.trace[-2][1]
    assert one.nads(SECANT).directions.tobytes() == shuffled.nads(SECANT).directions.tobytes()
    assert anisotropy.stops(one.trace, 0.2) == count and anisotropy.stops(one.trace, 0.01) is None


def test_two_hundred_networks_and_two_hundred_more_give_what_four_hundred_give():
    roots = [sample({"network": "mlp", "hidden": [8, 4]}, number, GRADIENT) for number in range(400)]
    whole, first = (anisotropy.Estimation(Covariance((1, 32, 32)), count) for count in (400, 200))
    for number in range(400):
        whole.add(number, roots[number])
        first.add(number, roots[number])
    assert first.finished and first.covariance.count == 200
    more = anisotropy.Estimation(Covariance((1, 32, 32)), 400)
    more.restore(first.state(), 200)
    for number in range(200, 400):
        more.add(number, roots[number])
    one, other = whole.nads(GRADIENT), more.nads(GRADIENT)
    for field in dataclasses.fields(one):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))


class Tiny(nn.Sequential):
    """A network of a user's, for one row of twelve pixels by eight."""

    def __init__(self):
        super().__init__(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(3 * 10 * 6, 7), nn.Linear(7, 1))


def test_the_library_call_takes_a_constructor_to_nads():
    nads = anisotropy.estimate(Tiny, shape=(2, 12, 8), networks=6, seed=3)
    assert nads.directions.shape == (192, 192) and nads.networks == 6 and nads.method == "readout"
    np.testing.assert_allclose(nads.directions @ nads.directions.T, np.eye(192), atol=1e-10)
    again = anisotropy.estimate(Tiny, shape=(2, 12, 8), networks=6, seed=3)
    assert nads.directions.tobytes() == again.directions.tobytes()
    state = torch.get_rng_state()
    leading = anisotropy.estimate(Tiny, shape=(2, 12, 8), networks=6, seed=3, first=4)
    assert torch.equal(torch.get_rng_state(), state), "the caller's random numbers are left alone"
    np.testing.assert_allclose(leading.eigenvalues, nads.eigenvalues[:4], rtol=1e-4)
    assert anisotropy.estimate(Tiny, shape=(2, 12, 8), networks=90, error=0.5).networks < 90


@pytest.mark.parametrize(("shape", "side"), [((3, 32, 32), 32), ((1, 64, 64), 64)])
def test_colour_images_and_larger_ones(shape, side):
    """The directions are eigenvectors of the mean of the very samples, (1/N) Σ RᵀR."""
    specification = {"network": "lenet", "side": side}
    build = functools.partial(networks.build, specification, shape[0], 1)
    estimator = dataclasses.replace(GRADIENT, point="many")
    make = lambda: LeNet(shape[0], 1, side=side)
    nads = anisotropy.estimate(make, shape, 4, estimand="gradient", point="many", first=20)
    roots = [anisotropy.sample(build, shape, n, (0, "library"), estimator).astype(np.float64) for n in range(4)]
    turned = sum((nads.directions @ root.T) @ root for root in roots) / 4
    np.testing.assert_allclose(turned, nads.eigenvalues[:, None] * nads.directions, atol=1e-6 * nads.eigenvalues[0])
    np.testing.assert_allclose(nads.directions @ nads.directions.T, np.eye(20), atol=1e-5)
    assert tuple(nads.shape) == shape


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"networks": 1}, "at least 2"),
        ({"estimand": "hessian"}, "estimand"),
        ({"method": "plain", "first": 50}, "6 networks give 6 vectors, too few for the first 50 directions"),
        ({"step": 0.0}, "step must be positive"),
        ({"symmetry": "rotation"}, "symmetry"),
        ({"networks": 10**9, "first": 5}, "GB are free; ask for fewer networks"),
        ({"shape": (1, 12, 8)}, r"the network does not take inputs of 1×12×8"),
    ],
)
def test_what_the_library_call_refuses(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        anisotropy.estimate(Tiny, **{"shape": (2, 12, 8), "networks": 6} | arguments)


def test_an_estimate_that_does_not_fit_is_refused_with_the_figure():
    with pytest.raises(
        InputError, match=r"3×224×224 \(D = 150,528\) from 9 networks need 2,719.0 GB and 16.0 GB are free"
    ):
        anisotropy.holder((3, 224, 224), 1, 9, None, "none", 16e9)
    leading = anisotropy.holder((3, 224, 224), 512, 2, 100, "measured", 16e9)
    assert isinstance(leading, Leading) and leading.symmetry == "none"
    with pytest.raises(InputError, match="ask for fewer networks"):
        anisotropy.holder((3, 224, 224), 512, 100, 100, "none", 16e9)


def test_imported_rows_are_kept_and_completed_to_a_basis():
    rows = np.linalg.qr(np.random.default_rng(0).standard_normal((64, 64)))[0][:60].astype(np.float32)
    nads = anisotropy.imported(rows, (1, 8, 8))
    np.testing.assert_array_equal(nads.directions[:60], rows)
    np.testing.assert_allclose(nads.directions @ nads.directions.T, np.eye(64), atol=1e-6)
    assert nads.networks == 0 and np.isnan(nads.eigenvalues).all() and len(nads.eigenvalues) == 64


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (np.eye(5)[:, :4], r"shape \(5, 4\), not \(K, 4\) with K ≤ 4"),
        (np.eye(3), r"shape \(3, 3\), not \(K, 4\)"),
        (np.zeros(4), r"shape \(4,\)"),
        (2 * np.eye(4), "not orthonormal"),
        (np.full((2, 4), np.nan), "not finite"),
        (np.eye(4, dtype=int), "not finite real"),
    ],
)
def test_what_is_refused_of_imported_rows(rows, sentence):
    with pytest.raises(InputError, match=sentence):
        anisotropy.imported(rows, (1, 2, 2))
