"""Directions that separate two networks, where they follow from the covariances by
hand."""

import dataclasses

import numpy as np
import pytest
from refusals import refused

from pipeline.nads import controversial, imported

SHAPE = (1, 2, 2)


def nads_of(eigenvalues, directions=None):
    """NADs of 2×2 inputs with these eigenvalues, along single pixels unless stated."""
    directions = np.eye(4) if directions is None else directions
    return dataclasses.replace(
        imported(directions, SHAPE), eigenvalues=np.array(eigenvalues)
    )


def nads_from_covariance(matrix):
    """NADs whose covariance is `matrix`."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return nads_of(eigenvalues[::-1], vectors.T[::-1])


def ratios(a, b, directions, damping=0.1):
    """vᵀC_A v / vᵀ(C_B + δI)v of each direction, from NADs instead of matrices."""
    squares = (directions**2).sum(1)
    return energy(a, directions) / (energy(b, directions) + damping * squares)


def energy(nads, directions):
    """vᵀCv of each direction, in units of the mean eigenvalue."""
    along = (directions @ nads.directions.T) ** 2
    return along @ nads.eigenvalues / nads.eigenvalues.mean()


def random_pair():
    """Two networks without any common direction."""
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((2, 4, 4))
    return [nads_from_covariance(factor @ factor.T) for factor in factors]


def test_diagonal_covariances_that_cross_give_the_pixels_of_each_network():
    """The ratios of pixels 0 to 3 are 2.8/0.6, 0.8/1.6, 0.3/1.6 and 0.1/0.6."""
    a = nads_of([2.8, 0.8, 0.3, 0.1])
    b = nads_of([1.5, 1.5, 0.5, 0.5], np.eye(4)[[1, 2, 0, 3]])
    np.testing.assert_allclose(controversial(a, b, 4), np.eye(4), atol=1e-12)
    # The other way round: 1.5/0.4, 0.5/0.2, 1.5/0.9 and 0.5/2.9.
    expected = np.eye(4)[[2, 3, 1, 0]]
    np.testing.assert_allclose(controversial(b, a, 4), expected, atol=1e-12)
    np.testing.assert_allclose(controversial(b, a), expected[:1], atol=1e-12)


def test_the_damping_decides_between_a_strong_response_and_a_small_one_of_the_other():
    """Pixel 0 has the ratio 2/(1 + δ), pixel 3 has 1/(0.4 + δ): equal at δ = 0.2."""
    a = nads_of([2.0, 1.0, 0.5, 0.5], np.eye(4)[[0, 3, 1, 2]])
    b = nads_of([1.3, 1.3, 1.0, 0.4], np.eye(4)[[1, 2, 0, 3]])
    assert controversial(a, b, damping=0.1)[0].argmax() == 3
    assert controversial(a, b, damping=0.3)[0].argmax() == 0


def test_no_direction_of_random_networks_has_a_larger_ratio_than_the_first():
    a, b = random_pair()
    directions = controversial(a, b, 4)
    found = ratios(a, b, directions)
    assert (np.diff(found) < 0).all()
    vectors = np.random.default_rng(1).standard_normal((10_000, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert ratios(a, b, vectors).max() <= found[0]


def test_directions_are_unit_vectors_with_a_positive_largest_component():
    directions = controversial(*random_pair(), 4)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1)
    products = directions @ directions.T
    assert np.abs(products - np.eye(4)).max() > 0.01, "they are oblique"
    assert (directions.max(1) == np.abs(directions).max(1)).all()


def test_the_scale_of_either_covariance_does_not_matter():
    a, b = random_pair()
    expected = controversial(a, b, 4)
    stronger = dataclasses.replace(a, eigenvalues=1e6 * a.eigenvalues)
    weaker = dataclasses.replace(b, eigenvalues=1e-6 * b.eigenvalues)
    np.testing.assert_allclose(controversial(stronger, weaker, 4), expected, atol=1e-9)


def test_a_network_against_itself_gives_its_own_nads_in_their_order():
    """λ/(λ + δ) rises with λ."""
    a, _ = random_pair()
    along = controversial(a, a, 4) @ a.directions.T
    np.testing.assert_allclose(np.abs(along), np.eye(4), atol=1e-7)


def test_a_network_that_sees_nothing_along_some_directions_keeps_the_ratio_finite():
    a = nads_of([1.6, 1.4, 1.0, 0.0])
    b = nads_of([4.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(controversial(a, b), np.eye(4)[[1]], atol=1e-12)


def test_networks_of_other_inputs_are_refused():
    a, _ = random_pair()
    wide = dataclasses.replace(a, shape=(1, 1, 4))
    with refused("wrong-shape", shapes=((1, 2, 2), (1, 1, 4))):
        controversial(a, wide)


def test_leading_directions_only_are_refused():
    """The missing directions would count as directions without any response."""
    a, b = random_pair()
    leading = dataclasses.replace(
        a, directions=a.directions[:2], eigenvalues=a.eigenvalues[:2]
    )
    for first, second in ((leading, b), (b, leading)):
        with refused("wrong-shape", directions=2):
            controversial(first, second)


def test_nads_without_eigenvalues_are_refused():
    a, _ = random_pair()
    with refused("wrong-shape", directions=0):
        controversial(a, imported(np.eye(4), SHAPE))


@pytest.mark.parametrize(
    ("argument", "value", "kind"),
    [
        ("count", 0, "out-of-range"),
        ("count", 5, "out-of-range"),
        ("damping", 0, "out-of-range"),
        ("damping", np.inf, "out-of-range"),
    ],
)
def test_other_counts_and_dampings_are_refused_by_their_name(argument, value, kind):
    a, b = random_pair()
    with refused(kind, name=argument):
        controversial(a, b, **{argument: value})
