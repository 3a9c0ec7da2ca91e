"""CIFAR-10: what is known of its official archive, and the images themselves where the environment variable CIFAR10 names a copy."""

import os

import numpy as np
import pytest
from torchvision.datasets import CIFAR10

from pipeline.images import cifar10
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


def test_names_and_checksums_of_the_official_archive_are_those_that_torchvision_knows():
    assert (cifar10.ARCHIVE, cifar10.ARCHIVE_MD5) == (CIFAR10.filename, CIFAR10.tgz_md5)
    assert cifar10.FOLDER == CIFAR10.base_folder
    for names, theirs in ((cifar10.TRAIN_BATCHES, CIFAR10.train_list), (cifar10.TEST_BATCHES, CIFAR10.test_list)):
        assert [[name, cifar10.BATCHES[name]] for name in names] == theirs
    assert sorted(cifar10.BATCHES) == sorted(cifar10.TRAIN_BATCHES + cifar10.TEST_BATCHES)
