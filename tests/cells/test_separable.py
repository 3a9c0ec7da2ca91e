"""D(v), direct sums and switched-off channels against their definitions (paper 2, eq. 1)."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.cells import separable
from pipeline.cells.seeds import stream

DERANDOMISED = settings(derandomize=True, deadline=None, max_examples=25)


def direction(seed):
    """A random unit vector (1024,) in float64."""
    v = stream(seed, "direction").standard_normal(1024)
    return v / np.linalg.norm(v)


@DERANDOMISED
@given(seed=st.integers(0, 10**6), eps=st.floats(0, 10), sigma=st.floats(0.01, 10))
def test_the_coordinate_along_v_is_the_label_and_the_rest_is_the_draws_noise(seed, eps, sigma):
    """⟨x, v⟩ = ε y exactly, and x − ⟨x, v⟩v = σ(g − ⟨g, v⟩v), in which y does not stand."""
    v, rng = direction(seed), stream(seed, "samples")
    y, g = separable.labels(rng, 8), separable.normal(rng, 8)
    x = separable.linearly_separable(g, y, v, eps, sigma).reshape(8, -1).double().numpy()
    rounding = 2e-5 * max(eps, sigma)
    np.testing.assert_allclose(x @ v, eps * y, atol=rounding)
    rest = x - np.outer(x @ v, v)
    np.testing.assert_allclose(rest, sigma * (g - np.outer(g @ v, v)), atol=rounding)


def test_v_may_lie_in_inputs_of_any_shape():
    """v = e₁₁ over two channels of 3×4 pixels is their pixel (2, 3) of the first, and the second
    holds noise alone."""
    g, y = stream(0, "shape").standard_normal((3, 24), dtype=np.float32), np.array([1, -1, -1])
    x = separable.linearly_separable(g, y, np.eye(24)[11], 0.5, 2.0, (2, 3, 4))
    expected = 2 * torch.as_tensor(g).reshape(3, 2, 3, 4)
    expected[:, 0, 2, 3] = torch.tensor([0.5, -0.5, -0.5])
    torch.testing.assert_close(x, expected)


def test_switching_off_zeroes_the_other_channels_and_leaves_the_argument():
    x = torch.randn(3, 4, 5, 5, generator=torch.Generator().manual_seed(0))
    before = x.clone()
    kept = separable.only(x, slice(1, 3))
    for channel in range(4):
        assert torch.equal(kept[:, channel], x[:, channel] * (1 <= channel < 3))
    assert torch.equal(x, before)
