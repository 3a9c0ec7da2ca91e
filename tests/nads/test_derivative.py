"""Secants and gradients of functions against closed forms, in passes of any size."""

import pytest
import torch

from pipeline.nads.derivative import gradient, secant


class Cubes:
    """The features f_k(x) = Σ_i w_ki x_i³, and a record of the sizes of the passes."""

    def __init__(self, features, pixels):
        generator = torch.Generator().manual_seed(1)
        self.weights = torch.randn(features, pixels, generator=generator).double()
        self.batches = []

    def __call__(self, images):
        self.batches.append(len(images))
        if len(images) > 1:
            assert images.is_contiguous(memory_format=torch.channels_last)
        return images.flatten(1) ** 3 @ self.weights.T


@pytest.mark.parametrize("batch", [1, 2, 7, 8, 100])
def test_derivatives_of_cubes_in_passes_of_any_size(batch):
    """((x + h)³ − (x − h)³) / 2h = 3x² + h², and the gradient is 3x²."""
    shape = (2, 3, 5)
    function = Cubes(9, 30)
    point = torch.randn(30, generator=torch.Generator().manual_seed(2)).double()
    secants = secant(function, point, 0.5, shape, batch)
    exact = function.weights * (3 * point**2 + 0.25)
    torch.testing.assert_close(secants, exact, rtol=1e-12, atol=1e-12)
    assert max(function.batches) == min(60, max(2, batch // 2 * 2))
    assert sum(function.batches) == 60
    function.batches.clear()
    gradients = gradient(function, point, shape, batch)
    exact = function.weights * (3 * point**2)
    torch.testing.assert_close(gradients, exact, rtol=1e-12, atol=1e-12)
    assert function.batches[0] == 1
    assert sum(function.batches[1:]) == 9
    assert max(function.batches) == min(9, batch)
