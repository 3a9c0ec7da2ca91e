"""The running estimate of C from D×D sums: parts, errors, symmetries given and measured, and going on from its state."""

import numpy as np
import pytest
from nads_samples import filled, jacobians

from pipeline.nads import Covariance
from pipeline.nads.covariance import parts_of
from pipeline.nads.spectrum import eigenvectors
from pipeline.nads.symmetry import SYMMETRIES, symmetrised


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


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_parts_are_estimates_of_their_own_and_add_up_to_the_whole(symmetry):
    samples = jacobians(19, 2, (1, 4, 4))
    covariance = filled(Covariance((1, 4, 4), symmetry), samples)
    squares = [symmetrised(symmetry, j.T.astype(float) @ j, (1, 4, 4)) for j in samples]
    np.testing.assert_allclose(covariance.mean(), np.mean(squares, 0), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(covariance.total(), sum(j.T.astype(float) @ j for j in samples), rtol=1e-6, atol=1e-9)
    found = covariance.spectrum()
    assert found.sizes.tolist() == [3, 3, 3, 2, 2, 2, 2, 2]
    np.testing.assert_allclose(found.sizes @ found.parts / 19, found.eigenvalues, rtol=1e-9)
    along = lambda matrix: ((found.directions @ matrix) * found.directions).sum(1)
    np.testing.assert_allclose(found.parts[3], along(squares[3] + squares[11]) / 2, rtol=1e-5)
    for half in (0, 1):
        np.testing.assert_allclose(found.halves[half], along(np.mean(squares[half::2], 0)), rtol=1e-5)
        np.testing.assert_allclose(
            symmetrised(symmetry, covariance.half_means()[half], (1, 4, 4)), np.mean(squares[half::2], 0), atol=1e-6
        )


def test_parts_that_have_no_network_yet_are_left_out():
    covariance = filled(Covariance((1, 4, 4)), jacobians(3, 2, (1, 4, 4)))
    assert covariance.sizes().tolist() == [1, 1, 1]
    assert covariance.spectrum().parts.shape == (3, 16)


def test_eight_parts_are_kept_of_small_inputs_and_two_of_large_ones():
    assert [parts_of(shape) for shape in ((1, 4, 4), (1, 32, 32), (1, 25, 41), (3, 32, 32))] == [8, 8, 2, 2]
    assert Covariance((1, 4, 4)).sums.shape == (8, 16, 16)
    assert Covariance((2, 23, 23)).sums.shape == (2, 1058, 1058)
    assert Covariance.memory((1, 4, 4)) == 21 * 8 * 16**2
    assert Covariance.memory((1, 32, 33)) == 15 * 8 * 1056**2


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_the_error_is_the_standard_error_of_the_averaged_samples(symmetry):
    samples = jacobians(7, 3, (2, 4, 4))
    covariance = filled(Covariance((2, 4, 4), symmetry), samples)
    averaged = np.stack([symmetrised(symmetry, j.T.astype(float) @ j, (2, 4, 4)) for j in samples])
    variance = ((averaged - averaged.mean(0)) ** 2).sum() / (7 * 6)
    assert covariance.error() == pytest.approx(np.sqrt(variance) / np.linalg.norm(averaged.mean(0)), rel=1e-5)
    assert covariance.averaged_over() == symmetry
    first, second = (averaged[half::2].mean(0) for half in (0, 1))
    expected = np.linalg.norm(first - second) / np.linalg.norm(first + second)
    assert covariance.split_half() == pytest.approx(expected, rel=1e-5)


def test_the_error_estimates_the_distance_from_the_truth():
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
        samples = [np.outer(rng.standard_normal(1), np.eye(16)[0]) for _ in range(60)]
        covariance = filled(Covariance((1, 4, 4)), samples)
        errors.append(covariance.error())
        halves.append(covariance.split_half())
        true.append(abs(covariance.mean()[0, 0] - 1))
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.sqrt(np.mean(np.square(true))), rel=0.15)
    assert np.std(np.log(errors)) < 0.2 < 0.6 < np.std(np.log(halves))


def test_the_overlap_of_unrelated_halves_is_chance_and_of_related_ones_is_not():
    """Isotropic samples have no directions: each half's first k share k/D of the other's."""
    rng = np.random.default_rng(4)
    found = filled(Covariance((1, 10, 10)), [rng.standard_normal((1, 100)) for _ in range(600)]).spectrum()
    assert np.abs(found.overlap[9:] - np.arange(10, 101) / 100).max() < 0.06
    steep = filled(Covariance((1, 10, 10)), jacobians(600, 1, (1, 10, 10))).spectrum()
    assert steep.overlap[9] > 0.5
    assert steep.overlap[-1] == pytest.approx(1)


@pytest.mark.parametrize("symmetry", [*SYMMETRIES, "measured"])
def test_a_restored_estimate_goes_on_with_the_same_bytes(symmetry):
    samples = jacobians(30, 2, (1, 4, 4))
    half = filled(Covariance((1, 4, 4), symmetry), samples[:17])
    state = half.state()
    assert state["triangles"].shape == (8, 16 * 17 // 2), "no number is kept twice"
    resumed = Covariance((1, 4, 4), symmetry)
    resumed.restore({name: array.copy() for name, array in state.items()}, half.count)
    one, other = filled(resumed, samples[17:]), filled(Covariance((1, 4, 4), symmetry), samples)
    assert one.count == other.count == 30
    assert (one.error(), one.split_half()) == (other.error(), other.split_half())
    for found, expected in zip(vars(one.spectrum()).values(), vars(other.spectrum()).values(), strict=True):
        np.testing.assert_array_equal(found, expected)


def isotropic(count, seed, rows=4, pixels=36):
    """Samples whose law has all symmetries of the square: noise."""
    return [np.random.default_rng((seed, n)).standard_normal((rows, pixels)).astype(np.float32) for n in range(count)]


def test_a_symmetry_that_the_law_has_is_measured_and_one_that_it_lacks_is_not_taken():
    whole = filled(Covariance((1, 6, 6), "measured"), isotropic(60, 0))
    assert whole.averaged_over() == "square"
    assert whole.asymmetry("square") < whole.error()
    rows = np.repeat(np.linspace(0.2, 1.8, 6), 6)  # brighter downwards: no flip, no transposition
    assert filled(Covariance((1, 6, 6), "measured"), [rows * r for r in isotropic(60, 1)]).averaged_over() == "none"
    assert filled(Covariance((1, 4, 9), "measured"), isotropic(8, 3)).averaged_over() == "none", "not a square"


def test_the_part_that_a_symmetry_removes_is_measured_without_the_noise():
    both = np.add.outer(np.arange(6.0), np.arange(6.0)).ravel() / 5  # brighter to one corner: transposition only
    corner = filled(Covariance((1, 6, 6), "measured"), [both * r for r in isotropic(60, 2)])
    assert corner.averaged_over() == "transposition"
    true = np.diag(both**2)
    removed = np.linalg.norm(true - symmetrised("square", true, (1, 6, 6)))
    expected = removed / np.linalg.norm(symmetrised("square", true, (1, 6, 6)))
    assert corner.asymmetry("square") == pytest.approx(expected, rel=0.1)
    given = filled(Covariance((1, 6, 6), "transposition"), [both * r for r in isotropic(60, 2)])
    assert corner.error() == pytest.approx(np.hypot(given.error(), corner.asymmetry("transposition")), rel=1e-12)
    assert corner.asymmetry("none") == 0


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_the_overlap_is_that_of_the_halves_eigenvectors(symmetry):
    shape = (2, 4, 4)
    covariance = filled(Covariance(shape, symmetry), jacobians(9, 40, shape))
    halves = [symmetrised(symmetry, half, shape) for half in covariance.half_means()]
    first, second = (eigenvectors(half, symmetry, shape)[1] for half in halves)
    found = covariance.spectrum().overlap
    for k in (1, 2, 3, 7, 20, 32):
        assert found[k - 1] == pytest.approx(((first[:k] @ second[:k].T) ** 2).sum() / k)


def test_the_asymmetry_is_the_product_of_what_the_halves_lose():
    """√⟨A₁, A₂⟩ / ‖(S₁ + S₂)/2‖ for halves that differ, where the law lacks the symmetry."""
    scale = np.linspace(0.1, 2, 16).astype(np.float32)
    covariance = filled(Covariance((1, 4, 4)), [scale * jacobian for jacobian in jacobians(5, 30, (1, 4, 4))])
    halves = covariance.half_means()
    averaged = [symmetrised("square", half, (1, 4, 4)) for half in halves]
    lost = [half - mean for half, mean in zip(halves, averaged)]
    expected = np.sqrt(np.vdot(*lost)) / np.linalg.norm((averaged[0] + averaged[1]) / 2)
    assert covariance.asymmetry("square") == pytest.approx(expected, rel=1e-9)


def test_the_asymmetry_of_unequal_halves_comes_from_their_means():
    """Five samples of one matrix: three and two in the halves, whose means are the same."""
    (jacobian,) = jacobians(1, 3, (1, 4, 4))
    covariance = filled(Covariance((1, 4, 4)), [jacobian] * 5)
    sample = jacobian.T.astype(float) @ jacobian
    averaged = symmetrised("square", sample, (1, 4, 4))
    expected = np.linalg.norm(sample - averaged) / np.linalg.norm(averaged)
    assert covariance.asymmetry("square") == pytest.approx(expected, rel=1e-6)
    assert covariance.split_half() == pytest.approx(0, abs=1e-12)
