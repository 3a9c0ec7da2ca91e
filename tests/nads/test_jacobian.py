"""The Jacobian of one untrained network against closed forms, and what it depends on."""

import dataclasses

import numpy as np
import pytest
import torch
from nads_samples import GRADIENT, SECANT, linear_features
from torch import nn

from pipeline import networks
from pipeline.nads import jacobian_of, jacobian_of_untrained, winograd
from pipeline.nads.jacobian import check, evaluation_point
from pipeline.project.errors import InputError
from pipeline.project.seeds import derive, stream

LENET = {"network": "pipeline.networks.lenet:LeNet"}
SMALL = {"network": "pipeline.networks.mlp:MLP", "hidden": [8, 4], "side": 8}


@pytest.mark.parametrize("estimator", [SECANT, dataclasses.replace(SECANT, step=1.0), GRADIENT])
def test_the_jacobian_of_a_linear_map_is_the_map(estimator):
    matrix = np.random.default_rng(0).standard_normal((7, 16)).astype(np.float32)
    point = evaluation_point("normal", 0, 0, 16)
    found = jacobian_of(linear_features(matrix), estimator, point, (1, 4, 4))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found * np.sqrt(21), matrix, atol=1e-4)


@pytest.mark.parametrize("estimator", [SECANT, GRADIENT])
def test_plain_is_the_readout_applied_to_the_features(estimator):
    network = networks.build(LENET, 1, 1, 3)
    point = evaluation_point("normal", 0, 0, 1024)
    of_features = jacobian_of(network, estimator, point, (1, 32, 32)) * np.sqrt(3 * 84)
    plain = jacobian_of(network, dataclasses.replace(estimator, method="plain"), point, (1, 32, 32))
    assert of_features.shape == (84, 1024)
    assert plain.shape == (1, 1024)
    np.testing.assert_allclose(network.fc3.weight.detach().numpy() @ of_features, plain, atol=5e-6)


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 5, 7), (1, 4, 40)])
@pytest.mark.parametrize("estimator", [SECANT, GRADIENT])
def test_any_size_of_input(shape, estimator):
    """Pixels summed with weights: the derivative is the weights, in whatever pieces the passes are made."""
    torch.manual_seed(0)
    weights = torch.randn(4, int(np.prod(shape)))
    point = evaluation_point("normal", 0, 0, weights.shape[1])
    found = jacobian_of(linear_features(weights.numpy()), estimator, point, shape)
    np.testing.assert_allclose(found * np.sqrt(12), weights.numpy(), atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "estimator"), [((3, 32, 32), SECANT), ((1, 64, 64), GRADIENT), ((3, 130, 130), GRADIENT)]
)
def test_large_inputs(shape, estimator):
    test_any_size_of_input(shape, estimator)


class Normed(nn.Sequential):
    """Batch norm and dropout: as a network is evaluated, the identity (but for norm's 1e-5) and off."""

    def __init__(self):
        super().__init__(nn.BatchNorm2d(1), nn.Dropout(0.9), nn.Flatten(), nn.Linear(16, 1))


@pytest.mark.parametrize("estimand", ["secant", "gradient"])
def test_a_network_is_differentiated_as_it_is_evaluated(estimand):
    network = Normed().train()
    estimator = dataclasses.replace(GRADIENT, estimand=estimand)
    found = jacobian_of(network, estimator, evaluation_point("normal", 0, 0, 16), (1, 4, 4))
    np.testing.assert_allclose(found, np.eye(16) / np.sqrt(48), atol=1e-5)
    assert not network.training
    assert network[0].num_batches_tracked == 0
    assert not any(parameter.requires_grad for parameter in network.parameters())


def test_only_the_secant_convolves_in_tiles(monkeypatch):
    wide = nn.Conv2d(winograd.CHANNELS, winograd.CHANNELS, 3, padding=1)
    network = nn.Sequential(
        nn.Conv2d(1, winograd.CHANNELS, 1), wide, nn.Flatten(), nn.Linear(winograd.CHANNELS * 16, 1)
    )
    calls, original = [], winograd.convolution
    monkeypatch.setattr(winograd, "convolution", lambda *arguments: calls.append(1) or original(*arguments))
    plain = dataclasses.replace(GRADIENT, method="plain")
    gradient = jacobian_of(network, plain, np.zeros(16, np.float32), (1, 4, 4))
    assert not calls
    secant = jacobian_of(network, dataclasses.replace(plain, estimand="secant"), np.zeros(16, np.float32), (1, 4, 4))
    assert calls
    np.testing.assert_allclose(secant, gradient, atol=1e-5)


def test_a_readout_that_cannot_be_averaged_over_is_refused():
    network = nn.Sequential(nn.Flatten(), nn.Linear(16, 4), nn.ReLU())
    with pytest.raises(ValueError, match="does not end in a linear layer"):
        jacobian_of(network, SECANT, evaluation_point("zero", 0, 0, 16), (1, 4, 4))


def test_a_measured_variance_is_exact_on_average():
    """Read-outs drawn from N(0, 4): the mean sample of C = 4 AᵀA over many networks."""
    matrix = np.random.default_rng(1).standard_normal((50, 9)).astype(np.float32)
    total = np.zeros((9, 9))
    for seed in range(200):
        torch.manual_seed(seed)
        network = linear_features(matrix)
        nn.init.normal_(network[2].weight, std=2.0)
        jacobian = jacobian_of(network, GRADIENT, np.zeros(9, np.float32), (1, 3, 3))
        total += jacobian.T.astype(np.float64) @ jacobian / 200
    np.testing.assert_allclose(total, 4 * matrix.T @ matrix, rtol=0, atol=0.03 * np.abs(total).max())


def test_evaluation_points_are_standard_normal_one_for_all_or_one_each_or_zero():
    normal = [evaluation_point("normal", 0, number, 4000) for number in (0, 1)]
    many = [evaluation_point("many", 0, number, 4000) for number in (0, 1)]
    assert np.array_equal(*normal)
    for one, other in ((normal[0], many[0]), many, (normal[0], evaluation_point("normal", 1, 0, 4000))):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.1
    for point in (*normal, *many):
        assert point.dtype == np.float32
        assert abs(point.mean()) < 0.1
        assert point.std() == pytest.approx(1, abs=0.05)
    zero = evaluation_point("zero", 0, 0, 9)
    assert zero.dtype == np.float32
    assert zero.shape == (9,)
    assert not zero.any()


def test_points_and_weights_come_from_seeds_of_their_own():
    """Kept estimates and published reports rest on these seeds."""
    expected = stream(5, "nads", "evaluation point").standard_normal(6, dtype=np.float32)
    np.testing.assert_array_equal(evaluation_point("normal", 5, 3, 6), expected)
    expected = stream(5, "nads", "evaluation point", 3).standard_normal(6, dtype=np.float32)
    np.testing.assert_array_equal(evaluation_point("many", 5, 3, 6), expected)
    seeds, matrix = [], np.eye(6, dtype=np.float32)
    build = lambda seed: seeds.append(seed) or linear_features(matrix)
    for number in (0, 7):
        jacobian_of_untrained(build, (1, 2, 3), number, (5, "net"), GRADIENT)
    assert seeds == [derive(5, "nads", "net", 0), derive(5, "nads", "net", 7)]


def test_the_same_arguments_give_the_same_bytes_and_others_do_not():
    build = lambda seed: networks.build(SMALL, 1, 1, seed)
    many = dataclasses.replace(SECANT, point="many")

    def found(number=1, identity=(0, "m"), estimator=many):
        return jacobian_of_untrained(build, (1, 8, 8), number, identity, estimator).tobytes()

    assert found() == found()
    others = [found(2), found(identity=(1, "m")), found(identity=(0, "n")), found(estimator=SECANT)]
    assert len({found(), *others, found(estimator=dataclasses.replace(many, estimand="gradient"))}) == 6


def test_a_network_that_does_not_take_its_inputs_to_one_output_is_refused():
    network = nn.Sequential(nn.Flatten(), nn.Linear(24, 3), nn.Linear(3, 1))
    check(network.train(), (1, 4, 6))
    assert not network.training
    with pytest.raises(
        InputError, match=r"^the network does not take inputs of 2×4×6: [^\n]*cannot be multiplied[^\n]*$"
    ):
        check(network, (2, 4, 6))
    with pytest.raises(InputError, match=r"^the network maps two inputs of 1×4×6 to \(2, 3\), not to \(2, 1\)$"):
        check(network[:2], (1, 4, 6))
    with pytest.raises(InputError, match="to (4, 1), not to".replace("(", r"\(").replace(")", r"\)")):
        check(nn.Sequential(nn.Flatten(0), nn.Unflatten(0, (4, 12)), nn.Linear(12, 1)), (1, 4, 6))
