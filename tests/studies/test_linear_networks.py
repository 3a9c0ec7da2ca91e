"""Linear networks with pooling and with scaled inputs, against closed forms."""

import pytest
import torch

from pipeline.training import loop, seeds
from pipeline.training.fourier import fourier
from studies import linear_networks


@pytest.mark.parametrize(
    ("frequency", "accuracy"),
    [((2, 0), 0.953), ((4, 4), 0.708), ((6, 2), 0.681), ((8, 8), 0.5)],
)
def test_the_best_accuracy_after_average_pooling(frequency, accuracy):
    share = linear_networks.energy_left(fourier(*frequency))
    assert linear_networks.best_accuracy(share, 1.0, 3.0) == pytest.approx(
        accuracy, abs=1e-3
    )


def test_the_energy_left_is_that_of_the_pooled_input():
    v = fourier(4, 6)
    pooled = torch.nn.functional.avg_pool2d(torch.as_tensor(v).reshape(1, 1, 32, 32), 2)
    # An average of four pixels shortens an orthonormal vector to half of its length.
    assert linear_networks.energy_left(v) == pytest.approx(
        4 * float(pooled.square().sum())
    )


def test_a_pooled_linear_network_does_not_exceed_the_closed_form_and_comes_close(
    monkeypatch,
):
    monkeypatch.setattr(linear_networks, "SAMPLES", 4000)
    v = fourier(2, 0)
    network = loop.initialise(linear_networks.pooled_linear, seeds.derive(0, "pooled"))
    _, accuracy = linear_networks.train_on(network, v, 3.0, linear_networks.POOLED, 0)
    assert 0.90 < accuracy < 0.953 + 0.015


def test_the_input_is_scaled_along_one_direction_alone():
    v = fourier(2, 4)
    layer = linear_networks.ScaledLinear(v, 0.25)
    x = torch.randn(5, 1, 32, 32)
    unit = torch.as_tensor(v).reshape(1, 1, 32, 32)
    along = x + unit
    moved = layer(along) - layer(x)
    expected = 0.25 * layer.fc.weight @ layer.v
    torch.testing.assert_close(moved, expected.expand(5, 2), atol=1e-5, rtol=1e-4)
