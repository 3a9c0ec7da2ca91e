"""Gaussian images have the mean and the covariance of the images they are made from."""

import numpy as np

from pipeline.training.seeds import stream
from studies import gaussian_images


def test_mean_and_covariance_are_those_of_the_originals():
    rng = stream(0, "originals")
    mixing = rng.normal(size=(12, 12)) * 3
    vectors = 128 + rng.normal(size=(500, 12)) @ mixing
    originals = np.rint(vectors).clip(0, 255).astype(np.uint8).reshape(500, 3, 2, 2)
    drawn = gaussian_images.gaussian(originals, 40_000, stream(0, "drawn"))
    assert drawn.dtype == np.uint8 and drawn.shape == (40_000, 3, 2, 2)
    before, after = (
        part.reshape(len(part), -1).astype(float) for part in (originals, drawn)
    )
    np.testing.assert_allclose(after.mean(0), before.mean(0), atol=0.5)
    expected = np.cov(before.T)
    np.testing.assert_allclose(
        np.cov(after.T), expected, atol=0.05 * np.abs(expected).max()
    )
