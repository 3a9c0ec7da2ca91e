"""D(v), direct sums and switched-off channels against their definitions."""

import numpy as np
import pytest
import torch

from pipeline import datasets
from pipeline.project.seeds import derive, stream


@pytest.fixture
def direction():
    v = stream(0, "test").standard_normal(1024)
    return v / np.linalg.norm(v)


@pytest.mark.parametrize(("eps", "sigma"), [(1.0, 1.0), (0.5, 3.0), (0.0, 0.1)])
def test_coordinate_along_v_is_the_label_and_the_rest_is_noise(direction, eps, sigma):
    rng = stream(1, "test")
    y, g = datasets.labels(rng, 400), datasets.normal(rng, 400)
    x = datasets.linearly_separable(g, y, direction, eps, sigma).reshape(400, -1).double().numpy()
    np.testing.assert_allclose(x @ direction, eps * y, atol=2e-5 * max(1, sigma))
    noise = x - np.outer(x @ direction, direction)
    expected = sigma * (g - np.outer(g @ direction, direction))
    np.testing.assert_allclose(noise, expected, atol=1e-4)
    assert noise.var() == pytest.approx(sigma**2 * 1023 / 1024, rel=0.01)


def test_labels_are_balanced_signs():
    y = datasets.labels(stream(2, "test"), 10_000)
    assert set(y) == {-1, 1} and abs(y.mean(dtype=float)) < 0.05


def test_switching_off_zeroes_the_other_channels_and_leaves_the_argument():
    x = torch.randn(3, 4, 32, 32)
    before = x.clone()
    kept = datasets.only(x, slice(0, 3))
    assert torch.equal(kept[:, :3], x[:, :3]) and not kept[:, 3].any() and torch.equal(x, before)


def test_direct_sum_stacks_channels():
    first, second = torch.zeros(2, 3, 32, 32), torch.ones(2, 1, 32, 32)
    assert datasets.direct_sum(first, second).mean((0, 2, 3)).tolist() == [0, 0, 0, 1]


def test_binary_splits_cifars_classes_in_half():
    assert datasets.binary(np.arange(10), 10).tolist() == [-1] * 5 + [1] * 5


def test_normalised_images_have_zero_mean_and_unit_deviation():
    images = stream(3, "test").integers(0, 256, (50, 3, 32, 32)).astype(np.uint8)
    values = images / 255
    x = datasets.normalised(datasets.in_unit_range(images), values.mean((0, 2, 3)), values.std((0, 2, 3)))
    np.testing.assert_allclose(x.mean((0, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(x.std((0, 2, 3), correction=0), 1, atol=1e-5)


def test_seeds_depend_on_every_part_and_on_nothing_else():
    assert derive(0, "a", 1) == derive(0, "a", 1)
    assert (
        len(
            {
                derive(0, "a", 1),
                derive(1, "a", 1),
                derive(0, "b", 1),
                derive(0, "a", 2),
                derive(0, "a", "1"),
                derive("0a", 1),
            }
        )
        == 6
    )
    assert 0 <= derive("x") < 2**63
