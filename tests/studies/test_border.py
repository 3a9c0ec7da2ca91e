"""Directions made from LeNet's NAD 1000."""

import numpy as np
import pytest
import torch

from pipeline import networks
from pipeline.nads import load
from studies.border import in_frame, make_directions, variant


@pytest.fixture
def directions():
    return make_directions(load("lenet").directions[1000].astype(np.float32))


def test_all_directions_are_unit_vectors(directions):
    for name, v in directions.items():
        assert np.linalg.norm(v) == pytest.approx(1, abs=1e-5), name


def test_the_frame_is_two_pixels_wide(directions):
    assert in_frame().sum() == 32**2 - 28**2
    assert np.array_equal(directions["frame"] > 0, in_frame().ravel())


def test_without_alternation_the_pattern_stays_in_its_pixels(directions):
    v, positive = directions["NAD 1000"], directions["no alternation"]
    assert np.array_equal(positive**2, v**2) and (positive >= 0).all()


def test_nad_1000_is_at_the_border_and_is_moved_away_from_it(directions):
    def border(v):
        return (v[in_frame().ravel()] ** 2).sum()

    assert border(directions["NAD 1000"]) > 0.9
    assert border(directions["in the middle"]) < 0.1


def test_average_pooling_takes_the_mean_of_each_window():
    network = networks.build(variant("average").specification, 1, 2, 0)
    pooled = networks.build(variant("pool").specification, 1, 2, 0)
    x = torch.randn(3, 1, 32, 32)
    with torch.no_grad():
        for weights, same in zip(
            network.parameters(), pooled.parameters(), strict=True
        ):
            torch.testing.assert_close(weights, same)
        assert not torch.allclose(network(x), pooled(x), atol=1e-4)
        for weight in (network.conv1.weight, network.conv2.weight):
            weight.zero_()
            weight[:, :, 2, 2] = 1
        network.conv1.bias.zero_()
        network.conv2.bias.zero_()
        maps = {}
        network.fc1.register_forward_pre_hook(
            lambda _, inputs: maps.update(x=inputs[0])
        )
        network(x)
    first = x.clamp(min=0)[..., 2:-2, 2:-2].unfold(2, 2, 2).unfold(3, 2, 2).mean((4, 5))
    second = first[..., 2:-2, 2:-2].unfold(2, 2, 2).unfold(3, 2, 2).mean((4, 5))
    torch.testing.assert_close(maps["x"].view(3, 16, 5, 5)[:, :1], 6 * second)
