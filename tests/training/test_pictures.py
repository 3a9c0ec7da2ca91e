"""Pictures chosen, normalised, poisoned and flipped, against the papers'
definitions."""

import numpy as np
import pytest
import torch

from pipeline.training import pictures
from pipeline.training.seeds import stream


def basis(dimension, seed=0):
    """A random orthonormal basis (D, D) as rows, float64."""
    return np.linalg.qr(stream(seed, "basis").standard_normal((dimension, dimension)))[
        0
    ].T


def coloured(count, side, seed=0):
    """Random pictures (N, 3, H, W) in [0, 1], float32."""
    return torch.as_tensor(
        stream(seed, "pictures").random((count, 3, side, side), dtype=np.float32)
    )


def test_pictures_are_chosen_once_each_in_the_order_in_which_they_lie(images):
    number_of = {
        picture.tobytes(): n for n, picture in enumerate(images["train_images"])
    }
    seen = set()
    for seed in range(20):
        found, classes = pictures.choose(stream(seed, "choice"), images, "train", 12)
        numbers = [number_of[picture.tobytes()] for picture in found]
        assert len(numbers) == 12 and numbers == sorted(set(numbers))
        assert np.array_equal(classes, images["train_labels"][numbers])
        seen |= set(numbers)
    assert len(seen) == 60, "every picture can be chosen"
    found, classes = pictures.choose(stream(0, "choice"), images, "test", 30)
    assert np.array_equal(found, images["test_images"]), "no more than there are"
    assert np.array_equal(classes, images["test_labels"])


@pytest.mark.parametrize(("channels", "size"), [(3, 0.05), (3, 5.0), (1, 0.05)])
def test_poison_replaces_one_coefficient_and_nothing_else(channels, size):
    """Of every picture: its coefficient on the class's carrier is ±size, all other
    coefficients are its own.

    Class t < 6: the first NAD, the next six classes the next; channel t mod 3; sign −
    for even t (paper 1, §5). Two classes share a NAD of colour, which is written into
    all channels as one.
    """
    nads = basis(16 * 3 // channels)
    x = coloured(24, 4)
    y = torch.as_tensor(
        stream(0, "classes").permutation(np.arange(24) % (4 * channels))
    )
    before = x.clone()

    def coefficients(x):
        return x.reshape(24, channels, -1).double().numpy() @ nads.T

    expected = coefficients(x)
    for number, label in enumerate(y.tolist()):
        # The first NAD of the carriers is the third here.
        nad = 2 if label < 2 * channels else 3
        sign = 1 if label % 2 else -1
        expected[number, label % channels, nad] = sign * size
    found = coefficients(pictures.poison(x, y, nads[2:4], size))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert torch.equal(x, before), "the argument is left as it was"
