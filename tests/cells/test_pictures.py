"""Pictures chosen, normalised, poisoned, flipped and replaced, against the papers' definitions."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.cells import pictures
from pipeline.cells.seeds import stream

DERANDOMISED = settings(derandomize=True, deadline=None, max_examples=15)


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
    assert found.ravel().tolist() == [100, 101, 102] and classes.tolist() == [4, 5, 6], (
        "no more than there are"
    )


def test_binary_labels_are_plus_one_on_the_positive_side():
    found = pictures.binary(np.arange(10), range(5, 10))
    assert found.tolist() == [-1] * 5 + [1] * 5 and found.dtype == np.int8
    assert pictures.binary(np.array([2, 0, 1, 2, 3]), [0, 2]).tolist() == [1, 1, -1, 1, -1]


def test_each_channel_is_normalised_by_its_own_mean_and_deviation():
    x = torch.tensor([[[[1.0]], [[1.0]], [[1.0]]], [[[0.0]], [[0.5]], [[2.0]]]])
    found = pictures.normalised(x, {"mean": [0.5, 0.0, 1.0], "deviation": [0.5, 0.25, 2.0]})
    torch.testing.assert_close(
        found.reshape(2, 3), torch.tensor([[1.0, 4.0, 0.0], [-1.0, 2.0, 0.5]])
    )
    images = stream(3, "test").integers(0, 256, (50, 3, 32, 32)).astype(np.uint8)
    values = images / 255
    about = {"mean": values.mean((0, 2, 3)), "deviation": values.std((0, 2, 3))}
    x = pictures.normalised(pictures.in_unit_range(images), about)
    np.testing.assert_allclose(x.mean((0, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(x.std((0, 2, 3), correction=0), 1, atol=1e-5)


def test_the_carriers_of_ten_classes():
    """Class t: the first NAD if t < 6, else the next; channel t mod 3; sign − for even t (paper 1,
    §5)."""
    assert [pictures.carrier_of(label) for label in range(10)] == [
        (0, 0, -1), (0, 1, 1), (0, 2, -1), (0, 0, 1), (0, 1, -1), (0, 2, 1),
        (1, 0, -1), (1, 1, 1), (1, 2, -1), (1, 0, 1),
    ]  # fmt: skip
    assert len({pictures.carrier_of(label) for label in range(100)}) == 100


@DERANDOMISED
@given(seed=st.integers(0, 1000), size=st.floats(0.01, 5))
def test_poison_replaces_one_coefficient_and_nothing_else(seed, size):
    """Of every picture: its coefficient on the class's carrier is ±size, all other coefficients are
    its own."""
    nads, x = basis(16, seed), coloured(24, 4, seed)
    y = torch.as_tensor(stream(seed, "classes").permutation(np.arange(24) % 12))
    before = x.clone()
    # The first NAD of the carriers is the third here.
    found = pictures.poisoned(x, y, nads[2:4], size).flatten(2).double().numpy() @ nads.T
    expected = x.flatten(2).double().numpy() @ nads.T
    for number, label in enumerate(y.tolist()):
        nad, channel, sign = (2 if label < 6 else 3), label % 3, (1 if label % 2 else -1)
        expected[number, channel, nad] = sign * size
    np.testing.assert_allclose(found, expected, atol=2e-6 * max(1, size))
    assert torch.equal(x, before), "the argument is left as it was"


@DERANDOMISED
@given(seed=st.integers(0, 1000))
def test_a_flip_reverses_the_coefficients_and_twice_is_nothing(seed):
    nads, x = basis(16, seed), coloured(3, 4, seed)
    found = pictures.flipped(x, nads)
    coefficients = x.flatten(2).double().numpy() @ nads.T
    np.testing.assert_allclose(
        found.flatten(2).double().numpy() @ nads.T, coefficients[..., ::-1], atol=1e-5
    )
    torch.testing.assert_close(pictures.flipped(found, nads), x, atol=1e-5, rtol=0)


@DERANDOMISED
@given(
    seed=st.integers(0, 1000),
    factor=st.floats(-2, 2),
    first=st.integers(0, 15),
    count=st.integers(1, 16),
)
def test_components_along_rows_are_scaled_and_no_others(seed, factor, first, count):
    nads, x = basis(16, seed), coloured(3, 4, seed)
    rows = nads[first : first + count]
    found = pictures.scaled_along(x, rows, factor).flatten(2).double().numpy() @ nads.T
    expected = x.flatten(2).double().numpy() @ nads.T
    expected[..., first : first + count] *= factor
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_gaussian_mixture_has_each_classes_mean_and_covariance():
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (400, 3, 2, 2)).astype(np.uint8)
    images[:200, 0] = images[:200, 1] // 2
    classes = np.repeat([0, 1], 200)
    wanted = np.tile([0, 1], 40_000)
    made = pictures.gaussian_mixture(np.random.default_rng(1), images, classes, wanted)
    assert made.dtype == np.float16 and made.shape == (80_000, 3, 2, 2)
    for label in (0, 1):
        x = images[classes == label].reshape(200, 12) / 255
        y = made[wanted == label].reshape(-1, 12).astype(float)
        np.testing.assert_allclose(y.mean(0), x.mean(0), atol=0.01)
        np.testing.assert_allclose(np.cov(y.T), np.cov(x.T), atol=0.003)


def test_a_sample_of_the_mixture_is_the_mean_and_a_weighted_sum_of_what_the_images_differ_from_it():
    """mean + Σ gᵢ (xᵢ − mean)/√(m − 1), class by class in increasing number; images that are all
    equal are their samples."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (9, 3, 2, 4)).astype(np.uint8)
    images[6:] = 102
    classes, wanted = np.array([5, 3, 5, 3, 3, 5, 8, 8, 8]), np.array([8, 5, 3, 5])
    made = pictures.gaussian_mixture(np.random.default_rng(1), images, classes, wanted)
    drawn = np.random.default_rng(1)
    for label in (3, 5, 8):
        x = images[classes == label] / 255
        weights = drawn.standard_normal(((wanted == label).sum(), 3)) / np.sqrt(2)
        expected = x.mean(0) + np.einsum("nm,mchw->nchw", weights, x - x.mean(0))
        np.testing.assert_allclose(made[wanted == label].astype(float), expected, atol=1e-3)
    np.testing.assert_allclose(made[0].astype(float), 0.4, atol=2e-4)
