"""Estimates of C from samples: sums, symmetries, errors, eigenvectors, and the same from the vectors themselves."""

import numpy as np
import pytest

from pipeline.nads.covariances import (
    SYMMETRIES,
    Covariance,
    Leading,
    eigenvectors,
    images_of,
    parts_of,
    square_of,
    symmetrised,
)


def roots(count, rows, shape, seed=0, scale=1.0):
    """Samples of `count` networks, `rows` vectors each, of a covariance that falls with the index."""
    rng = np.random.default_rng(seed)
    fall = np.geomspace(1, 0.05, int(np.prod(shape)))
    return [(scale * fall * rng.standard_normal((rows, len(fall)))).astype(np.float32) for _ in range(count)]


def filled(holder, samples):
    for root in samples:
        holder.add(root)
    return holder


def test_averaging_over_symmetries_makes_the_covariance_symmetric():
    matrix = np.random.default_rng(0).standard_normal((36, 36))
    for symmetry, order in (("none", 1), ("transposition", 2), ("square", 8)):
        elements = images_of(symmetry, matrix, (1, 6, 6))
        assert len(elements) == order and np.array_equal(elements[0], matrix)
        mean = symmetrised(symmetry, matrix, (1, 6, 6))
        np.testing.assert_allclose(mean, sum(elements) / order, atol=1e-12)
        for element in images_of(symmetry, mean, (1, 6, 6)):
            np.testing.assert_array_equal(element, mean)
    picture = np.arange(36.0).reshape(6, 6)
    found = {tuple(np.diag(element)) for element in images_of("square", np.diag(picture.ravel()), (1, 6, 6))}
    assert found == {tuple(np.rot90(p, k).ravel()) for p in (picture, picture.T) for k in range(4)}


def test_channels_keep_their_place_under_symmetries():
    picture = np.arange(48.0).reshape(3, 4, 4)
    carried = [np.diag(element) for element in images_of("transposition", np.diag(picture.ravel()), (3, 4, 4))]
    np.testing.assert_array_equal(carried[1].reshape(3, 4, 4), picture.transpose(0, 2, 1))


def test_directions_are_the_ordered_eigenvectors():
    rng = np.random.default_rng(2)
    basis, _ = np.linalg.qr(rng.standard_normal((16, 16)))
    values = np.arange(16, 0, -1.0)
    found = filled(Covariance((1, 4, 4)), [np.sqrt(values)[:, None] * basis] * 2).spectrum()
    np.testing.assert_allclose(found.eigenvalues, values)
    np.testing.assert_allclose(np.abs(found.directions @ basis.T), np.eye(16), atol=1e-7)
    np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(16), atol=1e-12)
    assert (found.directions[np.arange(16), np.abs(found.directions).argmax(1)] > 0).all()
    np.testing.assert_allclose(found.halves, [values, values])
    np.testing.assert_allclose(found.overlap, 1)


def test_parts_are_estimates_of_their_own_and_add_up_to_the_whole():
    samples = roots(19, 2, (1, 4, 4))
    found = filled(Covariance((1, 4, 4)), samples).spectrum()
    assert found.sizes.tolist() == [3, 3, 3, 2, 2, 2, 2, 2]
    np.testing.assert_allclose(found.sizes @ found.parts / 19, found.eigenvalues)
    np.testing.assert_allclose(found.parts[3], sum((found.directions @ samples[n].T) ** 2 for n in (3, 11)).sum(1) / 2)
    even = sum(((found.directions @ root.T) ** 2).sum(1) for root in samples[::2]) / 10
    np.testing.assert_allclose(found.halves[0], even)
    assert parts_of((1, 32, 32)) == 8 and parts_of((3, 32, 32)) == 2


def test_a_steep_spectrum_keeps_its_order():
    """Eigenvalues far below the first one lie closer together than a share of it, and are still told apart."""
    flat = symmetrised("square", np.cov(np.random.default_rng(0).standard_normal((36, 60))), (1, 6, 6))
    matrix = symmetrised("square", np.linalg.matrix_power(flat / np.linalg.norm(flat, 2), 20), (1, 6, 6))
    found, vectors = eigenvectors(matrix, "square", (1, 6, 6))
    expected = np.linalg.eigvalsh(matrix)[::-1]
    assert (np.diff(found) <= 0).all() and ((expected[:-1] - expected[1:]) < 1e-9).sum() > 9, "nine pairs, and others"
    np.testing.assert_allclose(found, expected, atol=1e-14)
    np.testing.assert_allclose((vectors @ matrix * vectors).sum(1), expected, atol=1e-14)


def test_directions_do_not_depend_on_the_last_bits_of_the_sums():
    """The symmetries of the square make eigenvalues equal in pairs; added in another order, the sums differ by rounding."""
    shape = (1, 6, 6)
    samples = roots(40, 3, shape)
    one = filled(Covariance(shape, "square"), samples)
    other = filled(Covariance(shape, "square"), samples[::-2] + samples[-2::-2])
    assert not np.array_equal(one.mean(), other.mean())
    np.testing.assert_allclose(one.mean(), other.mean(), rtol=1e-12, atol=1e-14)
    first, second = one.spectrum(), other.spectrum()
    gaps = -np.diff(first.eigenvalues) / first.eigenvalues[0]
    assert (gaps < 1e-9).sum() >= 8, "there are pairs"
    np.testing.assert_allclose(first.directions, second.directions, atol=1e-8)
    np.testing.assert_allclose(first.directions @ first.directions.T, np.eye(36), atol=1e-12)
    turned = first.directions @ one.mean()
    np.testing.assert_allclose(turned, first.eigenvalues[:, None] * first.directions, atol=1e-12)
    flipped = first.directions.reshape(36, 6, 6)[..., ::-1].reshape(36, 36)
    parity = (flipped * first.directions).sum(1)
    np.testing.assert_allclose(np.abs(parity), 1)
    for k in np.flatnonzero(gaps < 1e-9):
        assert parity[k] > 0 > parity[k + 1], "of a pair, the even one first"


def test_error_estimates_the_distance_from_the_truth():
    """Samples d ~ N(0, I): the true C is I, and the error from halves must match the true relative distance."""
    rng = np.random.default_rng(3)
    covariance = filled(Covariance((1, 5, 8)), [rng.standard_normal((1, 40)) for _ in range(200)])
    true = np.linalg.norm(covariance.mean() - np.eye(40)) / np.linalg.norm(covariance.mean())
    assert covariance.error() == pytest.approx(true, rel=0.05)
    assert covariance.split_half() == pytest.approx(true, rel=0.15)


def test_the_error_is_known_where_one_direction_holds_nearly_all_of_c():
    """The halves' distance is then one number, which may be anything near zero; the error must not be."""
    rng, errors, halves, true = np.random.default_rng(5), [], [], []
    for _ in range(200):
        covariance = filled(Covariance((1, 4, 4)), [np.outer(rng.standard_normal(1), np.eye(16)[0]) for _ in range(60)])
        errors.append(covariance.error())
        halves.append(covariance.split_half())
        true.append(abs(covariance.mean()[0, 0] - 1))
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.sqrt(np.mean(np.square(true))), rel=0.15)
    assert np.std(np.log(errors)) < 0.2 < 0.6 < np.std(np.log(halves))


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_the_square_of_a_sample_averaged_over_a_symmetry(symmetry):
    (root,) = roots(1, 3, (2, 6, 6))
    root = root.astype(np.float64)
    averaged = symmetrised(symmetry, root.T @ root, (2, 6, 6))
    assert square_of(symmetry, root, (2, 6, 6)) == pytest.approx((averaged**2).sum(), rel=1e-12)


def test_the_overlap_of_unrelated_halves_is_chance_and_of_related_ones_is_not():
    """Isotropic samples have no directions: each half's first k share k/D of the other's."""
    rng = np.random.default_rng(4)
    found = filled(Covariance((1, 10, 10)), [rng.standard_normal((1, 100)) for _ in range(600)]).spectrum()
    assert np.abs(found.overlap[9:] - np.arange(10, 101) / 100).max() < 0.06
    steep = filled(Covariance((1, 10, 10)), roots(600, 1, (1, 10, 10))).spectrum()
    assert steep.overlap[9] > 0.5 and steep.overlap[-1] == pytest.approx(1)


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_vectors_themselves_give_the_leading_eigenvectors_of_the_matrix(symmetry):
    shape = (2, 6, 6)
    samples = roots(7, 3, shape)
    whole, leading = filled(Covariance(shape, symmetry), samples), filled(Leading(shape, 5, symmetry), samples)
    one, other = whole.spectrum(), leading.spectrum()
    assert leading.error() == pytest.approx(whole.error(), rel=1e-5)
    assert leading.split_half() == pytest.approx(whole.split_half(), rel=1e-5)
    np.testing.assert_allclose(other.eigenvalues, one.eigenvalues[:5], rtol=1e-5)
    np.testing.assert_allclose(other.halves, one.halves[:, :5], rtol=1e-4)
    # Seven networks are seven parts in either.
    np.testing.assert_allclose(other.parts, one.parts[:, :5], rtol=1e-4)
    np.testing.assert_array_equal(other.sizes, one.sizes)
    np.testing.assert_allclose(other.overlap, one.overlap[:5], rtol=1e-4, atol=1e-9)
    # Equal eigenvalues leave the vectors open, so it is asked whether they are eigenvectors of the matrix.
    turned = other.directions @ whole.mean()
    np.testing.assert_allclose(turned, other.eigenvalues[:, None] * other.directions, atol=1e-5)
    np.testing.assert_allclose(other.directions @ other.directions.T, np.eye(5), atol=1e-4)


def test_no_more_directions_than_the_vectors_span():
    assert filled(Leading((1, 4, 4), 10), roots(6, 1, (1, 4, 4))).spectrum().directions.shape == (6, 16)


@pytest.mark.parametrize("make", [lambda: Covariance((1, 4, 4), "square"), lambda: Leading((1, 4, 4), 3, "square")])
def test_a_restored_estimate_goes_on_with_the_same_bytes(make):
    samples = roots(90, 2, (1, 4, 4))
    half = filled(make(), samples[:50])
    resumed = make()
    resumed.restore({name: array.copy() for name, array in half.state().items()}, half.count)
    one, other = filled(resumed, samples[50:70]), filled(make(), samples)
    one.error()
    filled(one, samples[70:])
    assert one.count == other.count == 90 and one.error() == other.error()
    for field in ("directions", "eigenvalues", "parts", "sizes", "halves", "overlap"):
        np.testing.assert_array_equal(getattr(one.spectrum(), field), getattr(other.spectrum(), field))


def symmetric_roots(count, seed):
    """Samples whose law has all symmetries of the square: isotropic noise."""
    return [np.random.default_rng((seed, n)).standard_normal((4, 36)).astype(np.float32) for n in range(count)]


def test_a_symmetry_that_the_law_has_is_measured_and_one_that_it_lacks_is_not_taken():
    isotropic = filled(Covariance((1, 6, 6), "measured"), symmetric_roots(60, 0))
    assert isotropic.resolved() == "square"
    assert isotropic.asymmetry("square") < isotropic.error()
    rows = np.repeat(np.linspace(0.2, 1.8, 6), 6)  # brighter downwards: no flip, no transposition
    assert filled(Covariance((1, 6, 6), "measured"), [rows * r for r in symmetric_roots(60, 1)]).resolved() == "none"
    both = np.add.outer(np.arange(6.0), np.arange(6.0)).ravel() / 5  # brighter to one corner: transposition only
    corner = filled(Covariance((1, 6, 6), "measured"), [both * r for r in symmetric_roots(60, 2)])
    assert corner.resolved() == "transposition"
    true = np.diag(both**2)
    removed = np.linalg.norm(true - symmetrised("square", true, (1, 6, 6)))
    expected = removed / np.linalg.norm(symmetrised("square", true, (1, 6, 6)))
    assert corner.asymmetry("square") == pytest.approx(expected, rel=0.1)
    assert filled(Covariance((1, 4, 9), "measured"), symmetric_roots(8, 3)).resolved() == "none", "not a square"
