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
    unknown = [nads.eigenvalues, nads.standard_errors, nads.overlap, *nads.halves]
    assert np.isnan(unknown).all() and np.shape(unknown) == (5, 8)
    assert np.isnan([nads.error, nads.split_half, nads.step, nads.asymmetry]).all()
    assert nads.trace.shape == (0, 2) and (nads.networks, nads.estimand) == (0, "file")


def test_rows_may_be_off_by_a_thousandth():
    assert imported(np.eye(4) * (1 + 4e-4), (1, 2, 2)).directions[0, 0] == 1 + 4e-4
    with pytest.raises(InputError, match=r"^the array holds rows .* not orthonormal .* by 0.002\)"):
        imported(np.eye(4) * (1 + 1e-3), (1, 2, 2))


def test_a_file_of_objects_is_refused(tmp_path):
    np.save(tmp_path / "theirs.npy", np.array([{"a": 1}]), allow_pickle=True)
    with pytest.raises(InputError, match="theirs.npy is not a .npy file of numbers: Object arrays"):
        from_file(str(tmp_path / "theirs.npy"), (1, 8, 8))
