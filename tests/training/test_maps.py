"""Orthogonal maps of pictures, against their definitions."""

import numpy as np
import pytest
import torch

from pipeline.training import maps
from pipeline.training.fourier import cosines
from pipeline.training.seeds import stream

SIDE = 6
NAMES = [*maps.MAPS, "rotated_5"]


def basis(dimension=SIDE**2):
    """A random orthonormal basis (D, D) as rows, float64."""
    normal = stream(0, "basis").standard_normal((dimension, dimension))
    return np.linalg.qr(normal)[0].T


def pictures(count=300):
    """Correlated random pictures (N, 3, H, W), float32."""
    rng = stream(0, "pictures")
    mixing = rng.standard_normal((SIDE**2, SIDE**2))
    vectors = rng.standard_normal((count, 3, SIDE**2)) @ mixing
    return torch.as_tensor(vectors.reshape(count, 3, SIDE, SIDE), dtype=torch.float32)


def mapped(x, name, seed=1):
    components = maps.principal_components(x)
    return maps.apply_map(x, basis(), name, stream(seed, name), components)


def coefficients(x, on=None):
    on = basis() if on is None else on
    return x.flatten(2).double().numpy() @ on.T


@pytest.mark.parametrize("name", NAMES)
def test_a_map_is_linear_keeps_norms_and_is_the_same_for_every_picture(name):
    x = pictures()
    y = mapped(x, name)
    assert y.shape == x.shape
    norms = x.flatten(2).norm(dim=2), y.flatten(2).norm(dim=2)
    torch.testing.assert_close(*norms, rtol=1e-4, atol=1e-4)
    inner = [
        torch.einsum("nci,mci->nm", part.flatten(2), part.flatten(2)) for part in (x, y)
    ]
    torch.testing.assert_close(*inner, rtol=1e-3, atol=0.05)


def test_flipping_reverses_coefficients():
    x = pictures()
    np.testing.assert_allclose(
        coefficients(mapped(x, "flipped")), coefficients(x)[..., ::-1], atol=1e-4
    )


def test_signs_change_no_size_of_a_coefficient_and_about_half_of_the_signs():
    x = pictures()
    before = coefficients(x)
    after = coefficients(mapped(x, "signs"))
    np.testing.assert_allclose(np.abs(after), np.abs(before), atol=1e-4)
    ratio = np.round(after / before)
    assert (ratio == ratio[0, 0]).all()
    assert 0.2 < (ratio[0, 0] < 0).mean() < 0.8


def test_a_rotation_within_blocks_keeps_the_energy_of_each_block():
    x = pictures()
    before = coefficients(x)
    after = coefficients(mapped(x, "rotated_5"))
    for first in range(0, SIDE**2, 5):
        block = slice(first, first + 5)
        energies = [np.square(part[..., block]).sum(-1) for part in (before, after)]
        np.testing.assert_allclose(*energies, rtol=1e-3)
    assert np.abs(after - before)[..., :5].mean() > 0.1 * np.abs(before)[..., :5].mean()


def test_a_rotation_within_blocks_leaves_the_covariance_of_white_pictures_unchanged():
    white = torch.randn(4000, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(0))
    vectors = mapped(white, "rotated_5").flatten(2).flatten(0, 1)
    error = (torch.cov(vectors.T) - torch.eye(SIDE**2)).abs().max()
    assert error < 5 / len(vectors) ** 0.5


def test_permuted_pixels_are_the_same_pixels_in_each_channel():
    x = pictures()
    y = mapped(x, "permuted")
    assert not torch.equal(x, y)
    torch.testing.assert_close(
        x.flatten(2).sort(dim=2).values, y.flatten(2).sort(dim=2).values
    )


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("aligned", basis()),
        ("aligned_reversed", basis()[::-1]),
        ("aligned_cosines", cosines((SIDE, SIDE))),
        ("aligned_pixels", np.eye(SIDE**2)),
    ],
)
def test_alignment_puts_the_largest_variance_onto_the_first_direction(name, target):
    x = pictures()
    variances = coefficients(mapped(x, name), target).reshape(-1, SIDE**2).var(0)
    expected = np.linalg.eigvalsh(
        np.cov(coefficients(x, np.eye(SIDE**2)).reshape(-1, SIDE**2).T)
    )
    np.testing.assert_allclose(variances, expected[::-1], rtol=1e-2)


def test_another_seed_gives_another_random_map():
    x = pictures()
    for name in ("signs", "rotated", "permuted", "rotated_5"):
        assert torch.equal(mapped(x, name), mapped(x, name))
        assert not torch.equal(mapped(x, name), mapped(x, name, seed=2))


@pytest.mark.parametrize(
    "name", ["turned", "rotated_0", "rotated_x", "aligned_nads", ""]
)
def test_an_unknown_map_is_refused(name):
    with pytest.raises(ValueError, match="maps"):
        maps.check(name)


def test_cosines_are_a_basis_from_low_to_high_frequency():
    found = cosines((4, 6)).astype(float)
    np.testing.assert_allclose(found @ found.T, np.eye(24), atol=1e-6)
    np.testing.assert_allclose(found[0], 1 / 24**0.5, atol=1e-6)
    changes = [
        np.abs(np.diff(np.sign(wave.reshape(4, 6)), axis=1)).sum() for wave in found
    ]
    assert changes[0] == 0 < changes[-1]
