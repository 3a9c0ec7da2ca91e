"""NADs made elsewhere: kept as they are, completed to a basis, refused where they cannot be."""

import numpy as np
import pytest

from pipeline.nads import imported
from pipeline.project.errors import InputError


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 60, 64])
def test_imported_rows_are_kept_and_completed_to_a_basis(count, kind):
    rows = np.linalg.qr(np.random.default_rng(0).standard_normal((64, 64)))[0][:count].astype(kind)
    nads = imported(rows, [1, 8, 8])
    np.testing.assert_array_equal(nads.directions[:count], rows)
    np.testing.assert_allclose(nads.directions @ nads.directions.T, np.eye(64), atol=1e-6)
    assert nads.directions.dtype == np.float64
    assert nads.shape == (1, 8, 8)


def test_nothing_else_is_known_of_imported_nads():
    nads = imported(np.eye(8)[:3], (2, 2, 2))
    for name in ("eigenvalues", "standard_errors", "overlap"):
        assert getattr(nads, name).shape == (8,)
        assert np.isnan(getattr(nads, name)).all()
    assert nads.halves.shape == (2, 8)
    assert np.isnan([*nads.halves.ravel(), nads.error, nads.split_half, nads.step, nads.asymmetry]).all()
    np.testing.assert_array_equal(nads.nearby, [[k, k] for k in range(8)])
    np.testing.assert_array_equal(nads.groups, np.zeros(8))
    assert nads.trace.shape == (0, 2)
    assert nads.networks == 0
    assert (nads.estimand, nads.method, nads.point, nads.symmetry) == ("file", "file", "file", "none")


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (np.eye(5)[:, :4], r"holds an array of shape \(5, 4\), not \(K, 4\) with K ≤ 4 for 1×2×2"),
        (np.eye(3), r"holds an array of shape \(3, 3\), not \(K, 4\)"),
        (np.zeros((0, 4)), r"holds an array of shape \(0, 4\)"),
        (np.zeros(4), r"holds an array of shape \(4,\)"),
        (np.eye(4) * (1 + 1e-3), r"holds rows that are not orthonormal \(their products are off by 0.002\)"),
        (np.eye(4) * (1 - 1e-3), "holds rows that are not orthonormal"),
        (np.full((2, 4), np.nan), "holds values that are not finite real numbers"),
        (np.where(np.eye(4), np.inf, 0), "holds values that are not finite real numbers"),
        (np.eye(4).astype(np.longdouble) * np.longdouble("1e4000"), "holds values that are not finite real numbers"),
        (np.eye(4, dtype=int), "holds values of type int64, not real numbers"),
        (np.eye(4, dtype=bool), "holds values of type bool, not real numbers"),
        (np.eye(4, dtype=complex), "holds values of type complex128, not real numbers"),
        (np.eye(4).astype("U"), "holds values of type <U32, not real numbers"),
        (np.eye(4) * 1e300, "holds values that are far too large for rows of length 1"),
        (np.zeros((2, 4)), r"holds rows that are not orthonormal \(their products are off by 1\)"),
        (np.eye(4)[[0, 0]], r"holds rows that are not orthonormal \(their products are off by 1\)"),
    ],
)
def test_what_is_refused_of_imported_rows(rows, sentence):
    with pytest.raises(InputError, match=f"^the array {sentence}"):
        imported(rows, (1, 2, 2))
    with pytest.raises(InputError, match="^theirs.npy holds "):
        imported(rows, (1, 2, 2), "theirs.npy")


def test_rows_may_be_off_by_a_thousandth():
    imported(np.eye(4) * (1 + 4e-4), (1, 2, 2))


def test_products_that_are_no_numbers_are_not_within_it():
    """Of rows so large, infinite terms of both signs add up to NaN, which no tolerance is exceeded by."""
    rows = 1e300 * np.random.default_rng(0).standard_normal((3, 1024))
    with np.errstate(all="ignore"):
        assert np.isnan(np.abs(rows @ rows.T - np.eye(3)).max())
    with pytest.raises(InputError, match="^the array holds values that are far too large for rows of length 1$"):
        imported(rows, (1, 32, 32))


@pytest.mark.parametrize("kind", [">f8", "<f4", np.longdouble])
def test_however_numbers_lie_in_memory_the_directions_are_the_same(kind):
    rows = np.linalg.qr(np.random.default_rng(0).standard_normal((16, 16)))[0][:5].astype(np.float32)
    expected = imported(rows.astype(np.float64), (1, 4, 4)).directions
    np.testing.assert_array_equal(imported(np.asfortranarray(rows.astype(kind)), (1, 4, 4)).directions[:5], rows)
    np.testing.assert_allclose(imported(rows.astype(kind), (1, 4, 4)).directions, expected, atol=1e-12)


def test_a_basis_that_fits_nowhere_is_not_begun():
    """D = 10⁶, of which a basis has 10¹² numbers of 8 bytes, five times over."""
    rows = np.zeros((1, 1_000_000))
    rows[0, 0] = 1
    with pytest.raises(
        InputError, match=r"\(D = 1,000,000\), whose basis needs 40,000.0 GB to be completed, and this machine"
    ):
        imported(rows, (1, 1000, 1000))
