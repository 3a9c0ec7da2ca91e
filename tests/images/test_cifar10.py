"""The real CIFAR-10, where the environment variable CIFAR10 names a copy."""

import os

import numpy as np
import pytest

from pipeline.images.cifar10 import CLASSES
from pipeline.images.image_set import canonical
from pipeline.images.sources import read


@pytest.mark.skipif("CIFAR10" not in os.environ, reason="CIFAR10 names no copy of CIFAR-10")
def test_a_copy_of_cifar10_is_recognised():
    found = canonical(read(os.environ["CIFAR10"]))
    assert found.name == "CIFAR-10" and found.classes == CLASSES
    assert found.train.images.shape == (50_000, 3, 32, 32) and found.test.images.shape == (10_000, 3, 32, 32)
    assert np.bincount(found.train.labels).tolist() == [5000] * 10
    # The channel means and deviations that the literature normalises CIFAR-10 with.
    mean, deviation = found.statistics()
    np.testing.assert_allclose(mean, [0.4914, 0.4822, 0.4465], atol=5e-5)
    np.testing.assert_allclose(deviation, [0.2470, 0.2435, 0.2616], atol=5e-5)
