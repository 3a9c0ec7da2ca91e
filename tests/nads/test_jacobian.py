"""The Jacobian of one untrained network against closed forms, and what it depends on."""

import dataclasses

import numpy as np
import pytest
import torch.nn.functional as F
from nads_samples import GRADIENT, SECANT, linear_features
from torch import nn

from pipeline import networks
from pipeline.cells.seeds import derive, stream
from pipeline.nads.jacobian import Sampler, check, evaluation_point, jacobian_of
from pipeline.project.errors import InputError

LENET = {"network": "pipeline.networks.lenet:LeNet"}


class Always(nn.Module):
    """Dropout that is on in eval mode too."""

    def forward(self, x):
        return F.dropout(x)


@pytest.mark.parametrize("estimator", [SECANT, GRADIENT])
def test_plain_is_the_readout_applied_to_the_features(estimator):
    network = networks.build(LENET, 1, 1, 3)
    point = evaluation_point("normal", 0, 0, 1024)
    of_features = jacobian_of(network, estimator, point, (1, 32, 32)) * np.sqrt(3 * 84)
    plain = jacobian_of(network, dataclasses.replace(estimator, method="plain"), point, (1, 32, 32))
    assert of_features.shape == (84, 1024)
    assert plain.shape == (1, 1024)
    np.testing.assert_allclose(network.fc3.weight.detach().numpy() @ of_features, plain, atol=5e-6)


@pytest.mark.parametrize("estimator", [SECANT, GRADIENT])
def test_a_network_is_differentiated_as_it_is_evaluated(estimator):
    """Then batch norm is the identity, but for its 1e-5, and dropout is off."""
    network = nn.Sequential(nn.BatchNorm2d(1), nn.Dropout(0.9), nn.Flatten(), nn.Linear(16, 1))
    found = jacobian_of(network, estimator, evaluation_point("normal", 0, 0, 16), (1, 4, 4))
    np.testing.assert_allclose(found, np.eye(16) / np.sqrt(48), atol=1e-5)
    assert not network.training
    assert network[0].num_batches_tracked == 0
    assert not any(parameter.requires_grad for parameter in network.parameters())


@pytest.mark.parametrize(
    "odd",
    [nn.BatchNorm2d(1, track_running_stats=False), Always()],
    ids=["statistics of the batch", "dropout that is never off"],
)
def test_a_network_whose_inputs_are_not_each_by_itself_is_refused(odd):
    network = nn.Sequential(odd, nn.Flatten(), nn.Linear(16, 1))
    with pytest.raises(InputError, match="depends on chance or on the others of its batch"):
        check(network, (1, 4, 4))


def test_points_and_weights_come_from_seeds_of_their_own():
    """Kept estimates and published reports rest on these seeds."""
    expected = stream(5, "nads", "evaluation point").standard_normal(6, dtype=np.float32)
    np.testing.assert_array_equal(evaluation_point("normal", 5, 3, 6), expected)
    expected = stream(5, "nads", "evaluation point", 3).standard_normal(6, dtype=np.float32)
    np.testing.assert_array_equal(evaluation_point("many", 5, 3, 6), expected)
    assert not evaluation_point("zero", 5, 3, 6).any()
    seeds, matrix = [], np.eye(6, dtype=np.float32)
    build = lambda seed: seeds.append(seed) or linear_features(matrix)
    for number in (0, 7):
        Sampler(build, (1, 2, 3), (5, "net"), GRADIENT)(number)
    assert seeds == [derive(5, "nads", "net", 0), derive(5, "nads", "net", 7)]
