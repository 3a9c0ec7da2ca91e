"""Pictures chosen, normalised, poisoned and flipped, against the papers' definitions."""

import numpy as np
import pytest
import torch

from pipeline.cells import pictures
from pipeline.cells.seeds import stream


def basis(dimension, seed=0):
    """A random orthonormal basis (D, D) as rows, float64."""
    return np.linalg.qr(stream(seed, "basis").standard_normal((dimension, dimension)))[0].T


def coloured(count, side, seed=0):
    """Random pictures (N, 3, H, W) in [0, 1], float32."""
    return torch.as_tensor(
        stream(seed, "pictures").random((count, 3, side, side), dtype=np.float32)
    )


def test_pictures_are_chosen_once_each_in_the_order_in_which_they_lie():
    labels = np.arange(50) % 7
    images = {
        "train_images": np.arange(50, dtype=np.uint8).reshape(50, 1, 1, 1).repeat(3, 1),
        "train_labels": labels,
        "test_images": np.arange(100, 103, dtype=np.uint8).reshape(3, 1, 1, 1),
        "test_labels": np.array([4, 5, 6]),
    }
    seen = set()
    for seed in range(20):
        found, classes = pictures.chosen(stream(seed, "choice"), images, "train", 12)
        numbers = found[:, 0, 0, 0].tolist()
        assert found.shape == (12, 3, 1, 1) and numbers == sorted(set(numbers))
        assert classes.tolist() == [labels[number] for number in numbers]
        seen |= set(numbers)
    assert len(seen) == 50, "every picture can be chosen"
    found, classes = pictures.chosen(stream(0, "choice"), images, "test", 10)
    assert found.ravel().tolist() == [100, 101, 102], "no more than there are"
    assert classes.tolist() == [4, 5, 6]


def test_the_carriers_of_ten_classes():
    """Class t: the first NAD if t < 6, else the next; channel t mod 3; sign − for even t (paper 1,
    §5)."""
    assert [pictures.carrier_of(label, 3) for label in range(10)] == [
        (0, 0, -1), (0, 1, 1), (0, 2, -1), (0, 0, 1), (0, 1, -1), (0, 2, 1),
        (1, 0, -1), (1, 1, 1), (1, 2, -1), (1, 0, 1),
    ]  # fmt: skip
    assert len({pictures.carrier_of(label, 3) for label in range(100)}) == 100
    # A NAD of colour is written into all channels as one.
    of_colour = [(0, 0, -1), (0, 0, 1), (1, 0, -1), (1, 0, 1)]
    assert [pictures.carrier_of(label, 1) for label in range(4)] == of_colour


@pytest.mark.parametrize("size", [0.05, 5.0])
def test_poison_replaces_one_coefficient_and_nothing_else(size):
    """Of every picture: its coefficient on the class's carrier is ±size, all other coefficients are
    its own."""
    nads, x = basis(16), coloured(24, 4)
    y = torch.as_tensor(stream(0, "classes").permutation(np.arange(24) % 12))
    before = x.clone()
    # The first NAD of the carriers is the third here.
    found = pictures.poisoned(x, y, nads[2:4], size).flatten(2).double().numpy() @ nads.T
    expected = x.flatten(2).double().numpy() @ nads.T
    for number, label in enumerate(y.tolist()):
        nad, channel, sign = (2 if label < 6 else 3), label % 3, (1 if label % 2 else -1)
        expected[number, channel, nad] = sign * size
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert torch.equal(x, before), "the argument is left as it was"
