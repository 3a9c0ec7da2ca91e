"""Winograd's convolution against the direct one, and where it takes its place."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from pipeline.nads import winograd


@pytest.mark.parametrize(("height", "width"), [(4, 4), (8, 12), (32, 32)])
def test_it_is_the_direct_convolution(height, width):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 5, height, width, dtype=torch.float64, generator=generator)
    weight = torch.randn(7, 5, 3, 3, dtype=torch.float64, generator=generator)
    bias = torch.randn(7, dtype=torch.float64, generator=generator)
    found = winograd.convolution(x, winograd.transformed_filters(weight), bias)
    torch.testing.assert_close(found, F.conv2d(x, weight, bias, padding=1), rtol=0, atol=1e-12)
    assert found.is_contiguous(memory_format=torch.channels_last)


def network():
    torch.manual_seed(0)
    wide = winograd.CHANNELS
    return nn.Sequential(
        nn.Conv2d(2, wide, 3, padding=1),
        nn.Conv2d(wide, wide, 3, padding=1),
        nn.Conv2d(wide, wide, 3, padding=1, stride=2),
        nn.Conv2d(wide, wide, 3, padding=1, bias=False),
        nn.Conv2d(wide, wide, 3, padding=1, groups=2),
        nn.Conv2d(wide, wide, 3, padding=1, padding_mode="circular"),
        nn.Conv2d(wide, wide, 1),
    )


def test_it_takes_the_place_of_wide_layers_only_and_gives_it_back(monkeypatch):
    layers, x = network(), torch.randn(2, 2, 16, 16, generator=torch.Generator().manual_seed(1))
    calls, original = [], winograd.convolution
    monkeypatch.setattr(winograd, "convolution", lambda *a: calls.append(a[0].shape) or original(*a))
    with torch.no_grad():
        direct = layers(x)
        with winograd.used_in(layers):
            found = layers(x)
        assert calls == [(2, 128, 16, 16), (2, 128, 8, 8)]
        assert 0 < (found - direct).norm() / direct.norm() < 1e-5, "the same within rounding, and not the same bits"
        assert torch.equal(layers(x), direct)
        assert len(calls) == 2


def test_sides_that_do_not_divide_take_the_direct_way():
    layers, x = network(), torch.randn(1, 2, 18, 18, generator=torch.Generator().manual_seed(1))
    with torch.no_grad(), winograd.used_in(layers):
        inside = layers(x)
    with torch.no_grad():
        assert torch.equal(inside, layers(x))
