"""NADs made elsewhere: kept as they are, completed to a basis, refused where they cannot be."""

import numpy as np
import pytest

from pipeline.nads import from_file, imported
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
    assert np.isnan(
        [*nads.halves.ravel(), nads.error, nads.split_half, nads.step, nads.asymmetry]
    ).all()
    assert nads.trace.shape == (0, 2)
    assert (nads.networks, nads.estimand) == (0, "file")


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (np.eye(5)[:, :4], r"holds an array of shape \(5, 4\), not \(K, 4\) with K ≤ 4 for 1×2×2"),
        (np.eye(4) * (1 + 1e-3), r"holds rows that are not orthonormal .* off by 0.002\)"),
    ],
)
def test_what_is_refused_of_imported_rows(rows, sentence):
    with pytest.raises(InputError, match=f"^the array {sentence}"):
        imported(rows, (1, 2, 2))


def test_rows_may_be_off_by_a_thousandth():
    assert imported(np.eye(4) * (1 + 4e-4), (1, 2, 2)).directions[0, 0] == 1 + 4e-4


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (np.array([{"a": 1}]), "theirs.npy is not a .npy file of numbers: Object arrays cannot"),
        (np.ones((3, 64)), "theirs.npy holds rows that are not orthonormal"),
    ],
)
def test_what_is_refused_of_a_file(tmp_path, monkeypatch, content, sentence):
    monkeypatch.chdir(tmp_path)
    np.save("theirs.npy", content, allow_pickle=True)
    with pytest.raises(InputError, match=f"^{sentence}"):
        from_file("theirs.npy", (1, 8, 8))
